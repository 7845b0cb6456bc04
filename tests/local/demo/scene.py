"""What the tests of the demo share: some orders, the ids of their messages, and what becomes of one."""

from __future__ import annotations

from collections.abc import Iterable

from recoverable_local.demo.orders import ORDERS, Order
from recoverable_local.demo.story import Happening, Story, Trail, beginning, told

GOOD, FLAKY, REJECTED, DEADLY = ORDERS[0], ORDERS[1], ORDERS[3], ORDERS[6]
IDS = {f"id-{number}": order for number, order in enumerate(ORDERS, start=1)}


def story(*happenings: Happening) -> Story:
    """The story after all this."""
    so_far = beginning(ORDERS)
    for happening in happenings:
        so_far = told(so_far, happening)
    return so_far


def trail(order: Order, happenings: Iterable[Happening]) -> Trail:
    """How far an order has climbed after all this."""
    return story(*happenings).trails[order]
