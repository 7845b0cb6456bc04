"""The demo's verdict: trails and the error queue in, exit status out."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from local.demo.scene import GOOD, REJECTED, story
from recoverable_local.demo.orders import ORDERS
from recoverable_local.demo.story import Story, Trail
from recoverable_local.demo.verdict import EXCEPTION_TYPE, GivenUp, judge

PLACED = {order: Trail(placed=order.ends is None) for order in ORDERS}
GIVEN_UP = [GivenUp(order.body, {EXCEPTION_TYPE: order.ends}) for order in ORDERS if order.ends]
BY_THE_BROKER = GivenUp(REJECTED.body, {"DeadLetterReason": "MaxDeliveryCountExceeded"})


def of(trails: dict[object, Trail]) -> Story:
    return replace(story(), trails={order: trails[order] for order in ORDERS})


@pytest.mark.parametrize(
    ("trails", "found", "status", "said"),
    [
        (PLACED, GIVEN_UP, 0, "8 orders sent, 4 placed, 4 in the error queue, none lost."),
        (PLACED, GIVEN_UP[1:], 1, "rejected: unrecoverable: must be shop.CardDeclined, but is not in the error queue"),
        (
            PLACED,
            [*GIVEN_UP[1:], BY_THE_BROKER],
            1,
            "rejected: unrecoverable: must be shop.CardDeclined, but is without a reason",
        ),
        ({**PLACED, GOOD: Trail()}, GIVEN_UP, 1, "good: must be placed, but is not in the error queue"),
        (
            PLACED,
            [*GIVEN_UP, GivenUp(GOOD.body, {EXCEPTION_TYPE: "recoverable.UnreportedFailure"})],
            1,
            "good: must be placed, but is recoverable.UnreportedFailure",
        ),
    ],
)
def test_each_order_must_be_where_it_belongs(
    trails: dict[object, Trail], found: list[GivenUp], status: int, said: str
) -> None:
    written = StringIO()

    judged = judge(of(trails), found, Console(file=written, width=200))

    assert (judged, written.getvalue()) == (status, f"{said}\n")
