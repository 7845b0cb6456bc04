"""The local Lambda's journal → what the story is told from."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from local.demo.scene import DEADLY, FLAKY, GOOD, IDS
from recoverable_local.demo.aws.entries import dispatched, given_up, read
from recoverable_local.demo.story import Given, Happening, Heard, Over
from recoverable_local.demo.verdict import GivenUp
from recoverable_local.lambda_host import (
    Died,
    Ended,
    Entry,
    FunctionLog,
    Invoked,
    Outcome,
    QueuedMessage,
    Returned,
    Started,
)


def line(logger: str, **facts: object) -> FunctionLog:
    return FunctionLog("Orders", 1, json.dumps({"logger": logger, **facts}))


def ended(outcome: Outcome) -> Ended:
    return Ended("Orders", "r1", 1, timedelta(seconds=1), outcome, (), (), None)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            Invoked("Orders", "r1", 1, ({"body": GOOD.body}, {"body": DEADLY.body}, {"body": "another's"})),
            Given("r1", frozenset({GOOD, DEADLY})),
        ),
        (ended(Died(1)), Over("r1", died=True)),
        (ended(Returned("{}")), Over("r1", died=False)),
        (line("shop", message="order 1 is placed"), Heard(GOOD, "shop")),
        (line("shop", message="order 99 is placed"), None),
        (
            line("recoverable.delayed_retry", message_id="id-2", delay_seconds=2.0),
            Heard(FLAKY, "recoverable.delayed_retry", delay=2.0),
        ),
        (
            line("recoverable.delayed_retry", message_id="id-2", delay_seconds=2.5),
            Heard(FLAKY, "recoverable.delayed_retry", delay=2.5, stored=True),
        ),
        (
            line("recoverable.move_to_error", message_id="id-7", errorType="UnreportedFailure"),
            Heard(DEADLY, "recoverable.move_to_error", attempted=False),
        ),
        (line("recoverable.move_to_error", message_id="another's"), None),
        (FunctionLog("Orders", 1, "no JSON"), None),
        (FunctionLog("Orders", 1, "[1]"), None),
        (Started("Orders", 1), None),
    ],
)
def test_an_entry_tells(entry: Entry, expected: Happening | None) -> None:
    assert read(entry, IDS) == expected


@pytest.mark.parametrize(
    ("attributes", "headers"),
    [
        ({"NServiceBus.AmazonSQS.Headers": '{"a": "b"}'}, {"a": "b"}),
        ({"NServiceBus.AmazonSQS.Headers": "no JSON"}, {}),
        ({}, {}),
    ],
)
def test_what_is_given_up_has_the_headers_of_its_one_attribute(
    attributes: dict[str, str], headers: dict[str, str]
) -> None:
    assert given_up(QueuedMessage("id", "body", attributes, {})) == GivenUp("body", headers)


def test_what_the_dispatcher_has_sent_is_counted_by_what_it_says() -> None:
    lines = [
        line("recoverable.timeouts", dispatched=2),
        line("recoverable.timeouts", dispatched=1),
        line("recoverable.timeouts", message="a warning"),
        line("shop", dispatched=9),
        FunctionLog("Timeouts", 1, "no JSON"),
    ]

    assert dispatched(lines) == 3
