"""The forms in which `recoverable check` reports: SARIF 2.1.0, annotations of GitHub Actions, JSON lines with file and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from operate.check.arm_templates import OF_QUEUE
from operate.check.arm_templates import changed as changed_arm
from operate.check.arm_templates import written as written_arm
from operate.check.conftest import Check, reported
from operate.check.templates import CODE

TEXT = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string"}},
    "additionalProperties": False,
}
RESULT = {
    "type": "object",
    "required": ["message"],
    "additionalProperties": False,
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": TEXT,
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "locations": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "logicalLocations": {
                        "type": "array",
                        "items": {"type": "object", "required": ["fullyQualifiedName"]},
                    },
                    "physicalLocation": {
                        "type": "object",
                        "required": ["artifactLocation"],
                        "additionalProperties": False,
                        "properties": {
                            "artifactLocation": {
                                "type": "object",
                                "properties": {"uri": {"type": "string", "pattern": "^[^ \\\\]+$"}},
                            },
                            "region": {
                                "type": "object",
                                "properties": {"startLine": {"type": "integer", "minimum": 1}},
                            },
                        },
                    },
                },
            },
        },
    },
}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool"],
                "additionalProperties": False,
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "additionalProperties": False,
                                "properties": {
                                    "name": {"type": "string"},
                                    "version": {"type": "string"},
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "required": ["id"],
                                            "additionalProperties": False,
                                            "properties": {"id": {"type": "string"}, "shortDescription": TEXT},
                                        },
                                    },
                                },
                            }
                        },
                    },
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "invocations": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["executionSuccessful"],
                            "additionalProperties": False,
                            "properties": {
                                "executionSuccessful": {"type": "boolean"},
                                "toolExecutionNotifications": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "required": ["message"],
                                        "additionalProperties": False,
                                        "properties": {
                                            "level": {"enum": ["none", "note", "warning", "error"]},
                                            "message": TEXT,
                                            "associatedRule": {"type": "object", "required": ["id"]},
                                        },
                                    },
                                },
                            },
                        },
                    },
                    "results": {"type": "array", "items": RESULT},
                },
            },
        },
    },
}  # fmt: skip
"""The parts of OASIS's schema of SARIF 2.1.0 that are written here, with nothing else allowed."""

TEMPLATE = """Transform: AWS::Serverless-2016-10-31
Resources:
  Errors:
    Type: AWS::SQS::Queue
    Properties: { MessageRetentionPeriod: 1209600 }
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 180
      RedrivePolicy: { deadLetterTargetArn: !GetAtt Errors.Arn, maxReceiveCount: 3 }
  Shop:
    Type: AWS::Serverless::Function
    Properties:
      Runtime: python3.13
      Handler: app.handler
      CodeUri: code of the shop
      Timeout: 30
      RecursiveLoop: Allow
      VpcConfig: { SubnetIds: [subnet-1] }
      Policies: [AmazonSQSFullAccess]
      Environment: { Variables: { RECOVERABLE_ERROR_QUEUE: Errors } }
      Events:
        Queue:
          Type: SQS
          Properties: { Queue: !GetAtt Orders.Arn }
"""
LIMITED = "from datetime import timedelta\n" + CODE.replace(
    "Recoverability.from_environment())", "Recoverability.from_environment(), handler_timeout=timedelta(hours=1))"
)


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a template with three findings, one of them in the code, and return its path."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "code of the shop").mkdir()
    (tmp_path / "code of the shop" / "app.py").write_text(LIMITED, encoding="utf-8")
    (tmp_path / "template.yaml").write_text(TEMPLATE, encoding="utf-8")
    return "template.yaml"


PLACES = [
    ("partial-responses", "template.yaml", 23),
    ("max-receive-count", "template.yaml", 6),
    ("handler-timeout", "code of the shop/app.py", 6),
]


def test_a_finding_has_its_file_and_line(check: Check, template: str) -> None:
    found = [each for each in reported(check(template, "--json")) if "wrong" in each]

    assert [(each["rule"], each["file"], each["line"]) for each in found] == PLACES


def sarif(check: Check, *words: str) -> dict[str, Any]:
    """Return the one run of a log of SARIF, which is valid."""
    log = json.loads(check(*words, "--format", "sarif").out)
    Draft7Validator(SARIF).validate(log)
    [run] = log["runs"]
    return dict(run)


def test_sarif_has_each_finding_with_its_place_and_what_was_not_checked(check: Check, template: str) -> None:
    run = sarif(check, template)

    places = [each["locations"][0]["physicalLocation"] for each in run["results"]]
    assert [
        (each["ruleId"], where["artifactLocation"]["uri"], where["region"]["startLine"])
        for each, where in zip(run["results"], places, strict=True)
    ] == [(rule, file.replace(" ", "%20"), line) for rule, file, line in PLACES]
    names = [each["id"] for each in run["tool"]["driver"]["rules"]]
    assert [names[each["ruleIndex"]] for each in run["results"]] == [rule for rule, _, _ in PLACES]
    [note] = run["invocations"][0]["toolExecutionNotifications"]
    assert (note["associatedRule"], note["message"]["text"][:18]) == ({"id": "network"}, "Shop runs in a VPC")


def test_a_fingerprint_does_not_depend_on_the_line(check: Check, template: str) -> None:
    before = [each["partialFingerprints"] for each in sarif(check, template)["results"]]
    Path(template).write_text("# moved\n\n" + TEMPLATE, encoding="utf-8")
    after = sarif(check, template)["results"]

    assert [each["partialFingerprints"] for each in after] == before
    assert after[0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 25


def test_sarif_of_a_template_with_nothing_to_check_is_valid(check: Check, template: str) -> None:
    Path(template).write_text("Resources: {}\n", encoding="utf-8")

    assert sarif(check, template)["results"] == []


def test_github_has_an_annotation_for_each_finding(check: Check, template: str) -> None:
    ran = check(template, "--format", "github")

    error, *_, notice, _ = ran.out.splitlines()
    assert ran.status == 1
    assert error == (
        "::error file=template.yaml,line=23,title=partial-responses::Shop.Queue has no FunctionResponseTypes: [ReportBatchItemFailures], so AWS"
        " deletes the messages that are reported as failed; write it, or SqsEndpoint(..., partial_responses=False)"
    )
    assert notice.startswith("::notice title=network::not checked: Shop runs in a VPC")


def test_a_line_end_in_a_name_forges_no_annotation(check: Check, template: str) -> None:
    evil = TEMPLATE.replace("  Shop:", '  "e\\n::error::x%":')
    Path(template).write_text(evil, encoding="utf-8")

    ran = check(template, "--format", "github")

    assert [line for line in ran.out.splitlines() if line.startswith("::error::")] == []
    assert "e%0A::error::x%25" in ran.out


def test_a_finding_of_an_arm_template_is_at_its_resource(check: Check, tmp_path: Path) -> None:
    path = written_arm(tmp_path, changed_arm({f"{OF_QUEUE}.maxDeliveryCount": 1}))

    [finding] = [each for each in reported(check(path, "--json")) if "wrong" in each]

    line = next(place for place, text in enumerate(Path(path).read_text().splitlines(), 1) if "'orders')]\"" in text)
    assert (finding["rule"], finding["file"], finding["line"]) == ("max-delivery-count", path, line)
