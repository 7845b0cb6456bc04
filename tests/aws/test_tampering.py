"""What a handler or a policy does to its message, or to the native record, changes nothing about retries, copies, deletes and the answer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import pytest

from aws.harness import Mapping, ladder, sqs_endpoint
from recoverable import Action, ErrorContext, Message, Recoverability, default_policy
from servers.faulty_proxy import FaultyProxy
from servers.queues import Arrived, Queue

ATTRIBUTES = {"tenant": {"StringValue": "blue", "DataType": "String"}}
Tamper = Callable[[Message], object]


def set_on(name: str, value: object) -> Tamper:
    """Return a function that sets an attribute of the message, if it can."""

    def tamper(message: Message) -> None:
        with suppress(AttributeError):
            setattr(message, name, value)

    return tamper


def write(*path: str, value: object) -> Tamper:
    """Return a function that writes into the native record."""

    def tamper(message: Message) -> None:
        place = message.native
        for key in path[:-1]:
            place = place.setdefault(key, {})
        place[path[-1]] = value

    return tamper


TAMPERING: dict[str, Tamper] = {
    **{f"message.{name}": set_on(name, "changed") for name in ("id", "queue", "group_id", "native")},
    **{f"message.{name}": set_on(name, -5) for name in ("round", "attempt")},
    "messageId": write("messageId", value="another"),
    "receiptHandle": write("receiptHandle", value="another"),
    "body": write("body", value="changed"),
    "count": write("attributes", "ApproximateReceiveCount", value="-7"),
    "sent": write("attributes", "SentTimestamp", value="0"),
    "queue": write("eventSourceARN", value="arn:aws:sqs:eu-west-1:123456789012:another"),
    "attribute": write("messageAttributes", "tenant", "stringValue", value="red"),
    "attributes": write("messageAttributes", "more", value={"dataType": "String", "stringValue": "x"}),
    "headers": write("messageAttributes", "NServiceBus.AmazonSQS.Headers", value={"stringValue": "{}"}),
    "all": lambda message: message.native.clear(),
}


class Story(NamedTuple):
    """What became of two messages: runs, calls to SQS, and what arrived in the error queue, without ids and dates."""

    runs: list[tuple[str, int, int]]
    calls: dict[str, int]
    arrived: list[tuple[str, Any, list[str]]]


def story(orders: Queue, error: Queue, proxy: FaultyProxy, *, in_handler: Tamper, in_policy: Tamper) -> Story:
    """Run two messages to the error queue while a handler and a policy tamper with them."""
    runs: list[tuple[str, int, int]] = []

    def handle(message: Message) -> None:
        runs.append((message.text, message.round, message.attempt))
        in_handler(message)
        raise ValueError("no")

    def policy(settings: Recoverability, context: ErrorContext) -> Action:
        in_policy(context.message)
        return default_policy(settings, context)

    ids = {orders.send(body, attributes=ATTRIBUTES) for body in ("first", "second")}
    mapping = Mapping(orders, sqs_endpoint(handle, ladder(error, immediate=1, delayed=1, policy=policy)))
    mapping.run_dry()
    copies = error.arrived()
    assert (mapping.raised, {copy.headers["NServiceBus.MessageId"] for copy in copies}) == ([], ids)
    return Story(sorted(runs), dict(proxy.calls), sorted(map(told, copies)))


def told(copy: Arrived) -> tuple[str, Any, list[str]]:
    """Return what is the same for each run of a test."""
    sent_long_ago = copy.headers["NServiceBus.TimeSent"] < "2000"
    return copy.body, (copy.attributes, sent_long_ago), sorted(copy.headers)


def nothing(message: Message) -> None:
    """Leave the message as it is."""


EXPECTED_RUNS = [
    (body, round_, attempt) for body in ("first", "second") for round_ in range(2) for attempt in range(1, 3)
]


@pytest.mark.parametrize("tamper", TAMPERING.values(), ids=TAMPERING)
def test_a_handler_and_a_policy_that_tamper_change_nothing(
    orders: Queue, error: Queue, new_queue: Any, proxy: FaultyProxy, tamper: Tamper
) -> None:
    untouched = story(new_queue("orders"), new_queue("error"), proxy, in_handler=nothing, in_policy=nothing)
    proxy.calls.clear()

    tampered = story(orders, error, proxy, in_handler=tamper, in_policy=tamper)

    assert (tampered, tampered.runs) == (untouched, EXPECTED_RUNS)


def test_a_handler_that_succeeds_after_it_changed_the_broker_s_id_completes_its_message_alone(
    orders: Queue, error: Queue
) -> None:
    def handle(message: Message) -> None:
        message.native["messageId"] = "another"
        if message.text == "bad":
            raise ValueError("no")

    orders.send("good")
    orders.send("bad")

    assert Mapping(orders, sqs_endpoint(handle, ladder(error, immediate=1))).poll() == ["bad"]
