"""What a handler sends on Service Bus: it leaves when the attempt has succeeded, and before its message is completed."""

from __future__ import annotations

from typing import Any

import pytest

from azure.endpoints import ended, endpoint
from azure.namespace import Bus
from azure.recording import RecordingClient, properties
from azure.triggers import trigger_message, trigger_messages
from builders import ERROR_QUEUE, QUEUE, Boom, recoverability, seconds
from recoverable import Message
from recoverable.azure import ServiceBusEndpoint
from recoverable.azure.process_client import client_for

INVOICES = "orders-brief"
"""A queue of the emulated namespace that handlers send to."""


class Billing:
    """A handler that sends, and then fails so often."""

    def __init__(self, failures: int = 0, to: str = INVOICES) -> None:
        self.failures, self.to, self.attempts = failures, to, 0

    def __call__(self, message: Message) -> None:
        self.attempts += 1
        message.send(self.to, f"invoice for {message.text}")
        if self.attempts <= self.failures:
            raise Boom


def serving(handler: Any, immediate: int = 0, delayed: int = 0, **parts: Any) -> ServiceBusEndpoint[Any]:
    """Return an endpoint of the emulated namespace."""
    settings = recoverability(immediate, delayed, time_increase=seconds(0), error_queue=ERROR_QUEUE)
    return ServiceBusEndpoint(handler, settings, queue=QUEUE, connection="ServiceBus", name="orders", **parts)


def invoices(bus: Bus) -> list[str]:
    """Return the bodies of what was sent."""
    return sorted(seen.body.decode() for seen in bus.seen(INVOICES))


@pytest.mark.parametrize("batch", [False, True], ids=["one message", "a batch"])
def test_a_ladder_of_which_the_last_attempt_succeeds_sends_once(bus: Bus, *, batch: bool) -> None:
    billing = Billing(failures=5)
    bus.send("order 1")

    bus.serve(serving(billing, immediate=2, delayed=1, batch=batch), lambda: invoices(bus), batch=batch)

    assert (billing.attempts, invoices(bus), bus.seen(ERROR_QUEUE)) == (6, ["invoice for order 1"], [])


def test_a_ladder_of_attempts_that_fail_sends_nothing(bus: Bus) -> None:
    billing = Billing(failures=6)
    bus.send("order 1")

    bus.serve(serving(billing, immediate=2, delayed=1), lambda: bus.seen(ERROR_QUEUE))

    assert (billing.attempts, invoices(bus)) == (6, [])


def test_a_send_to_a_queue_that_does_not_exist_is_a_failed_attempt(bus: Bus) -> None:
    bus.send("order 1")

    bus.serve(serving(Billing(to="no-such-queue")), lambda: bus.seen(ERROR_QUEUE))

    [failed] = bus.seen(ERROR_QUEUE)
    assert failed.application_properties["NServiceBus.ExceptionInfo.ExceptionType"] == "recoverable.OutgoingRefused"
    assert (
        "'no-such-queue' refused an outgoing message"
        in failed.application_properties["NServiceBus.ExceptionInfo.Message"]
    )


async def bill_async(message: Message) -> None:
    message.send(INVOICES, message.text)


def test_a_coroutine_sends_too() -> None:
    client = RecordingClient()

    assert ended(endpoint(bill_async, client=client), trigger_message(b"order 1")) is None
    assert [(queue, properties(sent)["NServiceBus.MessageIntent"]) for queue, sent in client.sent] == [
        (INVOICES, "Send")
    ]


def test_the_messages_of_a_batch_are_sent_in_one_call() -> None:
    client = RecordingClient()
    batch = trigger_messages({"body": b"1"}, {"body": b"2"})

    assert ended(endpoint(Billing(), client=client, batch=True), batch) is None
    assert [queue for queue, _ in client.sent] == [INVOICES, INVOICES]
    assert len(client.calls) == 1


def test_a_run_that_is_repeated_sends_under_the_same_id() -> None:
    client = RecordingClient()
    serving_again = endpoint(Billing(), client=client)

    assert [ended(serving_again, trigger_message(b"order 1", SequenceNumber=7)) for _ in range(2)] == [None, None]
    first, again = (sent.message_id for _, sent in client.sent)
    assert first == again


@pytest.mark.parametrize(("warm", "made"), [(False, 0), (True, 1)])
def test_the_client_is_made_at_the_start_where_it_is_asked_for_and_else_by_the_first_send(
    bus: Bus, *, warm: bool, made: int
) -> None:
    client_for.cache_clear()
    endpoint = serving(Billing(), warm=warm)
    made_at_the_start = client_for.cache_info().misses

    bus.send("order 1")
    bus.serve(endpoint, lambda: invoices(bus))

    assert (made_at_the_start, client_for.cache_info().misses) == (made, 1)
