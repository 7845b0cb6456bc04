"""Each shape of message is retried as what it is, and arrives in the error queue as what it was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aws.harness import Mapping, ladder, sqs_endpoint
from aws.placeholders import A_DATE, A_UUID
from aws.shapes import ID, TYPES, wrapped
from recoverable import Message
from servers.queues import HEADERS, Arrived, Queue

FAULTS = ("NServiceBus.ExceptionInfo.", "NServiceBus.Processing", "$.diagnostics.")


class Fails:
    """A handler that fails always, and remembers what it read."""

    def __init__(self) -> None:
        self.read: list[tuple[str, str, int]] = []

    def __call__(self, message: Message) -> None:
        self.read.append((message.id, message.text, message.round))
        raise ValueError(message.id)


def run_to_the_end(orders: Queue, error: Queue, **sent: Any) -> tuple[Fails, Arrived]:
    """Send a message that fails in two rounds; the handler, and what arrived in the error queue."""
    handler = Fails()
    orders.send(**sent)
    Mapping(orders, sqs_endpoint(handler, ladder(error, delayed=1))).run_dry()
    (copy,) = error.arrived()
    return handler, copy


def without_faults(headers: dict[str, str]) -> dict[str, str]:
    """Return the headers without those that describe the failure itself."""
    return {name: text for name, text in headers.items() if not name.startswith(FAULTS)}


def failed(orders: Queue, **headers: str) -> dict[str, Any]:
    """Return the headers of a message that failed in that queue."""
    return {
        **headers,
        "NServiceBus.FailedQ": orders.name,
        "NServiceBus.TimeOfFailure": A_DATE,
        "Recoverable.FailedQueue": orders.arn,
        "Recoverable.Origin": A_UUID,
        "NServiceBus.ContentType": "text/plain",
        "Recoverable.Attempts": "2",
        "Recoverable.FirstFailedAt": A_DATE,
    }


def attribute(text: str) -> dict[str, Any]:
    """Return our attribute, as a sender writes it."""
    return {HEADERS: {"DataType": "String", "StringValue": text}}


def test_a_wrapped_message_stays_wrapped(orders: Queue, error: Queue) -> None:
    sent = {ID: "7", TYPES: "Order", "NServiceBus.TimeSent": "2026-01-01 00:00:00:000000 Z"}

    handler, copy = run_to_the_end(orders, error, body=wrapped(sent, ReplyToAddress=None))

    wrapper = json.loads(copy.body)
    assert without_faults(wrapper.pop("Headers")) == failed(orders, **sent)
    assert wrapper == {"Body": "aGVsbG8=", "S3BodyKey": None, "ReplyToAddress": None}
    assert handler.read == [("7", "hello", 0), ("7", "hello", 1)]


def test_an_unwrapped_message_stays_unwrapped(orders: Queue, error: Queue) -> None:
    sent = {ID: "7", TYPES: "Order", "NServiceBus.TimeSent": "2026-01-01 00:00:00:000000 Z"}

    handler, copy = run_to_the_end(orders, error, attributes=attribute(json.dumps(sent)))

    assert (copy.body, without_faults(copy.headers)) == ("hello", failed(orders, **sent, **{"Recoverable.Native": "1"}))
    assert handler.read == [("7", "hello", 0), ("7", "hello", 1)]


@pytest.mark.parametrize(
    "headers",
    ["no json", "[1, 2]", "7", "null", "[" * 100_000, '{"deep": ' + "[" * 50_000 + "]" * 50_000 + "}"],
    ids=["text", "list", "number", "null", "half", "deep"],
)
def test_a_message_with_unreadable_headers_is_retried_as_a_native_one_and_keeps_them(
    orders: Queue, error: Queue, headers: str
) -> None:
    handler, copy = run_to_the_end(orders, error, attributes=attribute(headers))

    assert (copy.body, copy.headers["Recoverable.UnreadableHeaders"]) == ("hello", headers)
    assert [(text, round_) for _, text, round_ in handler.read] == [("hello", 0), ("hello", 1)]


def test_malformed_folded_attributes_reach_the_error_queue_as_they_were(orders: Queue, error: Queue) -> None:
    hostile = {"Recoverable.Attributes": '{"a": {"dataType": 5}}', ID: "7"}

    _, copy = run_to_the_end(orders, error, attributes=attribute(json.dumps(hostile)))

    assert copy.headers["Recoverable.Attributes"] == hostile["Recoverable.Attributes"]
    assert (copy.attributes, copy.headers[ID]) == ({}, "7")


def test_a_wrapped_body_that_is_no_base64_reaches_handler_and_error_queue_as_it_stands(
    orders: Queue, error: Queue
) -> None:
    handler, copy = run_to_the_end(orders, error, body=wrapped({ID: "7"}, "no base64!"))

    assert json.loads(copy.body)["Body"] == "no base64!"
    assert handler.read == [("7", "no base64!", 0), ("7", "no base64!", 1)]


def test_a_body_stored_in_s3_goes_to_the_error_queue_at_once_and_the_error_says_what_to_do(
    orders: Queue, error: Queue
) -> None:
    handler, copy = run_to_the_end(orders, error, body=wrapped({ID: "7"}, "", S3BodyKey="bodies/7"))

    wrapper = json.loads(copy.body)
    assert (handler.read, wrapper["S3BodyKey"]) == ([], "bodies/7")
    assert wrapper["Headers"]["NServiceBus.ExceptionInfo.Message"].startswith("the body was left in S3")


def test_a_redriven_message_gets_all_its_retries_again(orders: Queue, error: Queue) -> None:
    orders.send()
    handler = Fails()
    Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=1, delayed=1))).run_dry()
    (message,) = error.receive()
    orders.send(message["Body"], attributes=message["MessageAttributes"])

    Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=1, delayed=1))).run_dry()

    assert [round_ for _, _, round_ in handler.read] == [0, 0, 1, 1] * 2
    assert len({message_id for message_id, _, _ in handler.read}) == 1
