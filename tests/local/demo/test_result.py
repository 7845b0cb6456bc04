"""Test the check of the demo's result: what it prints, and the exit status."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from local.demo.examples import FLAKY, GOOD, REJECTED, progress
from recoverable_local.demo.orders import ORDERS
from recoverable_local.demo.progress import OrderHistory, Progress
from recoverable_local.demo.result import EXCEPTION_TYPE, ErrorMessage, report_outgoing, report_result

PLACED = {order: OrderHistory(placed=order.expected_error is None) for order in ORDERS}
MOVED_TO_ERROR = [
    ErrorMessage(order.body, {EXCEPTION_TYPE: order.expected_error}) for order in ORDERS if order.expected_error
]
BY_THE_BROKER = ErrorMessage(REJECTED.body, {"DeadLetterReason": "MaxDeliveryCountExceeded"})


def of(histories: dict[object, OrderHistory]) -> Progress:
    return replace(progress(), orders={order: histories[order] for order in ORDERS})


@pytest.mark.parametrize(
    ("histories", "found", "status", "said"),
    [
        (PLACED, MOVED_TO_ERROR, 0, "8 orders sent, 4 placed, 4 in the error queue, none lost."),
        (
            PLACED,
            MOVED_TO_ERROR[1:],
            1,
            "rejected: unrecoverable: must be shop.CardDeclined, but is not in the error queue",
        ),
        (
            PLACED,
            [*MOVED_TO_ERROR[1:], BY_THE_BROKER],
            1,
            "rejected: unrecoverable: must be shop.CardDeclined, but is without a reason",
        ),
        ({**PLACED, GOOD: OrderHistory()}, MOVED_TO_ERROR, 1, "good: must be placed, but is not in the error queue"),
        (
            PLACED,
            [*MOVED_TO_ERROR, ErrorMessage(GOOD.body, {EXCEPTION_TYPE: "recoverable.UnreportedFailure"})],
            1,
            "good: must be placed, but is recoverable.UnreportedFailure",
        ),
    ],
)
def test_each_order_must_be_where_it_belongs(
    histories: dict[object, OrderHistory], found: list[ErrorMessage], status: int, said: str
) -> None:
    written = StringIO()

    judged = report_result(of(histories), found, Console(file=written, width=200))

    assert (judged, written.getvalue()) == (status, f"{said}\n")


@pytest.mark.parametrize(
    ("bodies", "status", "said"),
    [
        (
            ['{"order": 1}', '{"order": 2}', '{"order": 1}'],
            0,
            "orders-placed: 3 messages, of the 2 placed orders; failed attempts sent none.",
        ),
        (
            ['{"order": 1}', '{"order": 4}'],
            1,
            "orders-placed must have messages of the orders {1, 2}, but has them of {1, 4}.",
        ),
    ],
    ids=["of the placed ones", "of one that failed"],
)
def test_each_placed_order_and_no_other_must_have_sent(bodies: list[str], status: int, said: str) -> None:
    written, placed = StringIO(), OrderHistory(placed=True)
    histories: dict[object, OrderHistory] = {
        order: placed if order in (GOOD, FLAKY) else OrderHistory() for order in ORDERS
    }

    judged = report_outgoing(of(histories), bodies, Console(file=written, width=200))

    assert (judged, written.getvalue()) == (status, f"{said}\n")
