"""The queues of main.bicep: the numbers without which messages are lost or come too often, held against the ladder and host.json."""

from __future__ import annotations

from datetime import timedelta

import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage

from infra.azure.bicep import Deployment
from infra.azure.durations import FOREVER, clock, iso
from infra.azure.host_json import HOST
from infra.azure.namespace import namespace, queues

DEPLOYED = Deployment()
ORDERS, ERRORS = DEPLOYED.properties("ordersQueue"), DEPLOYED.properties("errorQueue")


def test_the_namespace_can_schedule_and_forward() -> None:
    assert DEPLOYED.config("serviceBus")["sku"] == {"name": "Standard", "tier": "Standard"}


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


def test_a_copy_made_twice_is_taken_once() -> None:
    """It is made again at the latest when a function has run to its time-out, without its lock being renewed, and the lock is over."""
    window = iso(ORDERS["duplicateDetectionHistoryTimeWindow"])

    assert ORDERS["requiresDuplicateDetection"] is True
    assert window > clock(HOST["functionTimeout"]) + iso(ORDERS["lockDuration"])


@pytest.mark.parametrize("queue", ["ordersQueue", "errorQueue"])
def test_a_lock_is_one_that_service_bus_gives(queue: str) -> None:
    assert iso(DEPLOYED.properties(queue)["lockDuration"]) <= timedelta(minutes=5)


def test_the_emulator_takes_the_same_queues() -> None:
    assert [queue.name for queue in queues(DEPLOYED)] == ["orders", "orders-error"]
