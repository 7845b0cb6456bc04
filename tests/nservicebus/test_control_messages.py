"""A control message of NServiceBus reaches no handler: it moves to the error queue at once, and says what it is."""

from __future__ import annotations

from typing import Any

import pytest

from aws.shapes import CONTROL, wrapped
from builders import recoverability
from nservicebus.worlds import Serve, send, service_bus_world, sqs_world
from recoverable import Discard, Message
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import SqsWorld

SUBSCRIBE = {CONTROL: "True", "NServiceBus.MessageIntent": "Subscribe", "NServiceBus.MessageId": "7"}
REASON = (
    "a control message of NServiceBus (intent Subscribe) is for no handler; have its sender know that '{}' is no endpoint of "
    "NServiceBus, and delete the message"
)

on_both_clouds = pytest.mark.parametrize("serve", [sqs_world, service_bus_world], ids=["SQS", "Service Bus"])


@on_both_clouds
def test_it_moves_to_the_error_queue_at_once_and_says_what_it_is(serve: Serve) -> None:
    handled: list[Message] = []
    world = serve(handled.append, recoverability())
    send(world, SUBSCRIBE, "empty message")
    world.run(for_=0)

    [failed] = world.queue("orders-error")
    assert (handled, failed.id, failed.exception_message) == ([], "7", REASON.format("orders"))
    assert failed.exception_type == "recoverable.MessageDeserializationError"


@on_both_clouds
@pytest.mark.parametrize("says", ["False", "true", ""])
def test_a_message_that_says_anything_else_there_is_handled(serve: Serve, says: str) -> None:
    handled: list[Message] = []
    world = serve(handled.append, recoverability())
    send(world, {**SUBSCRIBE, CONTROL: says})
    world.run(for_=0)

    assert (len(handled), world.queue("orders-error")) == (1, [])


@pytest.mark.parametrize("queue", ["orders", "orders.fifo"])
def test_it_does_so_out_of_nservicebus_s_wrapper_and_beside_others(queue: str) -> None:
    handled: list[str] = []
    world = SqsWorld()
    world.serve(queue, SqsEndpoint(lambda message: handled.append(message.text), recoverability()))
    for number, body in enumerate(("before", wrapped(SUBSCRIBE, "empty message"), "after")):
        group: dict[str, Any] = {"group_id": "a", "deduplication_id": str(number)} if queue.endswith("fifo") else {}
        world.send(queue, body, **group)
    world.run(for_=0)

    [failed] = world.queue("orders-error")
    assert (sorted(handled), failed.exception_message) == (["after", "before"], REASON.format(queue))


def test_a_policy_may_discard_it() -> None:
    handled: list[Message] = []
    world = sqs_world(handled.append, recoverability(policy=lambda _settings, _context: Discard("not for us")))
    send(world, SUBSCRIBE)
    world.run(for_=0)

    assert (handled, world.queue("orders"), world.queue("orders-error")) == ([], [], [])
