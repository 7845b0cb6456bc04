"""The local SQS's move tasks, as SQS has them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.exceptions import ClientError

from recoverable_local.lambda_host.services.broker import embedded_broker


@pytest.fixture
def sqs() -> Iterator[Any]:
    """Yield a client of a local SQS."""
    with embedded_broker() as url:
        session = boto3.Session(aws_access_key_id="testing", aws_secret_access_key="testing", region_name="eu-west-1")
        yield session.client("sqs", endpoint_url=url)


class Queues:
    """A queue whose messages are dead-lettered at their second receive."""

    def __init__(self, sqs: Any) -> None:
        self.sqs = sqs
        self.error, self.error_arn = self.create({})
        policy = json.dumps({"deadLetterTargetArn": self.error_arn, "maxReceiveCount": 1})
        self.orders, self.orders_arn = self.create({"RedrivePolicy": policy})

    def create(self, attributes: dict[str, str]) -> tuple[str, str]:
        url = self.sqs.create_queue(QueueName=f"q-{uuid4().hex[:8]}", Attributes=attributes)["QueueUrl"]
        return url, self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]["QueueArn"]

    def dead_letter(self, body: str) -> str:
        """Send a message, let it be dead-lettered, and return its id."""
        sent: str = self.sqs.send_message(QueueUrl=self.orders, MessageBody=body)["MessageId"]
        for _ in range(2):
            self.sqs.receive_message(QueueUrl=self.orders, VisibilityTimeout=0)
        return sent

    def found(self, url: str) -> list[Any]:
        messages: list[Any] = self.sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"]
        ).get("Messages", [])
        return messages

    def task(self) -> Any:
        [task] = self.sqs.list_message_move_tasks(SourceArn=self.error_arn)["Results"]
        return task


@pytest.fixture
def queues(sqs: Any) -> Queues:
    """Return a queue and its dead-letter queue."""
    return Queues(sqs)


def test_a_dead_letter_goes_back_under_a_new_id(queues: Queues) -> None:
    sent = queues.dead_letter("hello")

    queues.sqs.start_message_move_task(SourceArn=queues.error_arn)

    [message] = queues.found(queues.orders)
    assert (message["Body"], message["Attributes"]["ApproximateReceiveCount"], queues.found(queues.error)) == (
        "hello",
        "1",
        [],
    )
    assert message["MessageId"] != sent


def test_a_sent_message_fails_the_task_when_no_destination_is_named(queues: Queues) -> None:
    queues.sqs.send_message(QueueUrl=queues.error, MessageBody="an error copy")

    queues.sqs.start_message_move_task(SourceArn=queues.error_arn)

    task = queues.task()
    assert (task["Status"], task["FailureReason"]) == ("FAILED", "CouldNotDetermineMessageSource")
    assert [each["Body"] for each in queues.found(queues.error)] == ["an error copy"]


def test_a_sent_message_goes_to_the_destination_that_is_named(queues: Queues) -> None:
    queues.sqs.send_message_batch(QueueUrl=queues.error, Entries=[{"Id": "0", "MessageBody": "an error copy"}])

    queues.sqs.start_message_move_task(SourceArn=queues.error_arn, DestinationArn=queues.orders_arn)

    task = queues.task()
    assert (task["Status"], task["ApproximateNumberOfMessagesMoved"]) == ("COMPLETED", 1)
    assert [each["Body"] for each in queues.found(queues.orders)] == ["an error copy"]


def test_a_queue_that_nobody_dead_letters_to_is_refused(queues: Queues) -> None:
    with pytest.raises(ClientError, match="Source queue must be configured as a Dead Letter Queue"):
        queues.sqs.start_message_move_task(SourceArn=queues.orders_arn)


def test_a_queue_that_is_none_is_refused(queues: Queues) -> None:
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        queues.sqs.start_message_move_task(SourceArn=queues.error_arn + "-none")
