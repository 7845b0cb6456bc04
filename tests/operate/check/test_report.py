"""What `recoverable check` reports, and its exit status: counts, what was not checked, waivers, baselines, assumptions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from operate.check.conftest import Check, found, not_checked, reported, rules_found
from operate.check.templates import ALL_DONE, RULES, Template, attribute, changed, good, written

WRONG = changed(good(), {"Shop.Properties.RecursiveLoop": "Terminate"})
UNREAD = {
    **good(),
    "Audit": changed(
        good(),
        {
            "Shop.Properties.CodeUri": "s3://b/k",
            "Shop.Properties.Environment": None,
            "Shop.Properties.Events.Orders.Properties.Queue": attribute("Errors"),
        },
    )["Shop"],
}
WHY = "whether Audit uses this package: its code is in S3, and not read; Metadata: {Recoverable: {Uses: true}}, or false, says it"


def ignoring(resources: Template, name: str, **rules: str) -> Template:
    """Return the resources with a waiver on one of them."""
    return changed(
        resources,
        {f"{name}.Metadata": {"Recoverable": {"Ignore": {rule.replace("_", "-"): why for rule, why in rules.items()}}}},
    )


def test_the_last_line_counts_and_a_function_that_was_not_read_is_named(check: Check, tmp_path: Path) -> None:
    assert check(written(tmp_path, UNREAD)) == (
        0,
        f"not checked: Audit: {WHY}.\n"
        "Nothing found in what was checked.\n"
        f"{RULES} of {2 * RULES} checks done ({RULES} rules, 2 functions); {RULES} not: Audit ({RULES}).\n",
        "",
    )


def test_strict_takes_what_was_not_checked_for_a_finding(check: Check, tmp_path: Path) -> None:
    assert check(written(tmp_path, UNREAD), "--strict").status == 1
    assert check(written(tmp_path, good()), "--strict") == (0, ALL_DONE, "")


def test_a_rule_that_met_an_unknown_value_keeps_what_it_had_found(check: Check, tmp_path: Path) -> None:
    policies = [{"Statement": [{"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": {"Fn::ImportValue": "x"}}]}]

    ran = check(written(tmp_path, changed(good(), {"Shop.Properties.Policies": policies})), "--json")

    assert [text for _, text in found(ran)] == [
        "the role of Shop may not sqs:ChangeMessageVisibility on orders, so immediate retries wait for the whole visibility timeout; allow"
        " sqs:ChangeMessageVisibility on the ARN of orders"
    ]
    assert not_checked(ran) == {"rights": "of the role of Shop: a resource is not known before deployment"}


def test_a_key_that_is_not_known_hides_no_other(check: Check, tmp_path: Path) -> None:
    keys = {
        "Key": {"Type": "AWS::KMS::Key"},
        "Orders.Properties.KmsMasterKeyId": {"Fn::ImportValue": "x"},
        "Errors.Properties.KmsMasterKeyId": {"Ref": "Key"},
    }

    ran = check(written(tmp_path, changed(good(), keys)), "--json")

    assert (rules_found(ran), list(not_checked(ran))) == (["key-access"] * 2, ["key-access"])


@pytest.mark.parametrize("name", [{"Ref": "Name"}, {"Fn::Sub": "${AWS::StackName}-errors"}], ids=str)
def test_a_name_that_the_cloud_completes_is_not_compared_with_a_literal_one(
    check: Check, tmp_path: Path, name: object
) -> None:
    template = changed(
        good(),
        {
            "Errors.Properties.QueueName": name,
            "Shop.Properties.Environment.Variables.RECOVERABLE_ERROR_QUEUE": "shop-errors",
        },
    )

    ran = check(written(tmp_path, template, Parameters={"Name": {"Type": "String"}}), "--json")

    assert (rules_found(ran), "one-error-queue" in not_checked(ran), "queue-names" in not_checked(ran)) == (
        [],
        True,
        True,
    )


def test_a_value_of_another_service_hides_no_right_that_is_missing(check: Check, tmp_path: Path) -> None:
    topic = {"Type": "AWS::SNS::Topic"}
    policies = [{"SNSPublishMessagePolicy": {"TopicName": attribute("Topic", "TopicName")}}]

    ran = check(
        written(tmp_path, {**changed(good(), {"Shop.Properties.Policies": policies}), "Topic": topic}), "--json"
    )

    assert rules_found(ran) == ["rights"] * 3


def test_a_misspelt_error_queue_silences_no_rule(check: Check, tmp_path: Path) -> None:
    misspelt = changed(
        good(),
        {
            "Shop.Properties.Environment.Variables.RECOVERABLE_ERROR_QUEUE": "erors",
            "Errors.Properties.MessageRetentionPeriod": 60,
        },
    )

    ran = check(written(tmp_path, misspelt), "--json")

    assert (rules_found(ran), not_checked(ran)) == (["error-queue-retention", "queue-names"], {})


def test_several_files_are_one_report(check: Check, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()

    ran = check(written(tmp_path / "one", good()), written(tmp_path / "two", WRONG), "nowhere.yaml")

    assert (ran.status, ran.out.splitlines()[-1], ran.err) == (
        2,
        f"{2 * RULES} of {2 * RULES} checks done ({RULES} rules, 1 function).",
        "recoverable check: nowhere.yaml: there is no such file\n",
    )


def test_a_template_whose_functions_use_nothing_of_this_package_is_left_alone(check: Check, tmp_path: Path) -> None:
    java = changed(
        good(), {"Shop.Properties.Runtime": "java21", "Shop.Properties.Events.Orders.Properties.BatchSize": 11}
    )

    assert check(written(tmp_path, java), "--strict") == (
        0,
        "left alone, because no code there uses this package: Shop.\nNothing to check: no function that reads a queue uses this package.\n",
        "",
    )


WAIVED: dict[str, Template] = {
    "on the function": ignoring(WRONG, "Shop", recursive_loop="it sends nothing"),
    "on the queue": ignoring(
        changed(good(), {"Orders.Properties.RedrivePolicy": None}), "Orders", redrive_policy="a test"
    ),
    "of what cannot be checked": ignoring(
        changed(good(), {"Shop.Properties.VpcConfig": {"SubnetIds": ["subnet-1"]}}), "Shop", network="there is a NAT"
    ),
}


@pytest.mark.parametrize("form", WAIVED)
def test_a_waiver_with_a_reason_takes_a_finding_out(check: Check, tmp_path: Path, form: str) -> None:
    ran = check(written(tmp_path, WAIVED[form]), "--strict", "--json")

    assert (ran.status, reported(ran)) == (0, [])


@pytest.mark.parametrize(
    ("resources", "wrong"),
    [
        (
            ignoring(good(), "Shop", recursive_loop="once"),
            "Shop ignores recursive-loop, and nothing of it is found there",
        ),
        (
            ignoring(WRONG, "Orders", recursive_loop="no"),
            "Orders ignores recursive-loop, and nothing of it is found there",
        ),
        (ignoring(good(), "Shop", nonsense="why"), "Shop ignores nonsense, and nothing of it is found there"),
        (ignoring(WRONG, "Shop", recursive_loop=" "), "Shop ignores recursive-loop without a reason"),
    ],
)
def test_a_waiver_that_is_not_needed_is_a_finding(
    check: Check, tmp_path: Path, resources: Template, wrong: str
) -> None:
    ran = check(written(tmp_path, resources), "--json")

    assert wrong in [each["wrong"] for each in reported(ran) if each["rule"] == "waivers"]


def test_a_baseline_takes_known_findings_out_wherever_they_have_moved(check: Check, tmp_path: Path) -> None:
    path = written(tmp_path, WRONG)
    (tmp_path / "known.json").write_text(check(path, "--json").out, encoding="utf-8")

    words = (path, "--baseline", str(tmp_path / "known.json"), "--json")

    written(tmp_path, {"First": {"Type": "AWS::SNS::Topic"}, **WRONG})
    moved = check(*words)
    written(tmp_path, changed(WRONG, {"Orders.Properties.RedrivePolicy.maxReceiveCount": 3}))
    more = check(*words)

    assert (moved.status, rules_found(moved), rules_found(more)) == (0, [], ["max-receive-count"])


@pytest.mark.parametrize("text", ["{", "[1]", ""], ids=repr)
def test_a_baseline_that_is_none_is_refused_or_empty(check: Check, tmp_path: Path, text: str) -> None:
    (tmp_path / "known.json").write_text(text, encoding="utf-8")

    ran = check(written(tmp_path, WRONG), "--baseline", str(tmp_path / "known.json"))

    assert (ran.status, ran.err.count("\n")) == ((2, 1) if text else (1, 0))


OTHERS = changed(
    good(), {"Errors": None, "Shop.Properties.Environment.Variables.RECOVERABLE_ERROR_QUEUE": "faults",
    "Orders.Properties.RedrivePolicy.deadLetterTargetArn": "arn:aws:sqs:eu-west-1:42:faults",
    "Shop.Properties.Policies": ["AmazonSQSFullAccess"]}
)  # fmt: skip


@pytest.mark.parametrize(("seconds", "rules"), [(1209600, []), (60, ["error-queue-retention"])])
def test_what_a_queue_of_another_stack_is_like_can_be_said(
    check: Check, tmp_path: Path, seconds: int, rules: list[str]
) -> None:
    said = {"Queues": {"faults": {"MessageRetentionPeriod": seconds}}}
    (tmp_path / "others.json").write_text(json.dumps(said), encoding="utf-8")
    assumed = check(written(tmp_path, OTHERS), "--assume", str(tmp_path / "others.json"), "--json")
    written_in = check(written(tmp_path, OTHERS, Metadata={"Recoverable": said}), "--json")

    assert (rules_found(assumed), not_checked(assumed)) == (rules, {})
    assert (rules_found(written_in), not_checked(written_in)) == (rules, {})


def test_a_queue_of_another_stack_is_not_checked_without_a_word(check: Check, tmp_path: Path) -> None:
    ran = check(written(tmp_path, OTHERS), "--json")

    assert (ran.status, "error-queue-retention" in not_checked(ran), "queue-names" in not_checked(ran)) == (
        0,
        True,
        True,
    )


@pytest.mark.parametrize("said", [{}, {"Queues": ["faults"]}, {"Queues": {"faults": 5}}, {"Queues": 1}], ids=str)
def test_an_assumption_that_is_none_is_refused(check: Check, tmp_path: Path, said: Any) -> None:
    (tmp_path / "others.json").write_text(json.dumps(said), encoding="utf-8")

    ran = check(written(tmp_path, good()), "--assume", str(tmp_path / "others.json"))

    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_a_time_that_is_the_longest_already_is_not_to_be_longer(check: Check, tmp_path: Path) -> None:
    longest = changed(
        good(),
        {
            "Orders.Properties.MessageRetentionPeriod": 1209600,
            "Orders.Properties.RedrivePolicy.maxReceiveCount": 1000,
            "Orders.Properties.VisibilityTimeout": 3600,
        },
    )

    findings = [each for each in reported(check(written(tmp_path, longest), "--json")) if "wrong" in each]

    assert [(each["rule"], each["write"]) for each in findings] == [
        ("queue-retention", "write a smaller maxReceiveCount"),
        ("error-queue-retention", "write a shorter MessageRetentionPeriod on orders"),
    ]


def test_many_rules_that_were_not_checked_for_one_reason_are_counted(check: Check, tmp_path: Path) -> None:
    elsewhere = changed(good(), {"Shop.Properties.Events.Orders.Properties.Queue": "arn:aws:sqs:eu-west-1:42:far"})

    ran = check(written(tmp_path, elsewhere))

    assert re.search(r"^not checked: \d+ rules: the queue far is not in this template;", ran.out, re.MULTILINE)


def test_what_macos_notes_beside_a_file_is_no_code(check: Check, tmp_path: Path) -> None:
    path = written(tmp_path, good())
    for name in ("__MACOSX/app.py", "._app.py"):
        (tmp_path / "src" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "src" / name).write_bytes(b"\x00\x05\x16\x07")

    assert check(path).out.startswith("Nothing found.\n")
