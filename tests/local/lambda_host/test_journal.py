"""Test the journal, and the lines that the command prints for each entry."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from recoverable import Facts
from recoverable_local.lambda_host import (
    BrokerTrouble,
    Decided,
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
from recoverable_local.lambda_host.formatting import lines_of
from recoverable_local.lambda_host.journal import Journal

RECORD = {"messageId": "0123456789", "attributes": {"ApproximateReceiveCount": "2"}}
SUCCESS = Ended("Shop", "r1", 7, timedelta(seconds=0.25), Returned("null"), ("a", "b"), (), None)
FAILURE = Ended("Shop", "r1", 7, timedelta(seconds=1), Raised("ValueError", "no"), (), ("a",), "ValueError: no")

DECIDED = Decided(Facts("m-1", "orders", 1, 0, "complete", request_id="r1"), "", done=True)
LOGGED = {
    "level": "ERROR",
    "message": "no",
    "logger": "shop",
    "stackTrace": ["  File a\n    b\n"],
    "errorType": "E",
    "errorMessage": "no",
}

LINES: list[tuple[Entry, str]] = [
    (Started("Shop", 7), "Shop[7] started"),
    (Invoked("Shop", "r1", 7, (RECORD, RECORD)), ""),
    (SUCCESS, "Shop a → completed\nShop b → completed"),
    (FAILURE, "Shop a  ValueError: no → comes back after its visibility timeout"),
    (replace(SUCCESS, completed=()), "Shop by its schedule → done"),
    (replace(FAILURE, failed=()), "Shop by its schedule  ValueError: no → failed"),
    (DECIDED, ""),
    (Throttled("Shop", ()), "Shop is throttled: its schedule waits for one of its reserved instances"),
    (Expired("Shop", ()), "Shop had no free instance in time: its schedule skips this invocation"),
    (FunctionLog("Shop", 7, "hello"), "Shop[7] hello"),
    (FunctionLog("Shop", 7, '{"not": "a log line"}'), 'Shop[7] {"not": "a log line"}'),
    (FunctionLog("Shop", 7, '{"level": "INFO", "message": "hello"}'), "Shop[7] INFO: hello"),
    (
        FunctionLog("Shop", 7, json.dumps(LOGGED)),
        "Shop[7] ERROR shop: no\nShop[7]   File a\nShop[7]     b\nShop[7] E: no",
    ),
    (FunctionLog("Shop", 7, json.dumps({**LOGGED, "logger": "recoverable.immediate_retry"})), ""),
    (FilteredOut("Shop.Orders", ("a", "b")), "Shop.Orders: 2 message(s) pass no filter and are deleted, as in AWS"),
    (Throttled("Shop", ("a",)), "Shop is throttled: 1 message(s) wait for one of its reserved instances"),
    (
        Expired("Shop", ("a",)),
        "Shop had no free instance in time: 1 message(s) are visible again, with this receive counted",
    ),
    (BrokerTrouble("ReceiveMessage", "gone", "polling goes on"), "ReceiveMessage failed: gone; polling goes on"),
]


def printed(*entries: Entry) -> str:
    """Return the lines for some entries."""
    return "\n".join(line.plain for entry in entries for line in lines_of(entry))


@pytest.mark.parametrize(("entry", "line"), LINES)
def test_an_entry_is_formatted(entry: Entry, line: str) -> None:
    assert printed(entry) == line


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
