"""`make crossings`: count our files that run for one message, and the calls from one of these files into another.

A reader who follows a message through the code opens that many files, and changes between them that often. The endpoint is
warm: a first message has been settled, so that neither imports nor the making of a client count.
"""

from __future__ import annotations

import gc
import json
import logging
import sys
from collections.abc import Callable
from contextlib import nullcontext, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from io import StringIO
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any
from unittest.mock import patch

from rich.console import Console
from rich.table import Table

import recoverable
import recoverable_operate
from recoverable import Delayed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_operate._cli import main as main_of_command
from subjects import Context, event

PACKAGES = tuple(str(Path(str(each.__file__)).parent) for each in (recoverable, recoverable_operate))
IMMEDIATE_RETRY = Recoverability(Immediate(3), Delayed(0))
DELAYED_RETRY = Recoverability(Immediate(0), Delayed(3))
MOVE_TO_ERROR = Recoverability(Immediate(0), Delayed(0))

Handler = Callable[[Message], None]


class Client:
    """An SQS that does all it is asked."""

    meta = SimpleNamespace(endpoint_url="https://sqs.eu-central-1.amazonaws.com")

    def send_message_batch(self, *, QueueUrl: str, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803  # boto3's names
        """Confirm each entry."""
        return {"Successful": [{"Id": entry["Id"]} for entry in Entries]}

    delete_message_batch = change_message_visibility_batch = send_message_batch

    def get_queue_attributes(self, **_: Any) -> dict[str, Any]:
        """Say for how long the queue hides a message."""
        return {"Attributes": {"VisibilityTimeout": "180"}}


class Bus:
    """A Service Bus that takes all messages."""

    fully_qualified_namespace = "shop.servicebus.windows.net"

    def get_queue_sender(self, queue: str, **options: Any) -> Any:
        """Return a sender."""
        return SimpleNamespace(send_messages=lambda message, **options: None)


class BatchingBus(Bus):
    """A Service Bus whose senders take batches, as the SDK's do."""

    def get_queue_sender(self, queue: str, **options: Any) -> Any:
        """Return a sender."""
        return BatchingSender()


class BatchingSender(nullcontext[Any]):
    """A sender that takes all it is given."""

    def create_message_batch(self, **options: Any) -> Any:
        """Return a batch that has room for everything."""
        return SimpleNamespace(add_message=lambda message: None)

    def send_messages(self, message: Any, **options: Any) -> None:
        """Take a batch or a message."""

    def close(self) -> None:
        """Do nothing."""


@dataclass
class Crossings:
    """Our files that ran, and the number of calls from one of them into another.

    A coroutine or generator that goes on counts as called.
    """

    files: set[str] = field(default_factory=set)
    calls: int = 0

    def profile(self, frame: FrameType, event: str, arg: object) -> None:
        """Count a call; for `sys.setprofile`."""
        file = frame.f_code.co_filename
        if event != "call" or not file.startswith(PACKAGES):
            return
        self.files.add(file)
        self.calls += calling_file(frame) not in (None, file)


def calling_file(frame: FrameType) -> str | None:
    """Return the file of ours that a call came from, even through a library; None if it came from outside."""
    caller = frame.f_back
    while caller and not caller.f_code.co_filename.startswith(PACKAGES):
        caller = caller.f_back
    return caller.f_code.co_filename if caller else None


def crossings(invoke: Callable[[], object]) -> Crossings:
    """Return what runs at a second invocation."""
    counted = Crossings()
    invoke()
    gc.collect()
    gc.disable()  # what an earlier run left half done ends when it is collected, and those calls are not of this one
    sys.setprofile(counted.profile)
    try:
        invoke()
    finally:
        sys.setprofile(None)
        gc.enable()
    return counted


def fail(message: Message) -> None:
    """Fail, as a handler."""
    raise ValueError(message.id)


def succeed(message: Message) -> None:
    """Succeed, as a handler."""


def on_sqs(handler: Handler, recoverability: Recoverability = DELAYED_RETRY) -> Callable[[], object]:
    """Return an invocation with one record from SQS."""
    client: Any = Client()
    endpoint = SqsEndpoint(handler, recoverability, client=client)
    return lambda: endpoint(event(1), Context())


def on_service_bus(handler: Handler, recoverability: Recoverability = DELAYED_RETRY) -> Callable[[], object]:
    """Return an invocation with one message from Service Bus."""
    client: Any = Bus()
    endpoint = ServiceBusEndpoint(handler, recoverability, queue="orders", connection="ServiceBus", client=client)
    native: Any = service_bus_message()

    def invoke() -> None:
        with suppress(ValueError):  # by what `fail` raises the host abandons the message: the immediate retry
            endpoint(native)

    return invoke


def in_a_batch(messages: int) -> Callable[[], object]:
    """Return an invocation with so many messages from Service Bus, each of which fails and is retried after a delay."""
    client: Any = BatchingBus()
    endpoint = ServiceBusEndpoint(
        fail,
        DELAYED_RETRY,
        queue="orders",
        connection="ServiceBus",
        client=client,
        batch=True,
        lock=timedelta(minutes=1),
    )
    natives: Any = [service_bus_message() for _ in range(messages)]
    return lambda: endpoint(natives)


def service_bus_message() -> Any:
    """Return a message as the Functions worker gives it."""
    absent = ("content_type", "correlation_id", "partition_key", "reply_to", "reply_to_session_id", "subject", "to")
    return SimpleNamespace(
        **dict.fromkeys([*absent, "session_id", "enqueued_time_utc", "expires_at_utc", "metadata"]),
        application_properties={},
        user_properties={},
        message_id="m-1",
        delivery_count=1,
        sequence_number=4,
        get_body=lambda: b"{}",
    )


class ErrorQueue(Client):
    """An SQS error queue with one message, which is there again at each look."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def get_queue_attributes(self, **_: object) -> dict[str, Any]:
        """Begin a look."""
        self.messages = [FAILED]
        return {"Attributes": {"QueueArn": f"{ARN}-error", "ApproximateNumberOfMessages": "1"}}

    def list_dead_letter_source_queues(self, **_: object) -> dict[str, Any]:
        """Return the queue where the message failed."""
        return {"queueUrls": [f"{URL}/orders"]}

    def receive_message(self, **_: object) -> dict[str, Any]:
        """Return the message once."""
        found, self.messages = self.messages, []
        return {"Messages": found}


ARN, URL = "arn:aws:sqs:eu-central-1:123456789012:orders", "https://sqs.eu-central-1.amazonaws.com/123456789012"
HEADERS = {"NServiceBus.FailedQ": "orders", "NServiceBus.ExceptionInfo.ExceptionType": "shop.Declined"}
FAILED = {
    "MessageId": "m-1",
    "ReceiptHandle": "r-1",
    "Body": "{}",
    "Attributes": {"SentTimestamp": "1763805600000", "ApproximateReceiveCount": "1"},
    "MessageAttributes": {"NServiceBus.AmazonSQS.Headers": {"DataType": "String", "StringValue": json.dumps(HEADERS)}},
}


def retry() -> Callable[[], object]:
    """Return a run of `recoverable errors retry`, which sends one message back."""
    client: Any = ErrorQueue()
    clients = SimpleNamespace(reader=lambda region: client, sender=lambda region: client, metrics=None)
    words = ["errors", "retry", "--queue", f"{URL}/orders-error", "--yes", "--journal", ":memory:", "--poll", "0"]

    def run() -> None:
        with patch("recoverable_operate._commands.session.Clients", lambda access: clients):
            if main_of_command(words) != 0:
                raise RuntimeError("the message was not sent back")

    return run


def counts() -> dict[str, tuple[int, int]]:
    """Return files and calls of each scenario."""
    scenarios = {
        f"{cloud}, {what}": on(handler, recoverability)
        for cloud, on in {"SQS": on_sqs, "Service Bus": on_service_bus}.items()
        for what, handler, recoverability in (
            ("a good record", succeed, DELAYED_RETRY),
            ("an immediate retry", fail, IMMEDIATE_RETRY),
            ("a delayed retry", fail, DELAYED_RETRY),
            ("a move to the error queue", fail, MOVE_TO_ERROR),
        )
    }
    scenarios["Service Bus, a batch of two delayed retries"] = in_a_batch(2)
    scenarios["Service Bus, a batch of three delayed retries"] = in_a_batch(3)
    scenarios["SQS, `errors retry`"] = retry()
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        counted = {what: crossings(invoke) for what, invoke in scenarios.items()}
    return {what: (len(each.files), each.calls) for what, each in counted.items()}


def main() -> None:
    """Count for both clouds and print the table."""
    logging.disable(logging.CRITICAL)
    table = Table("one message", "files", "calls between files")
    for what, (files, calls) in counts().items():
        table.add_row(what, str(files), str(calls))
    Console().print(table)


if __name__ == "__main__":
    main()
