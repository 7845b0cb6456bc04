"""Test the demo's report on the orders that were stored in the table."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from local.demo.examples import FLAKY, GOOD, progress
from recoverable_local.demo.aws.command import report_stored
from recoverable_local.demo.orders import Order
from recoverable_local.demo.progress import OrderDecided


def waiting(order: Order, *, stored: bool = True) -> OrderDecided:
    return OrderDecided(order, "delayed_retry", delay=4, stored=stored)


@pytest.mark.parametrize(
    ("sent", "status"),
    [(2, 0), (3, 0), (1, 1)],  # fewer than waited is a loss, and more is a duplicate
)
def test_what_waited_must_have_been_sent(sent: int, status: int) -> None:
    written = StringIO()
    seen = progress(waiting(FLAKY), waiting(FLAKY), waiting(GOOD))

    judged = report_stored(seen, sent, Console(file=written, width=200))

    said = f"2 orders waited in the table, and the dispatcher sent {sent} from there.\n"
    assert (judged, written.getvalue()) == (status, said)


def test_what_sqs_delays_did_not_wait_in_the_table() -> None:
    written = StringIO()

    report_stored(progress(waiting(FLAKY, stored=False)), 0, Console(file=written, width=200))

    assert written.getvalue() == "0 orders waited in the table, and the dispatcher sent 0 from there.\n"
