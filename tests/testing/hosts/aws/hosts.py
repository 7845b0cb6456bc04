"""The hosts that the contract is held against, each a queue that is served by the scripted function, behind one small driver."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from local.templates import document, written
from local.world import World
from recoverable.local.aws import Ended, Entry, Invoked, LocalAws, LocalQueue
from recoverable.testing import SqsWorld
from testing.contract.servers import at
from testing.hosts.aws.function import scripted
from testing.hosts.notes import Notes

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
            {"Id": body["name"], "MessageBody": json.dumps(body), **in_group(group), **fields}
            for body in bodies
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
        asked: Any = {
            "Visible": "ApproximateNumberOfMessages",
            "Hidden": "ApproximateNumberOfMessagesNotVisible",
        }
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
    scripted.HERE = in_process(world, notes)

    def until(count: int) -> None:
        while len(notes.all("given")) < count:
            world.run(for_=1)

    return Orders(world.client, url, errors, notes, world.run, until)


def in_process(world: SqsWorld, notes: Notes) -> scripted.Ways:
    """How the function does things in a world."""
    return scripted.Ways(
        notes=notes.path,
        die=world.kill,
        spend=world.spend,
        process=lambda context: context.log_stream_name,
        meet=lambda _count: world.spend(1),
    )


class RealHosts:
    """The local host with the real runtime client, the latest of which is kept for tests that want the same settings.

    Args:
        endpoint: where SQS is served.
        folder: for templates and notes.
        close: closes a host beside the next tests.
    """

    def __init__(self, endpoint: str, folder: Path, close: Callable[[ExitStack], None]) -> None:
        self._endpoint, self._folder, self._close = endpoint, folder, close
        self._client = at("moto", endpoint).client
        self._running = ExitStack()
        self._number = 0
        self._latest: tuple[Settings, Running] | None = None

    def serve(self, settings: Settings) -> Orders:
        """The orders of a host with these settings."""
        if self._latest is None or self._latest[0] != settings or not self._latest[1].is_idle():
            self.stop()
            self._latest = settings, self._started(settings)
        return self._latest[1].orders(self._client)

    def stop(self) -> None:
        """Stop the host that runs."""
        self._close(self._running)
        self._running, self._latest = ExitStack(), None

    def _started(self, settings: Settings) -> Running:
        self._number += 1
        folder = self._folder / str(self._number)
        folder.mkdir()
        notes, seen = Notes(folder / "notes"), list[Entry]()
        host = LocalAws.from_template(
            written(folder, template(settings)),
            observe=seen.append,
            endpoint_url=self._endpoint,
            region=REGION,
            stack_name=f"hosts{self._number}",
            concurrency=settings.concurrency,
            environment={"NOTES": str(notes.path)},
        )
        return Running(World(self._running.enter_context(host), seen), notes)


@dataclass(frozen=True)
class Running:
    """A local host that runs."""

    world: World
    notes: Notes

    def is_idle(self) -> bool:
        """Whether all that was sent is done with, which it is not when a test has failed."""
        ended, invoked = self.world.all(Ended), self.world.all(Invoked)
        return len(ended) == len(invoked) and not self.queue("Orders").depth().total

    def queue(self, name: str) -> LocalQueue:
        """A queue by its name in the template."""
        return self.world.host.queue(name)

    def orders(self, client: SQSClient) -> Orders:
        """Its queue, as if nothing had happened yet."""
        self.notes.clear()
        before, shown = len(self.world.all(Ended)), set[str]()

        def is_done() -> bool:
            for entry in self.world.all(Ended)[before:]:
                if entry.failed and entry.request_id not in shown:
                    shown.add(entry.request_id)
                    self.world.show_again(entry)
            return self.is_idle()

        def until(count: int) -> None:
            self.world.until(lambda: len(self.world.all(Ended)) - before >= count)

        url, errors = self.queue("Orders").url, self.queue("Errors").url
        return Orders(client, url, errors, self.notes, lambda: self.world.until(is_done), until)


def template(settings: Settings) -> dict[str, Any]:
    """The template of a host with these settings."""
    folder = Path(scripted.__file__).parent
    redrive = {
        "deadLetterTargetArn": {"Fn::GetAtt": ["Errors", "Arn"]},
        "maxReceiveCount": settings.max_receives,
    }
    window = {"MaximumBatchingWindowInSeconds": settings.window} if settings.window else {}
    answers = ["ReportBatchItemFailures"] if settings.partial_responses else []
    return document(
        queue={"VisibilityTimeout": settings.visibility_timeout, "RedrivePolicy": redrive},
        function={"CodeUri": str(folder), "Handler": "scripted.handler", "Timeout": settings.timeout},
        event={"BatchSize": settings.batch_size, "FunctionResponseTypes": answers, **window},
        fifo=settings.fifo,
    )
