"""The template deployed, built layer and all: an order goes through CloudFormation's queues, mapping and function to its end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deadlines import eventually
from infra.commands import RUNTIME
from infra.deploying import deploy, waiting
from servers.ministack import Cloud, running_cloud

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sam build")]

QUICK = {"ImmediateRetries": "1", "DelayedRetries": "1", "TimeIncreaseSeconds": "1", "FunctionTimeout": "10"}
"""A short ladder, and a short visibility timeout for what a call was too slow for."""


@dataclass(frozen=True)
class Shop:
    """The deployed stack.

    Args:
        sqs: a client.
        outputs: the stack's outputs.
    """

    sqs: Any
    outputs: dict[str, str]

    def order(self, *cards: str) -> None:
        """Send an order for each card, named after it."""
        for card in cards:
            body = json.dumps({"id": card, "card": card})
            self.sqs.send_message(QueueUrl=self.outputs["OrdersQueueUrl"], MessageBody=body)

    def attributes(self, queue: str) -> dict[str, str]:
        """Return all that SQS says of a queue, by the name of the output with its URL."""
        said = self.sqs.get_queue_attributes(QueueUrl=self.outputs[queue], AttributeNames=["All"])
        return dict(said["Attributes"])

    def waiting(self, queue: str) -> int:
        """Return the messages in a queue, in flight and delayed ones included."""
        return waiting(self.sqs, self.outputs[queue])

    def reasons(self) -> dict[str, str]:
        """Return what the error queue holds: the order's id and the exception that ended it."""
        received = self.sqs.receive_message(
            QueueUrl=self.outputs["ErrorQueueUrl"], MaxNumberOfMessages=10, MessageAttributeNames=["All"]
        )
        return {json.loads(message["Body"])["id"]: reason(message) for message in received["Messages"]}


def reason(message: dict[str, Any]) -> str:
    """Return the exception type on a message."""
    headers = json.loads(message["MessageAttributes"]["NServiceBus.AmazonSQS.Headers"]["StringValue"])
    return str(headers["NServiceBus.ExceptionInfo.ExceptionType"])


@pytest.fixture(scope="module")
def shop(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with running_cloud(tmp_path_factory.mktemp("cloud") / "log") as cloud:
        stack = deploy(cloud, built, {"PythonRuntime": RUNTIME, **QUICK})
        start_polling(cloud)
        yield Shop(cloud.client("sqs"), stack)


def start_polling(cloud: Cloud) -> None:
    """Set the mapping's concurrency once more: this cloud hands a nested parameter on as text, and its poller stumbles over it."""
    functions = cloud.client("lambda")
    (mapping,) = functions.list_event_source_mappings()["EventSourceMappings"]
    functions.update_event_source_mapping(
        UUID=mapping["UUID"], ScalingConfig={"MaximumConcurrency": int(mapping["ScalingConfig"]["MaximumConcurrency"])}
    )


def test_what_cannot_be_done_ends_in_the_error_queue_with_the_reason(shop: Shop) -> None:
    shop.order("good", "declined", "no-bank")

    eventually(lambda: shop.waiting("ErrorQueueUrl") >= 2, "two orders in the error queue")
    eventually(lambda: shop.waiting("OrdersQueueUrl") == 0, "the orders queue to be empty")

    assert shop.reasons() == {"declined": "shop.CardDeclined", "no-bank": "shop.BankUnreachable"}


def test_only_the_order_that_is_placed_tells_of_it(shop: Shop) -> None:
    received = shop.sqs.receive_message(QueueUrl=shop.outputs["PlacedQueueUrl"], MaxNumberOfMessages=10)

    assert [message["Body"] for message in received["Messages"]] == ['{"order": "good"}']


def test_what_the_broker_gives_up_goes_to_the_same_error_queue(shop: Shop) -> None:
    orders, errors = shop.attributes("OrdersQueueUrl"), shop.attributes("ErrorQueueUrl")

    policy = (json.loads(orders["RedrivePolicy"]), json.loads(errors["RedriveAllowPolicy"]))

    assert policy == (
        {"deadLetterTargetArn": errors["QueueArn"], "maxReceiveCount": 50},
        {"redrivePermission": "byQueue", "sourceQueueArns": [orders["QueueArn"]]},
    )


@pytest.mark.parametrize("queue", ["OrdersQueueUrl", "ErrorQueueUrl", "PlacedQueueUrl"])
def test_a_queue_is_encrypted(shop: Shop, queue: str) -> None:
    assert shop.attributes(queue)["SqsManagedSseEnabled"] == "true"
