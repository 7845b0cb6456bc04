"""Test the notes on a template that AWS accepts but that would lose or delay messages there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from local.lambda_host.templates import LONG, document, written
from local.lambda_host.test_template import REPOSITORY, read, stack_of
from recoverable_local.lambda_host.sam.advice import advice
from recoverable_local.lambda_host.sam.stack import Stack

GOOD: dict[str, Any] = {
    "queue": {"VisibilityTimeout": 6 * LONG + 3, "MessageRetentionPeriod": 3600},
    "function": {"RecursiveLoop": "Allow"},
    "event": {"MaximumBatchingWindowInSeconds": 3},
}
REDRIVE = {"deadLetterTargetArn": {"Fn::GetAtt": ["Errors", "Arn"]}, "maxReceiveCount": 5}

NOTES: dict[str, tuple[str, dict[str, Any], str]] = {
    "no partial responses": (
        "event",
        {"FunctionResponseTypes": []},
        "Shop.Orders has no FunctionResponseTypes: [ReportBatchItemFailures], so AWS deletes the messages that are reported as failed;"
        " write it, or SqsEndpoint(..., partial_responses=False)",
    ),
    "no recursion": (
        "function",
        {"RecursiveLoop": "Terminate"},
        "Shop has no RecursiveLoop: Allow, so AWS stops a message's retries after about 16 of them; here they continue",
    ),
    "messages are hidden for too short a time": (
        "queue",
        {"VisibilityTimeout": LONG},
        f"shop-orders hides messages for {LONG} s; write a VisibilityTimeout of {6 * LONG + 3} s or more, 6 times the Timeout of Shop"
        " and the batch window",
    ),
    "no redrive policy": (
        "queue",
        {"RedrivePolicy": None},
        "shop-orders has no RedrivePolicy, so a message whose process ends before your code runs comes back until it expires; write one"
        " whose target is the error queue",
    ),
    "an error queue that keeps nothing longer": (
        "queue",
        {"MessageRetentionPeriod": 345_600},
        "shop-errors keeps messages no longer than shop-orders, and for dead-lettered messages the time counts from the first send; write"
        " a longer MessageRetentionPeriod, such as 1209600",
    ),
    "too few receives": (
        "queue",
        {"RedrivePolicy": REDRIVE},
        "shop-orders has a maxReceiveCount of 5, so SQS dead-letters messages before their retries are used up; write immediate retries"
        " + 6 or more",
    ),
}


def notes(folder: Path, **parts: Any) -> tuple[str, ...]:
    return advice(stack_of(read(written(folder, document(**parts)))))


def test_a_good_template_needs_no_advice(tmp_path: Path) -> None:
    assert notes(tmp_path, **GOOD) == ()


def test_the_example_shop_needs_none() -> None:
    assert advice(stack_of(read(REPOSITORY / "template.yaml"))) == ()


def test_a_template_in_which_nothing_happens_is_noted() -> None:
    assert advice(Stack((), (), (), ())) == ("no function of this template is invoked; give one an event of type SQS",)


@pytest.mark.parametrize(("part", "change", "note"), NOTES.values(), ids=NOTES)
def test_what_is_wrong_is_said_with_what_to_write(tmp_path: Path, part: str, change: dict[str, Any], note: str) -> None:
    assert notes(tmp_path, **{**GOOD, part: {**GOOD[part], **change}}) == (note,)
