"""Check that a send is accepted whole, or refused with the SDK's error."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from azure.servicebus import ServiceBusMessage

from local.testing.azure.contract.servers import MINUTE, Server, bodies
from local.testing.azure.full_message import FIELDS, PROPERTIES

KIB = 1024
SOON = timedelta(minutes=5)


def test_a_message_arrives_as_it_was_sent(server: Server) -> None:
    queue = server.queue()
    server.send(queue, b"\x00\xff", application_properties=dict(PROPERTIES), **FIELDS)
    [message] = server.next(server.receiver(queue))
    assert b"".join(message.body) == b"\x00\xff"
    assert {name: getattr(message, name) for name in FIELDS} == FIELDS
    assert message.application_properties == {
        b"text": "ä€".encode(),
        b"whole": 7,
        b"broken": 0.5,
        b"sure": True,
        b"id": UUID(int=1),
        b"large": 2**40,
    }


def test_messages_come_in_the_order_of_their_sends(server: Server) -> None:
    queue = server.queue()
    server.send(queue, "a")
    server.send(queue, "b", "c")
    messages = server.next(server.receiver(queue), 3)
    assert bodies(messages) == ["a", "b", "c"]
    assert [message.sequence_number for message in messages] == [1, 2, 3]


def test_a_message_without_an_id_is_given_one(server: Server) -> None:
    queue = server.queue()
    server.send(queue, "a")
    [message] = server.next(server.receiver(queue))
    assert message.message_id


def test_a_scheduled_message_comes_when_it_is_due_with_a_new_number(server: Server) -> None:
    queue, receiver = server.queue(), None
    server.send(queue, "later", scheduled_enqueue_time_utc=far(server, SOON))
    receiver = server.receiver(queue)
    early = server.nothing_comes(receiver)
    server.wait(SOON + MINUTE)
    [message] = server.next(receiver)
    assert (early, str(message), message.sequence_number) == (True, "later", 2)


def test_a_message_scheduled_for_the_past_comes_at_once(server: Server) -> None:
    queue = server.queue()
    server.send(queue, "now", scheduled_enqueue_time_utc=datetime(2020, 1, 1, tzinfo=UTC))
    assert bodies(server.next(server.receiver(queue))) == ["now"]


def test_a_scheduled_message_can_be_cancelled_by_its_number(server: Server) -> None:
    queue = server.queue()
    sender = server.client.get_queue_sender(queue)
    [number] = sender.schedule_messages(ServiceBusMessage("later"), far(server, SOON))
    sender.cancel_scheduled_messages(number)
    server.wait(SOON + MINUTE)
    assert server.nothing_comes(server.receiver(queue))
    assert server.refusal(sender.cancel_scheduled_messages, number) == "MessageNotFoundError"


def test_an_id_is_taken_once_within_the_window_of_duplicates(server: Server) -> None:
    queue = server.queue("unique")
    for body in ("first", "second"):
        server.send(queue, body, message_id="m1")
    receiver = server.receiver(queue)
    first = server.next(receiver)
    receiver.complete_message(first[0])
    again = server.nothing_comes(receiver)
    server.wait(6 * MINUTE)
    server.send(queue, "third", message_id="m1")
    assert (bodies(first), again, bodies(server.next(receiver))) == (["first"], True, ["third"])


def test_a_queue_that_forwards_keeps_nothing(server: Server) -> None:
    queue = server.queue("forwarding")
    server.send(queue, "x", correlation_id="c1")
    [message] = server.next(server.receiver(f"{queue}-target"))
    assert (str(message), message.correlation_id) == ("x", "c1")


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a body of more than 256 KiB": ({"body": "x" * 256 * KIB}, "MessageSizeExceededError"),
    "a property of more than 32 KiB": ({"application_properties": {"p": "x" * 33 * KIB}}, "ServiceBusError"),
    "properties of more than 64 KiB": (
        {"application_properties": {f"p{n}": "x" * 30 * KIB for n in range(3)}},
        "ServiceBusError",
    ),
    "a number of 33 bits": ({"application_properties": {"p": 2**32}}, "ServiceBusError"),
    "an id of 128 characters": ({"message_id": "x" * 128}, "taken"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_message_is_refused_that_has(server: Server, case: str) -> None:
    fields, error = REFUSED[case]
    sender = server.client.get_queue_sender(server.queue())
    answer = server.refusal(lambda: sender.send_messages(ServiceBusMessage(**{"body": "x", **fields})))
    assert answer == error


def test_a_larger_queue_takes_larger_messages(server: Server) -> None:
    queue = server.queue("large")
    server.send(queue, "x" * 512 * KIB)
    [message] = server.next(server.receiver(queue))
    assert len(str(message)) == 512 * KIB


def test_a_list_that_is_too_large_for_one_batch_is_refused_whole(server: Server) -> None:
    queue = server.queue()
    sender = server.client.get_queue_sender(queue)
    many = [ServiceBusMessage("x" * 100 * KIB) for _ in range(3)]
    assert server.refusal(sender.send_messages, many) == "MessageSizeExceededError"
    assert server.nothing_comes(server.receiver(queue))


def test_a_batch_has_room_until_it_is_full(server: Server) -> None:
    queue = server.queue()
    sender = server.client.get_queue_sender(queue)
    batch = sender.create_message_batch()
    for _ in range(2):
        batch.add_message(ServiceBusMessage("x" * 100 * KIB))
    refused = server.refusal(batch.add_message, ServiceBusMessage("x" * 100 * KIB))
    sender.send_messages(batch)
    assert (refused, len(server.next(server.receiver(queue), 2))) == ("MessageSizeExceededError", 2)


def test_one_message_that_breaks_a_rule_stops_its_batch(server: Server) -> None:
    queue = server.queue()
    good, bad = ServiceBusMessage("a"), ServiceBusMessage("b", application_properties={"p": "x" * 33 * KIB})
    assert server.refusal(server.client.get_queue_sender(queue).send_messages, [good, bad]) == "ServiceBusError"
    assert server.nothing_comes(server.receiver(queue))


def test_a_queue_that_is_missing_is_not_found(server: Server) -> None:
    def send() -> None:
        server.send("nowhere", "x")

    assert server.refusal(send) in ("MessagingEntityNotFoundError", "ServiceBusAuthenticationError")


def far(server: Server, time: timedelta) -> datetime:
    """Return the time that is this much after the server's now."""
    queue = server.queue()
    server.send(queue, "what time is it?")
    [message] = server.client.get_queue_receiver(queue).peek_messages()
    enqueued = message.enqueued_time_utc
    assert enqueued is not None
    return enqueued + time
