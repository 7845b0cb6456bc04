"""Check what a function gets of its messages and its invocation."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.amqp import AmqpAnnotatedMessage

from local.testing.azure.full_message import FIELDS, PROPERTIES
from local.testing.hosts.azure.hosts import Orders, Serve

SENT: dict[str, Any] = {**FIELDS, "reply_to_session_id": "rs", "time_to_live": timedelta(hours=1)}

SHAPES = {
    "a moment": r"datetime\.datetime\(20\d\d(, \d+)+\)",
    "an id": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "a number": r"\d+",
    "a trace": r"00-[0-9a-f]{32}-[0-9a-f]{16}-00",
}
DIFFERING = ("expiration_time", "enqueued_time_utc", "expires_at_utc", "lock_token", "sequence_number")


def comparable(message: dict[str, Any]) -> dict[str, Any]:
    """Return what a message has, without its empty fields, and with patterns for what differs from run to run."""
    shapes = {name: shape(message[name]) for name in DIFFERING}
    return {name: value for name, value in (message | shapes).items() if value is not None}


def shape(value: object) -> object:
    return next((name for name, pattern in SHAPES.items() if re.fullmatch(pattern, str(value))), value)


def messages(orders: Orders) -> list[dict[str, Any]]:
    """Return what all messages had, in the order of their bodies."""
    orders.run()
    given = [message for given in orders.given() for message in given["messages"]]
    return sorted(given, key=lambda message: message["body"])


FULL: dict[str, Any] = {
    "body": "x",
    "application_properties": {
        "text": "ä€",
        "whole": 7,
        "broken": 0.5,
        "sure": True,
        "id": str(UUID(int=1)),
        "large": 2**40,
    },
    "content_type": "x/y",
    "correlation_id": "c1",
    "delivery_count": 1,
    "enqueued_time_utc": "a moment",
    "expiration_time": "a moment",
    "expires_at_utc": "a moment",
    "label": "s1",
    "lock_token": "an id",
    "message_id": "m1",
    "partition_key": "p1",
    "reply_to": "r1",
    "reply_to_session_id": "rs",
    "sequence_number": "a number",
    "subject": "s1",
    "to": "t1",
}
FULL["user_properties"] = FULL["application_properties"]

LAST = "datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)"

BARE: dict[str, Any] = {
    "application_properties": {},
    "delivery_count": 1,
    "enqueued_time_utc": "a moment",
    "expiration_time": LAST,
    "expires_at_utc": LAST,
    "lock_token": "an id",
    "message_id": "m1",
    "sequence_number": "a number",
    "user_properties": {},
}


SLIPS: dict[str, dict[str, Any]] = {"plain": {}, "text": {}, "many": {"transaction_partition_key": "p1"}}
"""Fields that a batch has besides: the extension takes one key for the other."""


@pytest.mark.parametrize("queue", SLIPS)
def test_a_message_tells_all_that_the_host_tells_of_it(serve: Serve, queue: str) -> None:
    orders = serve(queue)
    properties: Any = dict(PROPERTIES)
    orders.send_raw(ServiceBusMessage("x", application_properties=properties, **SENT))
    [message] = messages(orders)
    assert comparable(message) == FULL | SLIPS[queue]


@pytest.mark.parametrize("queue", ["plain", "text", "many"])
def test_a_message_tells_nothing_of_what_it_has_not(serve: Serve, queue: str) -> None:
    orders = serve(queue)
    orders.send_raw(ServiceBusMessage("x", message_id="m1"))
    [message] = messages(orders)
    assert comparable(message) == {"body": "x", **BARE}


def test_a_date_among_the_properties_is_a_text(serve: Serve) -> None:
    orders = serve("plain")
    properties: Any = {"due": datetime(2026, 1, 2, 3, 4, 5, 600_000, UTC), "number": 7}
    orders.send_raw(ServiceBusMessage("x", application_properties=properties))
    [message] = messages(orders)
    assert message["application_properties"] == {"due": "2026-01-02T03:04:05.6Z", "number": 7}


def test_a_message_of_a_session_tells_which(serve: Serve) -> None:
    orders = serve("session")
    orders.send_raw(ServiceBusMessage("x", message_id="m1", session_id="s"))
    [message] = messages(orders)
    assert comparable(message) == {"body": "x", **BARE, "session_id": "s"}


BODIES: dict[str, tuple[str | bytes, str]] = {
    "a text": ("ä€", "ä€"),
    "an empty text": ("", ""),
    "bytes": (b"\x00\xff", "\x00\\xff"),
    "a number": ("7", "7"),
}


@pytest.mark.parametrize("case", BODIES)
def test_a_body_comes_as_it_was_sent(serve: Serve, case: str) -> None:
    sent, body = BODIES[case]
    orders = serve("plain")
    orders.send_raw(ServiceBusMessage(sent, message_id="m1"))
    [message] = messages(orders)
    assert comparable(message) == {"body": body, **BARE}


OVERWRITING = '{"messageid": "mine", "DeliveryCount": 9, "To": null, "Subject": ["x"], "CorrelationId": true}'


@pytest.mark.parametrize(("queue", "is_overwritten"), [("plain", False), ("text", True), ("undeclared", True)])
def test_a_json_body_overwrites_what_a_text_trigger_is_told(serve: Serve, queue: str, *, is_overwritten: bool) -> None:
    orders = serve(queue)
    orders.send_raw(ServiceBusMessage(OVERWRITING, message_id="m1"))
    [message] = messages(orders)
    overwritten = {"message_id": "mine", "delivery_count": 9, "correlation_id": "True"}
    assert comparable(message) == {"body": OVERWRITING, **BARE, **(overwritten if is_overwritten else {})}


@pytest.mark.parametrize("queue", ["many", "texts"])
def test_the_texts_of_a_batch_shift_when_one_message_has_none(serve: Serve, queue: str) -> None:
    orders = serve(queue)
    orders.send_raw(
        ServiceBusMessage("a", message_id="m1", application_properties={"n": 1}),
        ServiceBusMessage("b", message_id="m2", application_properties={"n": 2}, correlation_id="of b"),
    )
    orders.run()
    [batch] = [given["messages"] for given in orders.given()]
    shown = [(each["message_id"], each["application_properties"], each["correlation_id"]) for each in batch]
    assert shown == [("m1", {"n": 1}, "of b"), ("m2", {"n": 2}, None)]


def test_a_body_that_is_no_data_is_given_to_nobody(serve: Serve) -> None:
    orders = serve("brief")
    orders.send_raw(AmqpAnnotatedMessage(value_body="x"))
    orders.run()
    assert (orders.given(), [letter["source"] for letter in orders.dead()]) == ([], ["brief"])


def test_the_context_names_the_function_and_the_invocation(serve: Serve) -> None:
    orders = serve("plain")
    orders.send("a")
    orders.run()
    [context] = orders.notes.all("context")
    (parent, same, *rest), invocation = context.pop("trace"), context.pop("invocation")
    assert (shape(parent), same, rest) == ("a trace", parent, ["", {}])
    assert (shape(invocation), context.pop("thread's")) == ("an id", invocation)
    assert context == {
        "names": [
            "function_directory", "function_name", "invocation_id", "retry_context", "thread_local_storage", "trace_context",
        ],
        "function": "plain",
        "is in its directory": True,
        "retries": [0, 0],
    }  # fmt: skip
