"""Test the example app as its users would test theirs: the real `function_app.app`, in virtual time, as host.json has it run."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path
from runpy import run_path

import azure.functions as func
import pytest

from recoverable_local.testing import AnswerLost, ServiceBusWorld

ROOT = Path(__file__).parents[3]
APP: func.FunctionApp = run_path(str(ROOT / "function_app.py"))["app"]
CONCURRENCY: int = json.loads((ROOT / "host.json").read_text())["extensions"]["serviceBus"]["maxConcurrentCalls"]


def placed(world: ServiceBusWorld, *cards: str) -> list[str]:
    """Send orders, and let the world go on until nothing is left to do."""
    world.serve("orders", APP, concurrency=CONCURRENCY)
    ids = [world.send("orders", {"id": number, "card": card}) for number, card in enumerate(cards)]
    world.run()
    return ids


def attempts(world: ServiceBusWorld, message_id: str) -> list[str]:
    return [event.detail for event in world.timeline(message_id) if event.what == "attempted"]


def test_an_order_is_placed_at_the_first_attempt(service_bus_world: ServiceBusWorld) -> None:
    [order] = placed(service_bus_world, "good")

    assert (attempts(service_bus_world, order), service_bus_world.queue("error")) == (["succeeded"], [])


@pytest.mark.parametrize(("card", "sent"), [("good", 1), ("slow-bank", 1), ("declined", 0), ("no-bank", 0)])
def test_an_order_says_once_that_it_is_placed_whatever_failed_before(
    service_bus_world: ServiceBusWorld, monkeypatch: pytest.MonkeyPatch, card: str, sent: int
) -> None:
    monkeypatch.setenv("PLACED_QUEUE", "orders-placed")
    service_bus_world.create_queue("orders-placed")

    placed(service_bus_world, card)

    assert [message.json() for message in service_bus_world.queue("orders-placed")] == [{"order": 0}] * sent


def test_a_declined_card_goes_to_the_error_queue_at_once(service_bus_world: ServiceBusWorld) -> None:
    placed(service_bus_world, "declined")

    [order] = service_bus_world.queue("error")
    assert (order.exception_type, order.exception_message, order.failed_queue) == (
        "shop.CardDeclined", "do not honour", "orders",
    )  # fmt: skip


def test_a_bank_that_never_answers_is_asked_24_times_in_a_minute(service_bus_world: ServiceBusWorld) -> None:
    began = service_bus_world.now

    [order] = placed(service_bus_world, "no-bank")

    assert (len(attempts(service_bus_world, order)), service_bus_world.now - began) == (24, timedelta(seconds=60))


def test_an_order_that_kills_its_process_ends_in_the_error_queue_and_its_neighbours_are_placed(
    service_bus_world: ServiceBusWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "_exit", lambda _status: service_bus_world.kill())

    placed(service_bus_world, "good", "crash", "good", "good")

    given_up = [order.exception_type for order in service_bus_world.queue("error")]
    assert (given_up, service_bus_world.queue("orders")) == (["recoverable.UnreportedFailure"], [])


def test_a_lost_answer_of_the_broker_loses_no_order(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.fail("send_messages", AnswerLost(), nth=1)

    placed(service_bus_world, "declined")

    assert {order.json()["card"] for order in service_bus_world.queue("error")} == {"declined"}
