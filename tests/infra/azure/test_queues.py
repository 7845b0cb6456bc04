"""The queues of main.bicep: the numbers without which messages are lost or come too often, held against the ladder and host.json."""

from __future__ import annotations

import json
from datetime import timedelta
from runpy import run_path
from typing import Any

import azure.functions as func
import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage

from infra.azure.bicep import ROOT, Deployment
from infra.azure.durations import FOREVER, clock, iso
from infra.azure.host_json import HOST
from infra.azure.namespace import namespace, queues, topics

DEPLOYED = Deployment()
ORDERS, ERRORS = DEPLOYED.properties("ordersQueue"), DEPLOYED.properties("errorQueue")


@pytest.mark.parametrize(
    ("parameters", "sku", "sizes"),
    [
        ({}, {"name": "Standard", "tier": "Standard", "capacity": None}, [None] * 3),
        (
            {"serviceBusTier": "Premium", "messagingUnits": 2, "maxMessageKilobytes": 2048},
            {"name": "Premium", "tier": "Premium", "capacity": 2},
            [2048, 2048, 102400],
        ),
    ],
    ids=["Standard", "Premium"],
)
def test_only_premium_has_messaging_units_and_takes_larger_messages(
    parameters: dict[str, Any], sku: dict[str, Any], sizes: list[int | None]
) -> None:
    deployed = Deployment(parameters)
    largest = [
        deployed.properties(each)["maxMessageSizeInKilobytes"] for each in ("ordersQueue", "eventsTopic", "errorQueue")
    ]

    assert (deployed.config("serviceBus")["sku"], largest) == (sku, sizes)


def test_every_tier_that_is_allowed_can_schedule_and_forward() -> None:
    assert DEPLOYED.bounds("serviceBusTier") == ["Standard", "Premium"]


def test_a_topic_is_one_that_is_asked_for() -> None:
    named, without = Deployment({"topicName": "sales"}), Deployment({"topicName": ""})

    assert [topic.name for topic in topics(named)] == ["sales"]
    assert DEPLOYED.resources.keys() - without.resources.keys() == {"eventsTopic", "ordersSubscription"}


def test_an_event_comes_to_the_queue_and_stays_nowhere_else() -> None:
    with (
        namespace(DEPLOYED) as running,
        ServiceBusClient.from_connection_string(running.connection_string) as client,
        client.get_topic_sender("shop-events", keep_alive=0) as sender,
    ):
        sender.send_messages(ServiceBusMessage("order 42"))
        came = [each.body for each in running.queue("orders").messages()]
        stayed = running.subscription("shop-events", "orders").messages()

    assert (came, stayed) == ([b"order 42"], [])


def test_service_bus_gives_up_later_than_the_ladder_may() -> None:
    most = max(DEPLOYED.bounds("immediateRetries"))

    assert (ORDERS["maxDeliveryCount"], ORDERS["maxDeliveryCount"] >= most + 6) == (100, True)


@pytest.mark.parametrize("entity", ["ordersQueue", "ordersSubscription"])
def test_what_dies_in_the_host_ends_in_the_error_queue_too(entity: str) -> None:
    properties = DEPLOYED.properties(entity)

    assert (properties["forwardDeadLetteredMessagesTo"], properties["deadLetteringOnMessageExpiration"]) == (
        "orders-error",
        True,
    )


STAMPED = Deployment({"stampDeadLetters": True})


@pytest.mark.parametrize("entity", ["ordersQueue", "ordersSubscription"])
def test_dead_letters_come_to_the_error_queue_by_the_stamp_and_without_it_as_they_are(entity: str) -> None:
    ways = [STAMPED.properties(each)["forwardDeadLetteredMessagesTo"] for each in (entity, "deadLetterQueue")]

    assert ways == ["orders-dead", "orders-error"]


def test_the_app_stamps_what_is_in_the_dead_letter_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RECOVERABLE_ERROR_QUEUE", "DEAD_LETTER_QUEUE"):
        monkeypatch.setenv(name, STAMPED.properties("settings")[name])
    app = func.FunctionApp()
    app.register_functions(run_path(str(ROOT / "functions" / "azure" / "stamping.py"))["dead_letters"])

    [function] = app.get_functions()
    [binding] = json.loads(function.get_function_json())["bindings"]
    assert (binding["queueName"], binding["connection"], binding["cardinality"]) == ("orders-dead", "ServiceBus", "ONE")


def test_the_topics_subscription_forwards_to_the_queue() -> None:
    subscription = DEPLOYED.config("ordersSubscription")

    assert (subscription["parent"], subscription["properties"]["forwardTo"]) == ("eventsTopic", "orders")


def test_nothing_expires_while_nobody_looks() -> None:
    lives = [
        DEPLOYED.properties(name)["defaultMessageTimeToLive"] for name in ("ordersQueue", "errorQueue", "eventsTopic")
    ]

    assert lives == [FOREVER] * 3


def test_an_order_with_a_time_to_live_is_never_dropped() -> None:
    with (
        namespace(DEPLOYED) as running,
        ServiceBusClient.from_connection_string(running.connection_string) as client,
        client.get_queue_sender("orders", keep_alive=0) as sender,
    ):
        sender.send_messages(ServiceBusMessage("order 42", time_to_live=timedelta(minutes=1)))
        for _ in range(2):
            running.advance(timedelta(minutes=2))
        kept = running.queue("orders-error").dead_letters()

    assert [(each.body, each.application_properties["DeadLetterReason"]) for each in kept] == [
        (b"order 42", "TTLExpiredException")
    ]


def test_looking_sends_nothing_out_of_the_error_queue() -> None:
    assert (ERRORS["maxDeliveryCount"], "forwardTo" in ERRORS, "forwardDeadLetteredMessagesTo" in ERRORS) == (
        2000,
        False,
        False,
    )


def test_a_dead_letter_that_comes_again_is_no_duplicate() -> None:
    assert ERRORS["requiresDuplicateDetection"] is False


def test_what_the_handler_sends_twice_is_taken_once_and_never_fills_its_queue() -> None:
    placed = DEPLOYED.properties("placedQueue")

    assert iso(placed["duplicateDetectionHistoryTimeWindow"]) == iso(ORDERS["duplicateDetectionHistoryTimeWindow"])
    assert (placed["requiresDuplicateDetection"], iso(placed["defaultMessageTimeToLive"])) == (True, timedelta(days=14))


def test_a_copy_made_twice_is_taken_once() -> None:
    """It is made again at the latest when a function has run to its time-out, without its lock being renewed, and the lock is over."""
    window = iso(ORDERS["duplicateDetectionHistoryTimeWindow"])

    assert ORDERS["requiresDuplicateDetection"] is True
    assert window > clock(HOST["functionTimeout"]) + iso(ORDERS["lockDuration"])


@pytest.mark.parametrize("queue", ["ordersQueue", "errorQueue"])
def test_a_lock_is_one_that_service_bus_gives(queue: str) -> None:
    assert iso(DEPLOYED.properties(queue)["lockDuration"]) <= timedelta(minutes=5)


def test_the_emulator_takes_the_same_queues() -> None:
    assert [queue.name for queue in queues(DEPLOYED)] == ["orders", "orders-error", "orders-placed"]
