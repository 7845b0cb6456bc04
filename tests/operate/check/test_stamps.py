"""`recoverable check` knows a function that stamps dead letters, and the dead-letter queue between a queue and its error queue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from operate.check import arm_templates as on_azure
from operate.check.conftest import Check, not_checked, rules_found
from operate.check.templates import CODE, Template, attribute, changed, good, may, written

STAMP = """
import os
from recoverable_operate import stamp

handler = stamp(to=os.environ["ERROR_QUEUE"])
"""


def with_stamp(**changes: Any) -> Template:
    """Build a template with a stamp in which nothing is to be found, with a test's changes; `__` stands for a dot."""
    shop = good()
    reads = {"Queue": attribute("Dead"), "FunctionResponseTypes": ["ReportBatchItemFailures"], "BatchSize": 10}
    policy = {"Statement": [may("sqs:SendMessage", on="Errors")]}
    stamp = {
        "Runtime": "python3.13", "Handler": "stamping.handler", "CodeUri": "stamp", "Timeout": 30, "Policies": [policy],
        "Environment": {"Variables": {"ERROR_QUEUE": attribute("Errors", "QueueName")}},
        "Events": {"Dead": {"Type": "SQS", "Properties": reads}},
    }  # fmt: skip
    dead = {
        "QueueName": "dead", "VisibilityTimeout": 180, "MessageRetentionPeriod": 604800,
        "RedrivePolicy": {"deadLetterTargetArn": attribute("Errors"), "maxReceiveCount": 50},
    }  # fmt: skip
    resources = {
        **changed(shop, {"Orders.Properties.RedrivePolicy.deadLetterTargetArn": attribute("Dead")}),
        "Dead": {"Type": "AWS::SQS::Queue", "Properties": dead},
        "Stamp": {"Type": "AWS::Serverless::Function", "Properties": stamp},
    }
    return changed(resources, {path.replace("__", "."): value for path, value in changes.items()})


def looked_at(folder: Path, check: Check, resources: Template, stamp: str = STAMP) -> Any:
    """Return what is reported of a template whose second function has this code."""
    path = written(folder, resources, CODE)
    (folder / "stamp").mkdir()
    (folder / "stamp" / "stamping.py").write_text(stamp, encoding="utf-8")
    return check(path, "--json")


def test_dead_letters_that_a_stamp_sends_on_are_right(tmp_path: Path, check: Check) -> None:
    ran = looked_at(tmp_path, check, with_stamp())

    assert (rules_found(ran), not_checked(ran)) == ([], {})


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({"Stamp__Properties__Events__Dead__Properties__FunctionResponseTypes": None}, ["partial-responses"]),
        ({"Stamp__Properties__Policies": []}, ["rights"]),
        ({"Dead__Properties__RedrivePolicy": None}, ["redrive-policy"]),
        ({"Dead__Properties__MessageRetentionPeriod": 1209600}, ["error-queue-retention"]),
    ],
    ids=["failures that are deleted", "no right to send", "no way out", "a retention that ends too late"],
)
def test_what_a_stamp_needs_is_looked_at(
    changes: dict[str, Any], rules: list[str], tmp_path: Path, check: Check
) -> None:
    assert rules_found(looked_at(tmp_path, check, with_stamp(**changes))) == rules


def test_a_dead_letter_queue_that_nothing_reads_is_found(tmp_path: Path, check: Check) -> None:
    assert rules_found(looked_at(tmp_path, check, with_stamp(Stamp=None))) == ["one-error-queue"]


def test_a_stamp_that_sends_elsewhere_is_found(tmp_path: Path, check: Check) -> None:
    elsewhere = with_stamp(Stamp__Properties__Environment__Variables__ERROR_QUEUE=attribute("Orders", "QueueName"))

    assert rules_found(looked_at(tmp_path, check, elsewhere)).count("one-error-queue") == 2  # of both functions


def test_of_a_function_whose_code_says_nothing_it_is_not_said_whether_it_stamps(tmp_path: Path, check: Check) -> None:
    ran = looked_at(tmp_path, check, with_stamp(), "from recoverable_operate import stamp\nhandler = make(stamp)\n")

    assert "one-error-queue" not in rules_found(ran)
    assert "one-error-queue" in not_checked(ran)


BY_DEAD = {
    **on_azure.changed({f"{on_azure.OF_QUEUE}.forwardDeadLetteredMessagesTo": "orders-dead"}),
    "deadQueue": on_azure.queue("orders-dead", maxDeliveryCount=100, forwardDeadLetteredMessagesTo="orders-error"),
}
IN_APP = """
from recoverable_operate import stamp
app.register_functions(stamp(to="{to}").blueprint(queue={queue}, connection="ServiceBus"))
"""
NAMED, COMPUTED = '"orders-dead"', "str(1)"


@pytest.mark.parametrize(
    ("code", "rules"),
    [
        (IN_APP.format(to="orders-error", queue=NAMED), []),
        (IN_APP.format(to="orders", queue=NAMED), ["same-error-queue"]),
        (IN_APP.format(to="orders-error", queue=COMPUTED), ["same-error-queue"]),
        ("", ["same-error-queue"]),
    ],
    ids=["a stamp", "one that sends elsewhere", "one that reads another queue", "none"],
)
def test_on_service_bus_the_dead_letters_may_come_by_a_stamp(
    code: str, rules: list[str], tmp_path: Path, check: Check
) -> None:
    path = on_azure.written(tmp_path, BY_DEAD, code=on_azure.CODE + code)

    assert rules_found(check(path, "--json")) == rules


def test_the_template_of_the_example_is_right_with_a_stamp(check: Check) -> None:
    ran = check(str(Path(__file__).parent / "compiled" / "main.json"), "--parameter", "stampDeadLetters=true", "--json")

    assert (rules_found(ran), not_checked(ran)) == ([], {})
