"""The pages on the Serverless Framework, on container images and on azd: what they deploy has right all that `recoverable check` looks at."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.pages import ROOT, blocks, files, page
from recoverable_operate._cli import main
from recoverable_operate.templates import parse_document

SERVERLESS = files(page("deploy/aws.md"))["serverless.yml"]
IMAGE = files(page("deploy/aws.md"))
AZD = files(page("deploy/azure.md"))


def rules_of(path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the rules that find something in a file."""
    main(["check", "--json", str(path)])
    printed = capsys.readouterr()
    assert printed.err == ""
    return [read["rule"] for line in printed.out.splitlines() if "wrong" in (read := json.loads(line))]


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def made_by_the_framework(text: str) -> dict[str, Any]:
    """Return the template that the framework makes of a file ("Serverless Framework: AWS Lambda Events, SQS", "Override CloudFormation")."""
    document = parse_document(text)
    provider, resources = document["provider"], dict(document["resources"]["Resources"])
    statements = list(provider["iam"]["role"]["statements"])
    for name, function in document["functions"].items():
        logical = f"{name[0].upper()}{name[1:]}LambdaFunction"
        resources[logical] = {"Type": "AWS::Lambda::Function", "Properties": function_of(function, provider["runtime"])}
        [event] = [each["sqs"] for each in function["events"]]
        resources[f"{logical}Source"] = {
            "Type": "AWS::Lambda::EventSourceMapping",
            "Properties": source_of(event, logical),
        }
        actions = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"]
        statements.append({"Effect": "Allow", "Action": actions, "Resource": event["arn"]})
    policy = {"PolicyName": "shop", "PolicyDocument": {"Version": "2012-10-17", "Statement": statements}}
    resources["IamRoleLambdaExecution"] = {"Type": "AWS::IAM::Role", "Properties": {"Policies": [policy]}}
    for name, extension in document["resources"].get("extensions", {}).items():
        resources[name]["Properties"] |= extension["Properties"]
    return {"Resources": resources}


def function_of(function: dict[str, Any], runtime: str) -> dict[str, Any]:
    return {
        "Handler": function["handler"],
        "Runtime": runtime,
        "Timeout": function["timeout"],
        "Environment": {"Variables": function["environment"]},
        "Role": {"Fn::GetAtt": ["IamRoleLambdaExecution", "Arn"]},
    }


def source_of(event: dict[str, Any], function: str) -> dict[str, Any]:
    types = [event["functionResponseType"]] if "functionResponseType" in event else []
    return {
        "EventSourceArn": event["arn"],
        "FunctionName": {"Fn::GetAtt": [function, "Arn"]},
        "BatchSize": event["batchSize"],
        "FunctionResponseTypes": types,
        "ScalingConfig": {"MaximumConcurrency": event["maximumConcurrency"]},
    }


def test_what_the_serverless_framework_makes_has_no_findings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    template = json.dumps(made_by_the_framework(SERVERLESS))

    assert rules_of(written(tmp_path / "template.json", template), capsys) == []


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [
        ("partial-responses", "          functionResponseType: ReportBatchItemFailures\n", ""),
        ("recursive-loop", "RecursiveLoop: Allow", "RecursiveLoop: Terminate"),
        ("rights", ", sqs:ChangeMessageVisibility", ""),
        ("visibility-timeout", "VisibilityTimeout: 180", "VisibilityTimeout: 60"),
    ],
)
def test_what_is_wrong_in_a_file_of_the_framework_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rule: str, right: str, wrong: str
) -> None:
    assert right in SERVERLESS
    template = json.dumps(made_by_the_framework(SERVERLESS.replace(right, wrong)))

    assert rule in rules_of(written(tmp_path / "template.json", template), capsys)


def test_the_template_for_an_image_has_no_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rules_of(written(tmp_path / "template.yaml", IMAGE["template.yaml"]), capsys) == []


def test_an_image_has_the_files_that_it_copies_and_the_handler_that_it_runs() -> None:
    dockerfile = IMAGE["Dockerfile"]
    copied = set(re.findall(r"^COPY (\S+)", dockerfile, re.MULTILINE))

    assert copied == {"requirements.txt", "app.py"}
    assert re.findall(r'^CMD \["(.+)"\]$', dockerfile, re.MULTILINE) == ["app.handler"]
    assert IMAGE["requirements.txt"] == "recoverable\n"


def test_azd_provisions_the_bicep_of_this_repository_with_parameters_that_it_has() -> None:
    document, parameters = yaml.safe_load(AZD["azure.yaml"]), json.loads(AZD["infra/azure/main.parameters.json"])
    bicep = ROOT / document["infra"]["path"] / f"{document['infra']['module']}.bicep"

    declared = re.findall(r"^param (\w+)", bicep.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(parameters["parameters"]) <= set(declared)
    assert (ROOT / document["services"]["orders"]["project"] / "host.json").is_file()


def test_the_template_with_the_tag_for_azd_has_no_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [tag, _] = blocks("deploy/azure.md", "bicep")
    [(name, value)] = re.findall(r"tags: \{ '([\w-]+)': '(\w+)' \}", tag)
    template = json.loads((ROOT / "tests" / "operate" / "check" / "compiled" / "main.json").read_text(encoding="utf-8"))
    [site] = [each for each in template["resources"] if each["type"] == "Microsoft.Web/sites"]
    site["tags"] = {name: value}
    (tmp_path / "host.json").write_bytes((ROOT / "host.json").read_bytes())
    assert value in yaml.safe_load(AZD["azure.yaml"])["services"]

    main(["check", str(written(tmp_path / "main.json", json.dumps(template)))])

    assert "Nothing found in what was checked." in capsys.readouterr().out.splitlines()
