"""Test the conversion of the hosts' journal entries into the demo's events."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from local.demo.examples import DEADLY, FLAKY, GOOD, IDS, facts
from recoverable_local import functions_host
from recoverable_local.decisions import Decided
from recoverable_local.demo.aws.command import count_dispatched
from recoverable_local.demo.aws.command import to_event as on_aws
from recoverable_local.demo.azure.command import to_event as on_azure
from recoverable_local.demo.orders import Order
from recoverable_local.demo.progress import Event, InvocationEnded, InvocationStarted, OrderDecided
from recoverable_local.functions_host import Delivered, Raised
from recoverable_local.lambda_host import Died, Ended, Entry, FunctionLog, Invoked, Outcome, Returned, Started
from recoverable_local.service_bus import SeenMessage


def ended(outcome: Outcome) -> Ended:
    return Ended("Orders", "r1", 1, timedelta(seconds=1), outcome, (), (), None)


def line(logger: str, **more: object) -> FunctionLog:
    return FunctionLog("Orders", 1, json.dumps({"logger": logger, **more}))


def decided(action: Any, order: Order, *, done: bool = True, **more: Any) -> Decided:
    return Decided(facts(action, order, **more), "no", done=done)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            Invoked("Orders", "r1", 1, ({"body": GOOD.body}, {"body": DEADLY.body}, {"body": "another's"})),
            InvocationStarted("r1", frozenset({GOOD, DEADLY})),
        ),
        (ended(Died(1)), InvocationEnded("r1", died=True)),
        (ended(Returned("{}")), InvocationEnded("r1", died=False)),
        (line("shop", message="order 1 is placed"), OrderDecided(GOOD, "complete")),
        (line("shop", message="order 99 is placed"), None),
        (
            line("recoverable.delayed_retry", message_id="id-2", delay_seconds=2.0),
            OrderDecided(FLAKY, "delayed_retry", delay=2.0),
        ),
        (
            line("recoverable.delayed_retry", message_id="id-2", delay_seconds=2.5),
            OrderDecided(FLAKY, "delayed_retry", delay=2.5, stored=True),
        ),
        (
            line("recoverable.move_to_error", message_id="id-7", errorType="UnreportedFailure"),
            OrderDecided(DEADLY, "move_to_error", attempted=False),
        ),
        (line("recoverable.move_to_error", message_id="another's"), None),
        (FunctionLog("Orders", 1, "no JSON"), None),
        (FunctionLog("Orders", 1, "[1]"), None),
        (decided("complete", GOOD), None),  # which its line in the log says already
        (Started("Orders", 1), None),
    ],
)
def test_what_an_entry_of_the_lambda_host_is_about(entry: Entry, expected: Event | None) -> None:
    assert on_aws(entry, IDS) == expected


def seen(number: int, body: str) -> SeenMessage:
    return SeenMessage(
        number, "a copy's own id", body.encode(), {}, 0, "locked", datetime(2026, 1, 1, tzinfo=UTC), None
    )


QUEUE: Any = SimpleNamespace(messages=lambda: (seen(1, GOOD.body), seen(9, DEADLY.body)))
DELIVERED = tuple(Delivered("a copy's own id", number, 1) for number in (9, 5))  # the latter is in the queue no more


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (functions_host.Invoked("place_order", "i1", DELIVERED), InvocationStarted("i1", frozenset({DEADLY}))),
        (
            functions_host.Ended("place_order", "i1", (), timedelta(seconds=1), Died(1), "abandoned"),
            InvocationEnded("i1", died=True),
        ),
        (
            functions_host.Ended("place_order", "i1", (), timedelta(seconds=1), Raised("no"), "abandoned"),
            InvocationEnded("i1", died=False),
        ),
        (decided("complete", GOOD), OrderDecided(GOOD, "complete")),
        (
            decided("delayed_retry", FLAKY, delay=timedelta(seconds=2.5)),
            OrderDecided(FLAKY, "delayed_retry", delay=2.5),
        ),
        (decided("move_to_error", DEADLY, unreported=True), OrderDecided(DEADLY, "move_to_error", attempted=False)),
        (decided("move_to_error", DEADLY, done=False), None),
        (decided("complete", GOOD, message_id="another's"), None),
        (functions_host.Started(1, ("place_order",)), None),
    ],
)
def test_what_an_entry_of_the_functions_host_is_about(entry: functions_host.Entry, expected: Event | None) -> None:
    assert on_azure(QUEUE, entry, IDS) == expected


def test_what_the_dispatcher_has_sent_is_counted_by_what_it_says() -> None:
    lines = [
        {"logger": "recoverable.timeouts", "dispatched": 2},
        {"logger": "recoverable.timeouts", "dispatched": 1},
        {"logger": "recoverable.timeouts", "message": "a warning"},
        {"logger": "shop", "dispatched": 9},
        "no object",
    ]

    assert count_dispatched(FunctionLog("Timeouts", 1, json.dumps(line)) for line in lines) == 3
