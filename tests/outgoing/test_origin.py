"""What a handler sends has one id, whichever copy of its message it works on: each copy says what the first original was."""

from __future__ import annotations

from typing import Any

import pytest

from azure.endpoints import ended, endpoint
from azure.recording import RecordingClient
from azure.triggers import trigger_message, trigger_messages
from builders import NOW, Boom, seconds
from outgoing.worlds import SEND, Serve, sent_ids, service_bus_world, sqs_world
from recoverable import Message
from recoverable_local.testing import AnswerLost

on_both_clouds = pytest.mark.parametrize("serve", [sqs_world, service_bus_world], ids=["SQS", "Service Bus"])


class Billing:
    """A handler that sends, but for its first attempts, which fail before they do.

    Args:
        failures: how many.
        queues: where it sends an invoice each.
    """

    def __init__(self, *queues: str, failures: int = 0) -> None:
        self.queues, self.failures, self.attempts = queues or ("invoices",), failures, 0

    def __call__(self, message: Message) -> None:
        self.attempts += 1
        if self.attempts <= self.failures:
            raise Boom
        for queue in self.queues:
            message.send(queue, f"invoice for {message.text}")


@on_both_clouds
def test_two_copies_of_a_message_that_failed_before_it_sent_anything_send_under_one_id(serve: Serve) -> None:
    world = serve(Billing(failures=1), delayed=1)
    world.create_queue("invoices")
    world.fail(SEND[type(world)], AnswerLost(), nth=1, queue="orders")
    world.run()

    first, *repeated = sent_ids(world)
    assert (set(repeated), world.queue("orders"), world.queue("error")) == ({first}, [], [])


@pytest.mark.parametrize("batch", [False, True], ids=["one message", "a batch"])
def test_on_service_bus_two_messages_of_one_number_send_under_two_ids(*, batch: bool) -> None:
    before, anew, again = (
        ids_on_service_bus(SequenceNumber=1, EnqueuedTimeUtc=at, batch=batch) for at in (NOW, NOW + seconds(1), NOW)
    )

    assert (before == again, before == anew) == (True, False)


def test_on_service_bus_one_message_sends_under_one_id_alone_and_in_a_batch() -> None:
    taken: dict[str, Any] = {"SequenceNumber": 7, "EnqueuedTimeUtc": NOW}

    assert ids_on_service_bus(**taken, batch=False) == ids_on_service_bus(**taken, batch=True)


def test_on_service_bus_a_copy_sends_as_its_original_said_before() -> None:
    original = {"Recoverable.Origin": "42"}
    first, second = (ids_on_service_bus(SequenceNumber=number, properties=original, batch=False) for number in (1, 2))

    assert first == second


def ids_on_service_bus(*, batch: bool, properties: dict[str, str] | None = None, **taken: Any) -> list[str | None]:
    """Return the ids under which a message with these facts of the broker's sends."""
    client, billing = RecordingClient(), Billing()
    message: dict[str, Any] = {**taken, "properties": properties or {}}
    trigger = trigger_messages(message, message) if batch else trigger_message(**message)
    ended(endpoint(billing, client=client, batch=batch), trigger)
    return [sent.message_id for _, sent in client.sent][:1]


@on_both_clouds
def test_what_is_sent_back_from_the_error_queue_sends_under_the_ids_of_before(serve: Serve) -> None:
    world = serve(Billing("invoices", "missing"))
    world.create_queue("invoices")
    world.run()
    world.create_queue("missing")
    world.redrive("error", allow=["orders"])
    world.run()

    first, second = sent_ids(world)
    assert (first, len(sent_ids(world, "missing")), world.queue("error")) == (second, 1, [])
