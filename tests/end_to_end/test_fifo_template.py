"""The FIFO template of the example shop at work, in AWS's own runtime client and against a real SQS server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deadlines import WHOLE_RUN
from recoverable_local.lambda_host import Entry, Invoked, LocalAws, QueuedMessage

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("end_to_end")]

TEMPLATE = Path(__file__).parents[2] / "functions" / "aws" / "fifo" / "template.yaml"
ORDERS = [("ann", "good"), ("ann", "no-bank"), ("ann", "declined"), ("ann", "good"), ("bob", "good"), ("bob", "good")]
"""Customers and the cards of their orders, as they were sent; "no-bank" gets all four attempts."""


def delivered(entries: list[Entry]) -> list[tuple[str, int]]:
    """Return the customer and number of each order that the function got, in order."""
    records = [record for entry in entries if isinstance(entry, Invoked) for record in entry.records]
    return [(record["attributes"]["MessageGroupId"], json.loads(record["body"])["id"]) for record in records]


def reason(message: QueuedMessage) -> str:
    """Return the type of the exception for which a message was given up."""
    return message.headers["NServiceBus.ExceptionInfo.ExceptionType"]


def test_each_customers_orders_are_placed_in_their_order_and_what_fails_is_given_up_with_its_reason() -> None:
    seen = list[Entry]()
    environment = {
        "RECOVERABLE_IMMEDIATE_RETRIES": "1",
        "RECOVERABLE_DELAYED_RETRIES": "1",
        "RECOVERABLE_TIME_INCREASE": "1s",
    }
    with LocalAws.from_template(TEMPLATE, observe=seen.append, environment=environment) as host:
        for number, (customer, card) in enumerate(ORDERS):
            host.send("orders.fifo", {"id": number, "card": card}, group_id=customer)
        host.run_until(lambda: host.queue("orders.fifo").depth().total == 0, deadline=WHOLE_RUN)
        given_up = {json.loads(each.body)["id"]: reason(each) for each in host.queue("orders-error.fifo").messages()}
        placed = [each.json()["order"] for each in host.queue("orders-placed.fifo").messages()]

    got = delivered(seen)
    assert [number for customer, number in got if customer == "ann"] == [0, *[1] * 4, 2, 3]
    assert [number for customer, number in got if customer == "bob"] == [4, 5]
    assert given_up == {1: "shop.BankUnreachable", 2: "shop.CardDeclined"}
    assert ([n for n in placed if n < 4], [n for n in placed if n >= 4]) == ([0, 3], [4, 5])  # Bob's begin there
