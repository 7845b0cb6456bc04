"""Test the example function as its users would test theirs: the real handler, in virtual time."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest

import orders
from recoverable_local.testing import AnswerLost, SqsWorld


def placed(world: SqsWorld, **order: object) -> str:
    """Send an order, and let the world go on until nothing is left to do."""
    world.serve("orders", orders.handler)
    message_id = world.send("orders", {"id": 1, **order})
    world.run()
    return message_id


def attempts(world: SqsWorld, message_id: str) -> list[str]:
    return [event.detail for event in world.timeline(message_id) if event.what == "attempted"]


def test_an_order_is_placed_at_the_first_attempt(sqs_world: SqsWorld) -> None:
    order = placed(sqs_world, card="good")
    assert (attempts(sqs_world, order), sqs_world.queue("error")) == (["succeeded"], [])


@pytest.mark.parametrize(("card", "sent"), [("good", 1), ("slow-bank", 1), ("declined", 0), ("no-bank", 0)])
def test_an_order_says_once_that_it_is_placed_whatever_failed_before(
    sqs_world: SqsWorld, monkeypatch: pytest.MonkeyPatch, card: str, sent: int
) -> None:
    monkeypatch.setenv("PLACED_QUEUE", "orders-placed")
    sqs_world.create_queue("orders-placed")
    placed(sqs_world, card=card)
    assert [message.json() for message in sqs_world.queue("orders-placed")] == [{"order": 1}] * sent


def test_a_declined_card_goes_to_the_error_queue_at_once(sqs_world: SqsWorld) -> None:
    placed(sqs_world, card="declined")
    [order] = sqs_world.queue("error")
    assert (order.exception_type, order.exception_message, order.failed_queue) == (
        "shop.CardDeclined",
        "do not honour",
        "orders",
    )


def test_a_bank_that_never_answers_is_asked_24_times_in_a_minute(sqs_world: SqsWorld) -> None:
    began = sqs_world.now
    order = placed(sqs_world, card="no-bank")
    assert (len(attempts(sqs_world, order)), sqs_world.now - began) == (24, timedelta(seconds=60))


def test_an_order_that_kills_its_process_ends_in_the_error_queue(
    sqs_world: SqsWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "_exit", lambda _status: sqs_world.kill())
    placed(sqs_world, card="crash")
    assert [order.exception_type for order in sqs_world.queue("error")] == ["recoverable.UnreportedFailure"]


def test_a_lost_answer_of_the_broker_loses_no_order(sqs_world: SqsWorld) -> None:
    sqs_world.fail("send_message_batch", AnswerLost(), nth=1)
    placed(sqs_world, card="declined")
    assert {order.json()["card"] for order in sqs_world.queue("error")} == {"declined"}
