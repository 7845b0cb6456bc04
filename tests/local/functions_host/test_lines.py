"""Test the lines that the command prints for the entries of the host's journal."""

from __future__ import annotations

from datetime import timedelta

import pytest

from recoverable import Facts
from recoverable_local.functions_host import (
    Decided,
    Delivered,
    Died,
    Ended,
    Entry,
    FunctionLog,
    Invoked,
    Raised,
    Returned,
    Started,
    Trouble,
)
from recoverable_local.functions_host.formatting import lines_of

MESSAGES = (Delivered("order-1", 7, 1), Delivered("order-2", 8, 3))
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("entry", "lines"),
    [
        (Started(7, ("orders", "invoices")), ["worker[7] started: orders, invoices"]),
        (Invoked("orders", "i1", MESSAGES), []),
        (Decided(Facts("order-1", "orders", 1, 0, "complete", request_id="i1"), "", done=True), []),
        (
            Ended("orders", "i1", MESSAGES, SECOND, Returned(), "completed"),
            ["orders order-1 delivery 1 → completed", "orders order-2 delivery 3 → completed"],
        ),
        (
            Ended("orders", "i1", MESSAGES[:1], SECOND, Raised("ValueError: no"), "abandoned"),
            ["orders order-1 delivery 1  ValueError: no → abandoned, comes back"],
        ),
        (
            Ended("orders", "i1", MESSAGES[:1], SECOND, Died(-9), "left"),
            ["orders order-1 delivery 1  the worker process ended with signal 9 → comes back when its lock ends"],
        ),
        (FunctionLog(7, "hello"), ["worker[7] hello"]),
        (Trouble("renewing a lock", "gone", "it comes back"), ["renewing a lock failed: gone; it comes back"]),
    ],
)
def test_an_entry_is_formatted(entry: Entry, lines: list[str]) -> None:
    assert [line.plain for line in lines_of(entry)] == lines
