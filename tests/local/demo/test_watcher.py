"""Test the watcher: entries before the message ids, the end of orders, and what it prints."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO

from rich.console import Console

from local.demo.examples import DEADLY, FLAKY, GOOD, IDS, facts
from recoverable_local.decisions import Decided
from recoverable_local.demo.orders import Order
from recoverable_local.demo.progress import PLACED, Event, OrderDecided, OrderHistory
from recoverable_local.demo.result import report_counters
from recoverable_local.demo.watcher import Watcher, show_progress


def placed(entry: str, ids: Mapping[str, Order]) -> Event | None:
    """Convert an entry that is the id of a placed order's message."""
    return OrderDecided(ids[entry], "complete") if entry in ids else None


def test_what_is_told_before_the_ids_are_known_is_told_then() -> None:
    watcher = Watcher(placed)
    watcher("id-1")
    watcher("of no part")

    watcher.set_ids(IDS)

    assert watcher.progress.orders[GOOD] == OrderHistory((PLACED,), placed=True)


def test_it_counts_by_the_names_of_the_metrics() -> None:
    written = StringIO()
    decided = [
        Decided(facts("immediate_retry", FLAKY), "no", done=True),
        Decided(facts("delayed_retry", FLAKY), "no", done=False),
        Decided(facts("move_to_error", DEADLY, unreported=True), "", done=True),
    ]
    watcher = Watcher[Decided](lambda entry, ids: None)
    watcher.set_ids(IDS)

    for each in decided:
        watcher(each)
    report_counters(watcher.counts, Console(file=written, width=200))

    assert written.getvalue() == (
        "Counters of this run: ImmediateRetries 1, MovedToError 1, Unreported 1, SettlementFailures 1.\n"
    )


def test_a_run_without_failures_says_so() -> None:
    written = StringIO()

    report_counters({}, Console(file=written))

    assert written.getvalue() == "Counters of this run: all 0.\n"


def test_it_knows_when_orders_are_at_their_ends() -> None:
    watcher = Watcher(placed)
    watcher.set_ids(IDS)
    watcher("id-1")

    assert (watcher.ended([GOOD]), watcher.ended()) == (True, False)


def test_what_does_not_come_in_time_is_said() -> None:
    written = StringIO()

    with show_progress(Watcher(placed), Console(file=written, width=200)):
        raise TimeoutError("After 120 s the condition does not hold. [/x]")

    assert "After 120 s the condition does not hold. [/x]\n" in written.getvalue()


def test_the_picture_ends_its_line_where_it_does_not_move() -> None:
    written = StringIO()

    with show_progress(Watcher(placed), Console(file=written, width=200)):
        pass

    assert written.getvalue().endswith("\n")
