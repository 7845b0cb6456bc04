"""`errors retry --allow` sends the error copies of NServiceBus's own endpoints back, as the real transport wrote them, to where they failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aws.nservicebus.dotnet import Read, Sent, read
from recoverable_local.testing import SqsWorld

RECORDED = json.loads((Path(__file__).parents[2] / "aws/nservicebus/sqs-wire.json").read_text())["error"]
COPIES = [
    pytest.param(Sent(**RECORDED[0]), "net", id="wrapped"),
    pytest.param(Sent(**RECORDED[1]), "netraw", id="as it is"),
]
ABOUT_THE_FAILURE = (
    "NServiceBus.ExceptionInfo.",
    "NServiceBus.FailedQ",
    "NServiceBus.TimeOfFailure",
    "NServiceBus.Processing",
    "$.diagnostics.host",
)


def world_with(copy: Sent) -> SqsWorld:
    """Return a world that has an error copy in NServiceBus's error queue."""
    world = SqsWorld(create_missing=False)
    for name in ("error", "net", "netraw"):
        world.create_queue(name)
    attributes: Any = copy.attributes
    url = world.client.get_queue_url(QueueName="error")["QueueUrl"]
    world.client.send_message(QueueUrl=url, MessageBody=copy.body, MessageAttributes=attributes)
    return world


def received(world: SqsWorld, queue: str) -> Read:
    """Return the one message of a queue as NServiceBus reads it."""
    url = world.client.get_queue_url(QueueName=queue)["QueueUrl"]
    (found,) = world.client.receive_message(QueueUrl=url, MessageAttributeNames=["All"])["Messages"]
    return read(Sent(found["Body"], found.get("MessageAttributes", {})))


@pytest.mark.parametrize(("copy", "queue"), COPIES)
def test_its_endpoint_gets_the_message_as_it_was_sent(copy: Sent, queue: str) -> None:
    world, failed = world_with(copy), read(copy)

    assert world.redrive("error", allow=[queue]).outcome.sent == 1

    back = received(world, queue)
    ours = {name for name in back.headers if name.startswith("Recoverable.")}
    kept = {name: text for name, text in failed.headers.items() if not name.startswith(ABOUT_THE_FAILURE)}
    assert (back.body, world.queue("error")) == (failed.body, [])
    assert {name: text for name, text in back.headers.items() if name not in ours} == kept
    assert ours == {"Recoverable.Origin", "Recoverable.Redrives"}


@pytest.mark.parametrize(("copy", "queue"), COPIES)
def test_without_allow_it_stays_and_the_plan_says_what_to_allow(copy: Sent, queue: str) -> None:
    world = world_with(copy)

    redriven = world.redrive("error")

    assert redriven.outcome.sent == 0
    assert queue in str(redriven.plan.refused)
    assert len(world.queue("error")) == 1
