"""The reason is on the message: what a process remembers of its last failure, where a later delivery moves it to the error queue; in virtual time."""

from __future__ import annotations

from datetime import timedelta

from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable._ladder.faults import EXCEPTION_MESSAGE
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import Refused, ServiceBusWorld

LADDER = Recoverability(Immediate(0), Delayed(0), Failed("errors"))


def decline(_message: Message) -> None:
    raise ValueError("do not honour")


def reasons(world: ServiceBusWorld, *, instances: int = 1) -> list[tuple[str | None, str | None]]:
    """Return type and text of the failure of a message whose namespace took no copies for half an hour."""
    world.serve("orders", ServiceBusEndpoint(decline, LADDER, queue="orders", connection="c"), instances=instances)
    world.fail("send_messages", Refused("amqp:unauthorized-access"), during=timedelta(minutes=30))
    world.send("orders", "hello")
    world.run()
    return [(seen.exception_type, seen.headers.get(EXCEPTION_MESSAGE)) for seen in world.queue("errors")]


def test_a_message_of_which_no_queue_took_a_copy_arrives_with_its_failure(service_bus_world: ServiceBusWorld) -> None:
    assert reasons(service_bus_world) == [("ValueError", "do not honour")]
