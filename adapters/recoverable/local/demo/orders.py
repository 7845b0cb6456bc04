"""The demo's orders: what each shows, what is sent, and what must become of it."""

from __future__ import annotations

import json
from dataclasses import dataclass


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


ORDERS = (
    order(1, "good", "visa"),
    order(2, "flaky: fails twice", "flaky-bank"),
    order(3, "slow: fails until a delayed retry", "slow-bank"),
    order(4, "rejected: unrecoverable", "declined", "shop.CardDeclined"),
    Order("unreadable: no JSON", "<order>5</order>", "recoverable.MessageDeserializationError"),
    order(6, "hopeless: always fails", "no-bank", "shop.BankUnreachable"),
    order(7, "deadly: kills its process", "crash", "recoverable.UnreportedFailure"),
    order(8, "good, beside the deadly one", "visa"),
)
