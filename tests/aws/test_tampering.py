"""What a handler or a policy does to its message, or to the native record, changes nothing about retries, copies, deletes and the answer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import pytest

from aws.harness import Mapping, ladder, sqs_endpoint
from recoverable import Action, ErrorContext, Message, Recoverability, default_policy
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import SeenMessage, SqsWorld, Timeline
from servers.queues import Queue

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
    """What became of two messages: runs, all that happened at SQS, and what lies in the error queue."""

    runs: list[tuple[str, int, int]]
    timeline: Timeline
    failed: list[SeenMessage]


def story(*, in_handler: Tamper, in_policy: Tamper) -> Story:
    """Run two messages to the error queue while a handler and a policy tamper with them."""
    world, runs = SqsWorld(), list[tuple[str, int, int]]()

    def handle(message: Message) -> None:
        runs.append((message.text, message.round, message.attempt))
        in_handler(message)
        raise ValueError("no")

    def policy(settings: Recoverability, context: ErrorContext) -> Action:
        in_policy(context.message)
        return default_policy(settings, context)

    world.serve("orders", SqsEndpoint(handle, ladder("errors", immediate=1, delayed=1, delay=1, policy=policy)))
    for body in ("first", "second"):
        world.send("orders", body, attributes={"tenant": "blue"})
    world.run()
    return Story(runs, world.timeline(), world.queue("errors"))


def nothing(message: Message) -> None:
    """Leave the message as it is."""


@pytest.mark.parametrize("tamper", TAMPERING.values(), ids=TAMPERING)
def test_a_handler_and_a_policy_that_tamper_change_nothing(tamper: Tamper) -> None:
    untouched = story(in_handler=nothing, in_policy=nothing)

    assert len(untouched.failed) == 2
    assert story(in_handler=tamper, in_policy=tamper) == untouched


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
