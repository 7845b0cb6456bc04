"""What the tests of the contract see of a host, a queue that is served by the scripted function; and the virtual host."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from local.testing.hosts import script
from local.testing.hosts.aws.function import scripted
from local.testing.hosts.notes import Notes
from recoverable_local.testing import SqsWorld

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

REGION = "eu-central-1"
AT_EASE = 120
"""Seconds that no invocation takes, on however slow a machine."""


@dataclass(frozen=True)
class Settings:
    """How the queue is served.

    Args:
        batch_size: the most messages of one invocation.
        window: seconds to wait for a batch to fill.
        concurrency: the most invocations at a time.
        timeout: seconds after which the function is killed.
        partial_responses: whether the mapping has ReportBatchItemFailures.
        fifo: whether the queue keeps an order.
        max_receives: after how many receives a message is a dead letter.
    """

    batch_size: int = 10
    window: int = 0
    concurrency: int = 5
    timeout: int = AT_EASE
    partial_responses: bool = True
    fifo: bool = False
    max_receives: int = 10

    @property
    def visibility_timeout(self) -> int:
        """That of the queue, as our template has it."""
        return 6 * self.timeout

    @property
    def ending(self) -> str:
        """Of the names of queues."""
        return ".fifo" if self.fifo else ""


@dataclass(frozen=True)
class Orders:
    """A queue that is served.

    Args:
        client: of its broker.
        url: the queue's.
        errors: that of its dead-letter queue.
        notes: what the function writes down.
        run: goes on until nothing is left in the queue; what failed comes back when its visibility timeout is over.
        until: goes on until so many invocations are over.
    """

    client: SQSClient
    url: str
    errors: str
    notes: Notes
    run: Callable[[], None]
    until: Callable[[int], None]

    def send(self, *scripts: str | Mapping[str, Any], group: str | None = None, **fields: Any) -> None:
        """Send messages together; a text is the name of one that is simply handled."""
        bodies = [{"name": script} if isinstance(script, str) else dict(script) for script in scripts]
        entries: Any = [
            {"Id": body["name"], "MessageBody": json.dumps(body), **in_group(group), **fields} for body in bodies
        ]
        answer = self.client.send_message_batch(QueueUrl=self.url, Entries=entries)
        assert len(answer["Successful"]) == len(scripts)

    def given(self) -> list[Any]:
        """What the function was given, invocation for invocation."""
        return self.notes.all("given")

    def deliveries(self) -> list[list[tuple[str, int]]]:
        """The names of the messages in each invocation, and which receives they were."""
        return [[named(record) for record in given["records"]] for given in self.given()]

    def received(self) -> list[tuple[str, int]]:
        """The same, whichever invocation it was."""
        return [one for batch in self.deliveries() for one in batch]

    def processes(self) -> list[int]:
        """In which process each invocation was, numbered from 1."""
        names = [given["process"] for given in self.given()]
        return [list(dict.fromkeys(names)).index(name) + 1 for name in names]

    def depth(self) -> dict[str, int]:
        """How many messages there are to receive, and how many are hidden."""
        asked: Any = {"Visible": "ApproximateNumberOfMessages", "Hidden": "ApproximateNumberOfMessagesNotVisible"}
        found: Any = self.client.get_queue_attributes(QueueUrl=self.url, AttributeNames=[*asked.values()])
        return {name.lower(): int(found["Attributes"][attribute]) for name, attribute in asked.items()}

    def dead(self) -> list[str]:
        """The names of the dead letters."""
        found = self.client.receive_message(QueueUrl=self.errors, MaxNumberOfMessages=10)
        return [json.loads(message["Body"])["name"] for message in found.get("Messages", [])]


Serve = Callable[..., Orders]


def in_group(group: str | None) -> dict[str, str]:
    """The fields of a message in a group, which is no duplicate of one that another test has sent."""
    return {"MessageGroupId": group, "MessageDeduplicationId": str(uuid4())} if group else {}


def named(record: Mapping[str, Any]) -> tuple[str, int]:
    """A record's message by its name, and which receive it is."""
    return json.loads(record["body"])["name"], int(record["attributes"]["ApproximateReceiveCount"])


def in_world(settings: Settings, world: SqsWorld, notes: Notes) -> Orders:
    """The virtual host."""
    url, errors = f"orders{settings.ending}", f"errors{settings.ending}"
    world.create_queue(
        url,
        visibility_timeout=settings.visibility_timeout,
        dead_letter_queue=errors,
        max_receive_count=settings.max_receives,
    )
    world.serve(
        url,
        scripted.handler,
        batch_size=settings.batch_size,
        window=settings.window,
        concurrency=settings.concurrency,
        timeout=settings.timeout,
        partial_responses=settings.partial_responses,
    )
    script.HERE = in_process(world, notes)

    def until(count: int) -> None:
        while len(notes.all("given")) < count:
            world.run(for_=1)

    return Orders(world.client, url, errors, notes, world.run, until)


def in_process(world: SqsWorld, notes: Notes) -> script.Ways:
    """How the function does things in a world."""
    return script.Ways(
        notes=notes.path,
        die=world.kill,
        spend=world.spend,
        process=lambda context: context.log_stream_name,
        meet=lambda _count: world.spend(1),
    )
