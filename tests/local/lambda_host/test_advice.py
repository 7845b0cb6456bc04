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


@pytest.mark.parametrize("template", ["template.yaml", "functions/aws/fifo/template.yaml"])
def test_the_example_shops_need_none(template: str) -> None:
    assert advice(stack_of(read(REPOSITORY / template))) == ()


def test_a_template_in_which_nothing_happens_is_noted() -> None:
    assert advice(Stack((), (), (), ())) == ("no function of this template is invoked; give one an event of type SQS",)


@pytest.mark.parametrize(("part", "change", "note"), NOTES.values(), ids=NOTES)
def test_what_is_wrong_is_said_with_what_to_write(tmp_path: Path, part: str, change: dict[str, Any], note: str) -> None:
    assert notes(tmp_path, **{**GOOD, part: {**GOOD[part], **change}}) == (note,)


GOOD_FIFO: dict[str, Any] = {
    "queue": {"VisibilityTimeout": 6 * LONG, "RedrivePolicy": {**REDRIVE, "maxReceiveCount": 34}},
    "event": {"BatchSize": 1},
}

FIFO_NOTES: dict[str, tuple[str, dict[str, Any], str]] = {
    "a batch": (
        "event",
        {"BatchSize": 10},
        "Shop.Orders has a BatchSize of 10, and what is held back in a batch of a FIFO queue uses up deliveries; write BatchSize: 1",
    ),
    "receives for a standard queue": (
        "queue",
        {"RedrivePolicy": {**REDRIVE, "maxReceiveCount": 11}},
        "shop-orders.fifo has a maxReceiveCount of 11, which has room for 1 of the 24 attempts of the default ladder, and SQS dead-letters the"
        " message without a reason; write (immediate retries + 1) × (delayed retries + 1) + 10 or more, 34 for the default ladder",
    ),
}


def test_a_good_fifo_template_needs_no_advice(tmp_path: Path) -> None:
    assert notes(tmp_path, fifo=True, **GOOD_FIFO) == ()


@pytest.mark.parametrize(("part", "change", "note"), FIFO_NOTES.values(), ids=FIFO_NOTES)
def test_what_is_wrong_with_a_fifo_queue_is_said_with_what_to_write(
    tmp_path: Path, part: str, change: dict[str, Any], note: str
) -> None:
    assert notes(tmp_path, fifo=True, **{**GOOD_FIFO, part: {**GOOD_FIFO[part], **change}}) == (note,)
