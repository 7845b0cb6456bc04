"""What handlers send is seen in the worlds of both clouds, and its faults are injected there, in the same words."""

from __future__ import annotations

from typing import Any

import pytest

from builders import Boom
from outgoing.worlds import SEND, ladder
from recoverable import Message
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import (
    AnswerLost,
    Fault,
    PartlyFailed,
    Refused,
    ServiceBusWorld,
    SqsWorld,
    Throttled,
    Unreachable,
)

World = SqsWorld | ServiceBusWorld
PUBLISH = {SqsWorld: "publish_batch", ServiceBusWorld: "send_messages"}
on_both_clouds = pytest.mark.parametrize("kind", [SqsWorld, ServiceBusWorld], ids=["SQS", "Service Bus"])


def place_order(message: Message) -> None:
    message.send("invoices", f"invoice for {message.text}", attributes={"tenant": "blue"})
    message.publish("order-events", {"placed": message.text})


def serving(kind: type[World], handler: Any = place_order) -> World:
    """Return a world with a topic, two queues for what is sent, and a message for the handler."""
    world = kind()
    world.create_topic("order-events")
    world.create_subscription("order-events", "audit", forward_to="audit")
    world.create_queue("invoices")
    if isinstance(world, SqsWorld):
        world.serve("orders", SqsEndpoint(handler, ladder(1, 1)), recursive_loop="Allow")
    else:
        world.serve("orders", ServiceBusEndpoint(handler, ladder(1, 1), queue="orders", connection="X", name="orders"))
    world.send("orders", "order 1")
    return world


@on_both_clouds
def test_what_a_handler_sends_is_in_its_queue_and_in_its_topic(kind: type[World]) -> None:
    world = serving(kind)
    world.run()

    [invoice], [event], [copy] = world.queue("invoices"), world.topic("order-events"), world.queue("audit")
    assert (invoice.body, invoice.attributes["tenant"]) == ("invoice for order 1", "blue")
    assert (event.json(), event.queue, event.headers["NServiceBus.MessageIntent"]) == (
        {"placed": "order 1"},
        "order-events",
        "Publish",
    )
    assert (copy.json(), copy.id) == (event.json(), event.id)


@on_both_clouds
def test_what_a_failing_handler_sends_is_nowhere(kind: type[World]) -> None:
    def fail(message: Message) -> None:
        place_order(message)
        raise Boom

    world = serving(kind, fail)
    world.run()

    assert (world.queue("invoices"), world.topic("order-events"), len(world.queue("error"))) == ([], [], 1)


REFUSED = {SqsWorld: Refused("AuthorizationError"), ServiceBusWorld: Refused("amqp:unauthorized-access")}


@on_both_clouds
@pytest.mark.parametrize("fault", [Throttled(), Unreachable(), AnswerLost()], ids=str)
def test_a_topic_that_does_not_take_a_message_for_now_gets_it_later(kind: type[World], fault: Fault) -> None:
    world = serving(kind)
    rule = world.fail(PUBLISH[kind], fault, queue="order-events", nth=1)
    world.run()

    assert rule.hits == 1
    assert len({event.id for event in world.topic("order-events")}) == 1
    assert (world.queue("error"), world.queue("orders")) == ([], [])


@on_both_clouds
def test_a_topic_that_refuses_is_named_in_the_error_queue(kind: type[World]) -> None:
    world = serving(kind)
    world.fail(PUBLISH[kind], REFUSED[kind], queue="order-events")
    world.run()

    [failed] = world.queue("error")
    assert failed.exception_type == "recoverable.OutgoingRefused"
    assert "order-events" in str(failed.exception_message)
    assert world.topic("order-events") == []


@on_both_clouds
def test_a_queue_that_refuses_is_named_in_the_error_queue(kind: type[World]) -> None:
    world = serving(kind)
    world.fail(SEND[kind], REFUSED[kind], queue="invoices")
    world.run()

    assert [failed.exception_type for failed in world.queue("error")] == ["recoverable.OutgoingRefused"]
    assert world.queue("invoices") == []


def test_a_part_of_what_is_published_may_fail() -> None:
    world = serving(SqsWorld)
    world.fail("publish_batch", PartlyFailed(), nth=1)
    world.run()

    assert len(world.topic("order-events")) == 1


@on_both_clouds
def test_a_topic_that_was_never_made_is_an_error_of_the_test(kind: type[World]) -> None:
    with pytest.raises(LookupError, match=r"create_topic\('events'\)"):
        kind().topic("events")


def test_a_topic_that_is_missing_refuses_on_sqs_where_none_is_to_be_made() -> None:
    world = SqsWorld(create_missing=False)
    world.create_queue("error")
    world.create_queue("invoices")
    world.create_queue("orders", visibility_timeout=180)
    world.serve("orders", SqsEndpoint(place_order, ladder()))
    world.send("orders", "order 1")
    world.run()

    assert "the topic 'order-events' refused" in str(world.queue("error")[0].exception_message)


def test_a_fifo_topic_drops_what_is_published_again() -> None:
    def publish(message: Message) -> None:
        message.publish("events.fifo", "placed", group_id="a")

    world = serving(SqsWorld, publish)
    assert isinstance(world, SqsWorld)
    world.create_subscription("events.fifo", "audit", forward_to="audit.fifo")
    world.fail("publish_batch", AnswerLost(), nth=1)
    world.run()

    assert (len(world.topic("events.fifo")), len(world.queue("audit.fifo"))) == (1, 1)
