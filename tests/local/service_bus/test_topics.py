"""Test topics: each subscription with a matching filter gets a copy."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from azure.servicebus import ServiceBusMessage, ServiceBusSubQueue
from azure.servicebus.exceptions import ServiceBusError

from local.service_bus.bus import PATIENCE, Bus, bodies, text
from local.service_bus.conftest import Serve
from recoverable_local.service_bus import CorrelationFilter, Queue, Subscription, Topic, TrueFilter

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links


def publish(bus: Bus, body: str, **fields: object) -> None:
    with bus.client.get_topic_sender("events") as sender:
        sender.send_messages(ServiceBusMessage(body, **fields))  # type: ignore[arg-type]


def test_every_subscription_gets_a_copy(serve: Serve) -> None:
    bus = serve(Topic("events", (Subscription("billing"), Subscription("shipping"))))

    publish(bus, "hello")

    with bus.client.get_subscription_receiver("events", "billing") as receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
        receiver.complete_message(message)
    left = [bodies(bus.namespace.subscription("events", name).messages()) for name in ("billing", "shipping")]
    assert (text(message), left) == ("hello", [[], ["hello"]])


def test_nobody_sends_to_a_subscription(serve: Serve) -> None:
    bus = serve(Topic("events", (Subscription("billing"),)))

    with (
        pytest.raises(ServiceBusError, match="a topic's subscription; let it forward to a queue"),
        bus.client.get_queue_sender("events/Subscriptions/billing") as sender,
    ):
        sender.send_messages(ServiceBusMessage("hello"))
    assert bus.namespace.subscription("events", "billing").messages() == []


@pytest.mark.parametrize(
    ("filters", "passes"),
    [
        ((TrueFilter(),), True),
        ((CorrelationFilter(subject="placed"),), True),
        ((CorrelationFilter(subject="cancelled"),), False),
        ((CorrelationFilter(properties={"tenant": "north", "size": 3}),), True),
        ((CorrelationFilter(properties={"tenant": "south"}),), False),
        ((CorrelationFilter(properties={"absent": None}),), False),
        ((CorrelationFilter(subject="placed", properties={"tenant": "south"}),), False),
        ((CorrelationFilter(subject="cancelled"), CorrelationFilter(correlation_id="c")), True),
        ((), False),
    ],
)
def test_a_subscription_gets_what_passes_one_of_its_filters(
    serve: Serve, filters: tuple[TrueFilter | CorrelationFilter, ...], *, passes: bool
) -> None:
    bus = serve(Topic("events", (Subscription("billing", filters),)))

    publish(bus, "hello", subject="placed", correlation_id="c", application_properties={"tenant": "north", "size": 3})

    assert (bus.namespace.subscription("events", "billing").depth().active == 1) is passes


def test_a_subscription_forwards_to_an_endpoints_queue(serve: Serve) -> None:
    bus = serve(Queue("orders"), Topic("events", (Subscription("orders", forward_to="orders"),)))

    publish(bus, "hello")

    assert text(bus.receive("orders")) == "hello"


def test_a_message_scheduled_on_a_topic_reaches_subscriptions_at_its_time(serve: Serve) -> None:
    bus = serve(Topic("events", (Subscription("billing"),)))

    publish(bus, "later", scheduled_enqueue_time_utc=datetime.now(UTC) + timedelta(hours=1))

    before = bodies(bus.namespace.subscription("events", "billing").messages())
    bus.namespace.advance(timedelta(hours=2))
    assert (before, bodies(bus.namespace.subscription("events", "billing").messages())) == ([], ["later"])


def test_a_subscription_with_sessions_buries_what_has_none(serve: Serve) -> None:
    bus = serve(Topic("events", (Subscription("ordered", requires_session=True), Subscription("billing"))))

    publish(bus, "hello")

    assert bodies(bus.namespace.subscription("events", "ordered").dead_letters()) == ["hello"]
    assert bodies(bus.namespace.subscription("events", "billing").messages()) == ["hello"]


def test_a_subscription_has_sessions_and_lists_them(serve: Serve) -> None:
    bus = serve(Topic("events", (Subscription("billing", requires_session=True),)))
    publish(bus, "hello", session_id="a")

    listed = list(bus.client.list_subscription_sessions("events", "billing"))
    with bus.client.get_subscription_receiver("events", "billing", session_id="a") as receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)

    assert (listed, text(message)) == (["a"], "hello")


def test_a_subscription_has_dead_letters(serve: Serve) -> None:
    bus = serve(Topic("events", (Subscription("billing"),)))
    publish(bus, "hello")
    with bus.client.get_subscription_receiver("events", "billing") as receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
        receiver.dead_letter_message(message, reason="Rejected")

    dead = ServiceBusSubQueue.DEAD_LETTER
    with bus.client.get_subscription_receiver("events", "billing", sub_queue=dead) as receiver:
        (letter,) = receiver.receive_messages(1, max_wait_time=PATIENCE)

    assert (text(letter), letter.dead_letter_reason) == ("hello", "Rejected")


def test_nobody_receives_from_a_topic_itself(serve: Serve) -> None:
    bus = serve(Topic("events"))

    with pytest.raises(ServiceBusError, match="Nobody receives from 'events'"):
        bus.receive("events")


def test_a_filter_that_names_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"or TrueFilter\(\)"):
        CorrelationFilter()
