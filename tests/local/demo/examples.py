"""Define orders, message ids and histories that the demo's tests share."""

from __future__ import annotations

from collections.abc import Iterable

from recoverable_local.demo.orders import ORDERS, Order
from recoverable_local.demo.progress import Event, OrderHistory, Progress, add_event, no_progress

GOOD, FLAKY, REJECTED, DEADLY = ORDERS[0], ORDERS[1], ORDERS[3], ORDERS[6]
IDS = {f"id-{number}": order for number, order in enumerate(ORDERS, start=1)}


def progress(*events: Event) -> Progress:
    """Return the progress after these events."""
    so_far = no_progress(ORDERS)
    for event in events:
        so_far = add_event(so_far, event)
    return so_far


def history(order: Order, events: Iterable[Event]) -> OrderHistory:
    """Return the history of an order after these events."""
    return progress(*events).orders[order]
