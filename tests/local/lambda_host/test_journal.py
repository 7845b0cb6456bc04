"""Test the journal, and the line that the command prints for each entry."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from recoverable_local.lambda_host import (
    BrokerTrouble,
    Ended,
    Entry,
    Expired,
    FilteredOut,
    FunctionLog,
    Invoked,
    Raised,
    Returned,
    Started,
    Throttled,
)
from recoverable_local.lambda_host.formatting import format_entry
from recoverable_local.lambda_host.journal import Journal

RECORD = {"messageId": "0123456789", "attributes": {"ApproximateReceiveCount": "2"}}
SUCCESS = Ended("Shop", "r1", 7, timedelta(seconds=0.25), Returned("null"), ("a", "b"), (), None)
FAILURE = Ended("Shop", "r1", 7, timedelta(seconds=1), Raised("ValueError", "no"), (), ("a",), "ValueError: no")

LINES: list[tuple[Entry, str]] = [
    (Started("Shop", 7), "Shop[7] started"),
    (Invoked("Shop", "r1", 7, (RECORD, RECORD)), "Shop[7] ← 01234567 (receive 2), 01234567 (receive 2)"),
    (SUCCESS, "Shop[7] → 2 completed, 0 failed in 250 ms"),
    (FAILURE, "Shop[7] → 0 completed, 1 failed in 1000 ms; ValueError: no"),
    (Invoked("Shop", "r1", 7, ()), "Shop[7] ← its schedule"),
    (replace(SUCCESS, completed=()), "Shop[7] → over in 250 ms"),
    (replace(FAILURE, failed=()), "Shop[7] → over in 1000 ms; ValueError: no"),
    (Throttled("Shop", ()), "Shop is throttled: its schedule waits for one of its reserved instances"),
    (Expired("Shop", ()), "Shop had no free instance in time: its schedule skips this invocation"),
    (FunctionLog("Shop", 7, "hello"), "Shop[7] hello"),
    (FilteredOut("Shop.Orders", ("a", "b")), "Shop.Orders: 2 message(s) pass no filter and are deleted, as in AWS"),
    (Throttled("Shop", ("a",)), "Shop is throttled: 1 message(s) wait for one of its reserved instances"),
    (
        Expired("Shop", ("a",)),
        "Shop had no free instance in time: 1 message(s) are visible again, with this receive counted",
    ),
    (BrokerTrouble("ReceiveMessage", "gone", "polling goes on"), "ReceiveMessage failed: gone; polling goes on"),
]


@pytest.mark.parametrize(("entry", "line"), LINES)
def test_an_entry_is_formatted_as_one_line(entry: Entry, line: str) -> None:
    assert format_entry(entry) == line


def test_the_observer_hears_every_entry_in_order() -> None:
    heard: list[Entry] = []
    journal = Journal(FunctionLog, heard.append)

    for entry, _ in LINES:
        journal(entry)

    assert heard == [entry for entry, _ in LINES]


def test_the_latest_log_lines_are_kept() -> None:
    journal = Journal(FunctionLog)
    for number in range(10_001):
        journal(FunctionLog("Shop", 7, str(number)))

    assert (len(journal.lines), journal.lines[0].line, journal.lines[-1].line) == (10_000, "1", "10000")


def test_waiting_ends_with_the_condition_or_the_deadline() -> None:
    journal = Journal(FunctionLog)

    journal.wait_until(lambda: True, deadline=timedelta(0))
    with pytest.raises(TimeoutError, match=r"After 0\.01 s the condition does not hold"):
        journal.wait_until(lambda: False, deadline=timedelta(seconds=0.01))
