"""What a handler sends on SQS: it leaves when the attempt has succeeded, before the message is completed, ten a call."""

from __future__ import annotations

from typing import Any

import pytest

from aws.harness import Mapping, ladder, sqs_endpoint
from builders import Boom
from recoverable import Message
from recoverable_local.testing import Refused
from servers.faulty_proxy import FaultyProxy, Rule
from servers.fixtures import NewQueue
from servers.queues import Queue, bodies


@pytest.fixture
def invoices(new_queue: NewQueue) -> Queue:
    """Return a queue that handlers send to."""
    return new_queue("invoices")


class Billing:
    """A handler that sends to the queues, and then fails so often.

    Args:
        queues: where it sends a message each.
        failures: attempts that fail.
    """

    def __init__(self, *queues: Queue, failures: int = 0) -> None:
        self.queues, self.failures, self.attempts = queues, failures, 0

    def __call__(self, message: Message) -> None:
        self.attempts += 1
        for queue in self.queues:
            message.send(queue.name, f"invoice for {message.text}")
        if self.attempts <= self.failures:
            raise Boom


def test_a_message_is_attempted_again_when_a_queue_refuses_what_it_sent_and_moves_to_the_error_queue(
    orders: Queue, error: Queue
) -> None:
    attempts: list[int] = []

    def bill(message: Message) -> None:
        attempts.append(message.attempt)
        message.send("no-such-queue", "invoice")

    orders.send("order 1")
    Mapping(orders, sqs_endpoint(bill, ladder(error, immediate=1))).run_dry()

    (failed,) = error.arrived()
    assert attempts == [1, 2]
    assert failed.headers["NServiceBus.ExceptionInfo.ExceptionType"] == "recoverable.OutgoingRefused"
    text = failed.headers["NServiceBus.ExceptionInfo.Message"]
    assert "the queue 'no-such-queue' refused an outgoing message" in text
    assert "sqs:SendMessage" in text


def test_a_neighbour_of_a_refused_one_is_completed(orders: Queue, error: Queue, invoices: Queue) -> None:
    def bill(message: Message) -> None:
        message.send(invoices.name if message.text == "good" else "no-such-queue", message.text)

    orders.send("good")
    orders.send("bad")
    Mapping(orders, sqs_endpoint(bill, ladder(error))).run_dry()

    assert (bodies(invoices), bodies(error)) == (["good"], ["bad"])


def test_a_throttled_queue_costs_no_attempt(orders: Queue, error: Queue, invoices: Queue, proxy: FaultyProxy) -> None:
    billing = Billing(invoices)
    orders.send("order 1")
    proxy.rules.append(Rule("SendMessageBatch", Refused("ThrottlingException"), calls=(1, 2, 3, 4)))
    mapping = Mapping(orders, sqs_endpoint(billing, ladder(error)))

    mapping.poll()
    mapping.run_dry()

    assert (bodies(invoices), error.count()) == (["invoice for order 1"], 0)


def test_headers_say_what_a_message_follows_from(orders: Queue, error: Queue, invoices: Queue) -> None:
    incoming = {
        "NServiceBus.MessageId": "order-1",
        "NServiceBus.ConversationId": "talk-1",
        "traceparent": "00-aa-bb-01",
    }
    orders.send("order 1", attributes=headers(incoming))

    Mapping(orders, sqs_endpoint(Billing(invoices), ladder(error))).run_dry()

    (invoice,) = invoices.arrived()
    sent = dict(invoice.headers)
    assert len(sent.pop("NServiceBus.MessageId")) == 64
    assert sent.pop("NServiceBus.TimeSent")
    assert sent == {
        "NServiceBus.MessageIntent": "Send",
        "NServiceBus.OriginatingEndpoint": orders.name,
        "NServiceBus.ReplyToAddress": orders.name,
        "NServiceBus.ConversationId": "talk-1",
        "NServiceBus.CorrelationId": "order-1",
        "NServiceBus.RelatedTo": "order-1",
        "traceparent": "00-aa-bb-01",
    }


def headers(texts: dict[str, str]) -> dict[str, Any]:
    """Return the attribute that carries headers."""
    import json

    return {"NServiceBus.AmazonSQS.Headers": {"DataType": "String", "StringValue": json.dumps(texts)}}


def test_the_mapping_without_partial_responses_sends_deletes_and_raises(
    orders: Queue, error: Queue, invoices: Queue, proxy: FaultyProxy
) -> None:
    def bill(message: Message) -> None:
        message.send(invoices.name, message.text)
        if message.text == "bad":
            raise Boom

    orders.send("good")
    orders.send("bad")
    mapping = Mapping(orders, sqs_endpoint(bill, ladder(error, immediate=1), partial_responses=False))
    mapping.poll()

    assert [*proxy.calls] == ["SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch"]
    assert [type(raised).__name__ for raised in mapping.raised] == ["UnfinishedBatch"]
    assert (bodies(invoices), bodies(orders)) == (["good"], ["bad"])


async def bill_async(message: Message) -> None:
    message.send(message.text, "invoice")


def test_a_coroutine_sends_too(orders: Queue, error: Queue, invoices: Queue) -> None:
    orders.send(invoices.name)

    Mapping(orders, sqs_endpoint(bill_async, ladder(error), concurrency=5)).run_dry()

    assert bodies(invoices) == ["invoice"]
