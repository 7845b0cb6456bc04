"""Test the conversion of the Lambda host's journal entries into the demo's events."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from local.demo.examples import DEADLY, FLAKY, GOOD, IDS
from recoverable_local.demo.aws.entries import count_dispatched, to_event
from recoverable_local.demo.progress import Event, InvocationEnded, InvocationStarted, OrderLogged
from recoverable_local.lambda_host import Died, Ended, Entry, FunctionLog, Invoked, Outcome, Returned, Started


def line(logger: str, **facts: object) -> FunctionLog:
    return FunctionLog("Orders", 1, json.dumps({"logger": logger, **facts}))


def ended(outcome: Outcome) -> Ended:
    return Ended("Orders", "r1", 1, timedelta(seconds=1), outcome, (), (), None)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            Invoked("Orders", "r1", 1, ({"body": GOOD.body}, {"body": DEADLY.body}, {"body": "another's"})),
            InvocationStarted("r1", frozenset({GOOD, DEADLY})),
        ),
        (ended(Died(1)), InvocationEnded("r1", died=True)),
        (ended(Returned("{}")), InvocationEnded("r1", died=False)),
        (line("shop", message="order 1 is placed"), OrderLogged(GOOD, "shop")),
        (line("shop", message="order 99 is placed"), None),
        (
            line("recoverable.delayed_retry", message_id="id-2", delay_seconds=2.0),
            OrderLogged(FLAKY, "recoverable.delayed_retry", delay=2.0),
        ),
        (
            line("recoverable.delayed_retry", message_id="id-2", delay_seconds=2.5),
            OrderLogged(FLAKY, "recoverable.delayed_retry", delay=2.5, stored=True),
        ),
        (
            line("recoverable.move_to_error", message_id="id-7", errorType="UnreportedFailure"),
            OrderLogged(DEADLY, "recoverable.move_to_error", attempted=False),
        ),
        (line("recoverable.move_to_error", message_id="another's"), None),
        (FunctionLog("Orders", 1, "no JSON"), None),
        (FunctionLog("Orders", 1, "[1]"), None),
        (Started("Orders", 1), None),
    ],
)
def test_an_entry_tells(entry: Entry, expected: Event | None) -> None:
    assert to_event(entry, IDS) == expected


def test_what_the_dispatcher_has_sent_is_counted_by_what_it_says() -> None:
    lines = [
        line("recoverable.timeouts", dispatched=2),
        line("recoverable.timeouts", dispatched=1),
        line("recoverable.timeouts", message="a warning"),
        line("shop", dispatched=9),
        FunctionLog("Timeouts", 1, "no JSON"),
    ]

    assert count_dispatched(lines) == 3
