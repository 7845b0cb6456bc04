"""The demo's orders: what each shows, what is sent, and what must become of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Order:
    """One order.

    Args:
        name: What it shows.
        body: What is sent.
        ends: The exception's type under which it must lie in the error queue; None when it must be placed.
    """

    name: str
    body: str
    ends: str | None = None


def order(number: int, name: str, card: str, ends: str | None = None) -> Order:
    """An order that pays with one of the example shop's test cards."""
    return Order(name, json.dumps({"id": number, "card": card}), ends)


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


def with_bodies(bodies: Iterable[str]) -> frozenset[Order]:
    """The orders that were sent with these bodies."""
    sent = set(bodies)
    return frozenset(order for order in ORDERS if order.body in sent)


def placed_by(text: str) -> Order | None:
    """The order that the shop's own log line is about: "order 1 is placed"."""
    return next((each for each in ORDERS if text.startswith(f"order {parsed(each.body).get('id')} ")), None)


def parsed(text: str) -> Mapping[str, Any]:
    """The text as a JSON object; an empty one for whatever else it is."""
    try:
        content = json.loads(text)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}
