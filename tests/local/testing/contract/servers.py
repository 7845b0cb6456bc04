"""Start the servers that the contract is tested on, each behind one small driver."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from deadlines import DEADLINE
from recoverable_local.lambda_host.services.broker import embedded_broker
from recoverable_local.testing import SqsWorld
from servers.ministack import running_cloud

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

GIVEN = "RECOVERABLE_SQS_ENDPOINT"
"""The environment variable that names a further endpoint to hold the contract against."""

"""Seconds that a message may come later than it should, on a machine that others use."""


@dataclass(frozen=True)
class Server:
    """A server.

    Args:
        name: by which the table of deviations knows it.
        client: a client of it.
        wait: lets seconds pass.
        patience: seconds by which it may be late.
        made: the queues that the tests have made.
    """

    name: str
    client: SQSClient
    wait: Callable[[float], None]
    patience: float = DEADLINE
    made: list[str] = field(default_factory=list)

    def queue(self, *, fifo: bool = False, **attributes: str) -> str:
        """Make a queue, and return its URL."""
        name = f"contract-{uuid.uuid4().hex[:12]}{'.fifo' if fifo else ''}"
        kind = {"FifoQueue": "true"} if fifo else {}
        given: Any = attributes | kind
        self.made.append(self.client.create_queue(QueueName=name, Attributes=given)["QueueUrl"])
        return self.made[-1]

    def clean(self) -> None:
        """Delete the queues that the tests made."""
        while self.made:
            self.client.delete_queue(QueueUrl=self.made.pop())

    def arn(self, url: str) -> str:
        """Return a queue's ARN."""
        return self.attributes(url)["QueueArn"]

    def attributes(self, url: str) -> Mapping[str, str]:
        """Return all attributes of a queue."""
        found: Any = self.client.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        return dict(found)

    def received(self, url: str, **options: Any) -> list[Any]:
        """Return the messages of one receive of up to ten, with all attributes."""
        asked: Any = {
            "MaxNumberOfMessages": 10,
            "MessageSystemAttributeNames": ["All"],
            "MessageAttributeNames": ["All"],
            **options,
        }
        return list(self.client.receive_message(QueueUrl=url, **asked).get("Messages", []))

    def arriving(self, url: str, **options: Any) -> list[Any]:
        """Return the messages of the first receive that brings any, within the server's time limit."""
        end = time.monotonic() + self.patience
        while not (messages := self.received(url, **options)) and time.monotonic() < end:
            time.sleep(0.05)
        return messages

    def refusal(self, call: Callable[..., object], **request: Any) -> str:
        """Return the code of the error with which a call is refused; "accepted" when it is not."""
        try:
            call(**request)
        except ClientError as error:
            return str(error.response["Error"]["Code"])
        return "accepted"


def world() -> Iterator[Server]:
    """Return the virtual SQS."""
    virtual = SqsWorld(create_missing=False)
    yield Server("SqsWorld", virtual.client, lambda seconds: virtual.run(for_=seconds), patience=0)


def moto(_folder: Path) -> Iterator[Server]:
    """Return the SQS that the local host contains."""
    with embedded_broker() as endpoint:
        yield at("moto", endpoint)


def ministack(folder: Path) -> Iterator[Server]:
    """Return the small cloud that the template is deployed to."""
    with running_cloud(folder / "ministack.log") as cloud:
        yield at("ministack", f"http://127.0.0.1:{cloud.port}")


def given(_folder: Path) -> Iterator[Server]:
    """Return the endpoint that the environment names, with the region and credentials that boto3 finds."""
    client = boto3.client("sqs", endpoint_url=os.environ[GIVEN])
    yield Server("given", client, time.sleep)


def at(name: str, endpoint: str) -> Server:
    """Return a server at an endpoint that need not check signatures."""
    config = Config(retries={"total_max_attempts": 1, "mode": "standard"}, proxies={})
    session = boto3.Session("local", "local", region_name="eu-central-1")
    client = session.client("sqs", endpoint_url=endpoint, config=config)
    return Server(name, client, time.sleep)


SERVERS = {"moto": contextmanager(moto), "ministack": contextmanager(ministack), "given": contextmanager(given)}
