"""List mistakes with what handlers send that the package does not make on Service Bus, and the promise that each breaks."""

from __future__ import annotations

from typing import Any

from azure.servicebus import ServiceBusMessage

from proof.mistakes import Mutation
from proof.sqs.outgoing_mutations import by_place, completed, with_the_time
from recoverable import Message
from recoverable._message import received
from recoverable._outgoing.message import Outgoing
from recoverable._outgoing.outbox import Outbox
from recoverable.azure._copies import broker_id
from recoverable.azure._outgoing import send_rest
from recoverable.hosting import current_environment

add = Outbox.add


def add_and_send(outbox: Outbox, outgoing: Outgoing) -> None:
    """Send at once, as the SDK does."""
    add(outbox, outgoing)
    copy, environment = outbox.entries.pop().copy, current_environment.get()
    assert environment is not None
    environment.client.client.get_queue_sender(copy.to).send_messages(ServiceBusMessage(**copy.fields))


def take_for_sent(*unsent: Any) -> None:
    """Complete a message whatever became of what its handler sent."""
    send_rest(*unsent)


def of_this_copy(_: object, message: Message) -> str:
    """Name what is sent after the copy that the handler works on."""
    return broker_id(received(message))


MUTATIONS = (
    Mutation("bus: sent at once", "_outgoing.outbox.Outbox.add", add_and_send, "bus: sending and failing", "GHOST"),
    Mutation("bus: taken for sent", "azure._outgoing.send_rest", take_for_sent, "bus: sending to who is busy", "MISSING"),
    Mutation("bus: completed though unsent", "azure._outgoing.settle_unsent", completed, "bus: sending to who is busy", "MISSING"),
    Mutation("bus: named by their places", "_outgoing.outbox.content_of", by_place, "bus: sending", "IDENTITY"),
    Mutation("bus: named anew each time", "_outgoing.outbox.content_of", with_the_time, "bus: sending", "IDENTITY"),
    Mutation("bus: named after the copy", "azure._outgoing.ServiceBusSender.origin_of", of_this_copy, "bus: sending", "IDENTITY"),
)  # fmt: skip
