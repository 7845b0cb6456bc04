"""Define orders, message ids and histories that the demo's tests share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from recoverable import Facts
from recoverable_local.demo.orders import ORDERS, Order
from recoverable_local.demo.progress import Event, OrderHistory, Progress, add_event, no_progress

GOOD, FLAKY, REJECTED, DEADLY = ORDERS[0], ORDERS[1], ORDERS[3], ORDERS[6]
IDS = {f"id-{number}": order for number, order in enumerate(ORDERS, start=1)}


def facts(action: Any, order: Order, **more: Any) -> Facts:
    """Return what an endpoint decided about an order; a failure, where that is no success."""
    failed = {} if action == "complete" else {"exception_type": "shop.BankUnreachable"}
    given = {"message_id": next(name for name, each in IDS.items() if each == order), **failed, **more}
    return Facts(**{"queue": "orders", "attempt": 1, "round": 0, "action": action, **given})


def progress(*events: Event) -> Progress:
    """Return the progress after these events."""
    so_far = no_progress(ORDERS)
    for event in events:
        so_far = add_event(so_far, event)
    return so_far


def history(order: Order, events: Iterable[Event]) -> OrderHistory:
    """Return the history of an order after these events."""
    return progress(*events).orders[order]
