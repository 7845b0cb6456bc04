"""Define the demo's orders, and where each must end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Order:
    """One order.

    Args:
        name: A short description of what it demonstrates.
        body: The body of its message.
        expected_error: The exception type that it must have in the error queue; None if it must be placed.
    """

    name: str
    body: str
    expected_error: str | None = None


def order(number: int, name: str, card: str, expected_error: str | None = None) -> Order:
    """Create an order that is paid with one of the example shop's test cards."""
    return Order(name, json.dumps({"id": number, "card": card}), expected_error)


DEADLY = order(7, "deadly: kills its process", "crash", "recoverable.UnreportedFailure")
NEIGHBOUR = order(8, "good, beside the deadly one", "visa")

ORDERS = (
    order(1, "good", "visa"),
    order(2, "flaky: fails twice", "flaky-bank"),
    order(3, "slow: fails until a delayed retry", "slow-bank"),
    order(4, "rejected: unrecoverable", "declined", "shop.CardDeclined"),
    Order("unreadable: no JSON", "<order>5</order>", "recoverable.MessageDeserializationError"),
    order(6, "hopeless: always fails", "no-bank", "shop.BankUnreachable"),
    DEADLY,
    NEIGHBOUR,
)


def orders_with_bodies(bodies: Iterable[str]) -> frozenset[Order]:
    """Return the orders that have these bodies."""
    sent = set(bodies)
    return frozenset(order for order in ORDERS if order.body in sent)


def order_in_log_line(text: str) -> Order | None:
    """Return the order that a log line of the shop is about, such as "order 1 is placed"; None if it is about none."""
    return next((each for each in ORDERS if text.startswith(f"order {parse_object(each.body).get('id')} ")), None)


def parse_object(text: str) -> Mapping[str, Any]:
    """Parse a text as a JSON object. Return an empty one if it is none."""
    try:
        content = json.loads(text)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}
