"""Test the conversion of the Functions host's journal entries into the demo's events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from local.demo.examples import DEADLY, FLAKY, GOOD, IDS, REJECTED
from recoverable_local.demo.azure.entries import EntryConverter, to_error_message
from recoverable_local.demo.orders import Order
from recoverable_local.demo.progress import Event, InvocationEnded, InvocationStarted, OrderLogged
from recoverable_local.demo.result import ErrorMessage
from recoverable_local.functions_host import (
    Delivered,
    Died,
    Ended,
    Entry,
    FunctionLog,
    Invoked,
    Outcome,
    Raised,
    Returned,
    Started,
)
from recoverable_local.service_bus import SeenMessage

QUEUE = {1: GOOD.body, 9: DEADLY.body}

AGAIN = "INFO recoverable.immediate_retry: Immediate Retry is going to retry message 'id-2' because of an exception:"
LATER = "WARNING recoverable.delayed_retry: Delayed Retry will reschedule message 'id-2' after a delay of 01:00:02.5000000 because of an exception:"
NEVER = "ERROR recoverable.move_to_error: Moving message 'id-4' to the error queue 'orders-error' because processing failed due to an exception:"
TRACE = "Traceback (most recent call last):"
UNREPORTED = "recoverable.UnreportedFailure: its deliveries ended without a word: time-out, crash or lack of memory"


def events_of(*entries: Entry) -> list[Event]:
    """Convert a host's entries in order, and return the events."""
    convert = EntryConverter(lambda: QUEUE)
    return [event for entry in entries if (event := convert(entry, IDS)) is not None]


def lines(*texts: str, pid: int = 1) -> list[FunctionLog]:
    return [FunctionLog(pid, text) for text in texts]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["INFO shop: order 1 is placed"], [OrderLogged(GOOD, "shop")]),
        (["INFO shop: order 99 is placed"], []),
        ([AGAIN, TRACE, "shop.BankUnreachable: no"], [OrderLogged(FLAKY, "recoverable.immediate_retry")]),
        ([LATER, TRACE], [OrderLogged(FLAKY, "recoverable.delayed_retry", delay=3602.5)]),
        ([LATER, UNREPORTED], [OrderLogged(FLAKY, "recoverable.delayed_retry", delay=3602.5, attempted=False)]),
        ([NEVER, TRACE], [OrderLogged(REJECTED, "recoverable.move_to_error")]),
        ([NEVER, UNREPORTED], [OrderLogged(REJECTED, "recoverable.move_to_error", attempted=False)]),
        ([NEVER.replace("id-4", "another's"), TRACE], []),
        (["INFO orders: anything", "", "no line of a logger"], []),
    ],
)
def test_the_log_tells_what_became_of_an_order(texts: list[str], expected: list[Event]) -> None:
    assert events_of(*lines(*texts)) == expected


def test_the_lines_of_two_processes_are_kept_apart() -> None:
    first, second = lines(NEVER, TRACE), lines(LATER, UNREPORTED, pid=2)

    assert events_of(first[0], second[0], second[1], first[1]) == [
        OrderLogged(FLAKY, "recoverable.delayed_retry", delay=3602.5, attempted=False),
        OrderLogged(REJECTED, "recoverable.move_to_error"),
    ]


@pytest.mark.parametrize(("number", "order"), [(1, GOOD), (9, DEADLY)])
def test_a_delivery_is_known_by_what_stands_in_the_queue(number: int, order: Order) -> None:
    invoked = Invoked("place_order", "i1", (Delivered("a copy's own id", number, 1),))

    assert events_of(invoked) == [InvocationStarted("i1", frozenset({order}))]


def test_a_delivery_that_stands_no_more_in_the_queue_is_nobodys() -> None:
    assert events_of(Invoked("place_order", "i1", (Delivered("id-1", 5, 1),))) == [InvocationStarted("i1", frozenset())]


@pytest.mark.parametrize(
    ("outcome", "died"), [(Died(1), True), (Raised("BankUnreachable"), False), (Returned(), False)]
)
def test_only_a_death_ends_without_a_word(outcome: Outcome, died: bool) -> None:  # noqa: FBT001  # a table's column
    ended = Ended("place_order", "i1", (), timedelta(seconds=1), outcome, "abandoned")

    assert events_of(ended) == [InvocationEnded("i1", died=died)]


def test_the_start_of_a_worker_is_no_part_of_the_story() -> None:
    assert events_of(Started(1, ("place_order",))) == []


def test_what_is_given_up_has_its_properties_as_headers() -> None:
    seen = SeenMessage(1, "id", b"\xff{}", {"a": "b"}, 0, "active", datetime(2026, 1, 1, tzinfo=UTC), None)

    assert to_error_message(seen) == ErrorMessage("\ufffd{}", {"a": "b"})
