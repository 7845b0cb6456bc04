"""Run the same messages, handler and settings on either cloud, and return each message's story, to compare the two."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple

from proof.handlers import Unwanted
from recoverable import Message, Recoverability, RetryAfter
from recoverable._sqs.wire import HEADERS
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import SeenMessage, ServiceBusWorld, SqsWorld
from recoverable_local.testing.engine.virtual import VirtualWorld

QUEUE = "jobs"
LOCK = timedelta(minutes=1)  # as the world locks the messages of a queue
MESSAGE_ID = "NServiceBus.MessageId"

MAY_DIFFER = {
    "$.diagnostics.hostid": "the host's own name",
    "$.diagnostics.hostdisplayname": "the host's own name",
    "NServiceBus.ProcessingMachine": "the machine's own name",
    "NServiceBus.ExceptionInfo.StackTrace": "the frames between host and handler",
    "Recoverable.Origin": "the broker's own id",
    "NServiceBus.TimeSent": "SQS tells it to the millisecond",
    "Recoverable.FailedQueue": "an ARN or the address in a namespace",
    "Recoverable.RequestId": "only Lambda has one",
    "Recoverable.LogGroup": "only Lambda has one",
    "Recoverable.LogStream": "only Lambda has one",
    "Recoverable.Version": "only Lambda has one",
}
"""The headers in which an error copy may differ between the clouds, and why."""


class Attempt(NamedTuple):
    """One run of the handler: when, in which round, its number there, and how it ended."""

    at: timedelta
    round: int
    number: int
    word: str


@dataclass
class Story:
    """The attempts of a message, and where it ended with which headers; no end when it was processed or discarded."""

    attempts: list[Attempt] = field(default_factory=list)
    ends: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)

    def delays(self) -> list[timedelta]:
        """Return the time from the end of each round to the start of the next."""
        rounds = [attempt.round for attempt in self.attempts]
        edges = [place for place in range(1, len(rounds)) if rounds[place] != rounds[place - 1]]
        return [self.attempts[place].at - self.attempts[place - 1].at for place in edges]

    def steps(self) -> list[tuple[int, int, str]]:
        """Return the attempts without their times."""
        return [(attempt.round, attempt.number, attempt.word) for attempt in self.attempts]


ERRORS: Mapping[str, Callable[[], Exception]] = {
    "fails": lambda: ValueError("no"),
    "is a key": lambda: KeyError("key"),
    "waits": lambda: RetryAfter(timedelta(seconds=20)),
    "unwanted": lambda: Unwanted("not for us"),
}


def error_of(word: str) -> Exception:
    """Return the error that a word of a script raises."""
    return ERRORS[word]()


class Scripted:
    """A handler that ends as its message's script says, and records each run; the script's last word repeats."""

    def __init__(self, world: VirtualWorld, scripts: Mapping[str, Sequence[str]]) -> None:
        self._world, self._start, self._scripts = world, world.now, scripts
        self.stories = {message_id: Story() for message_id in scripts}

    def __call__(self, message: Message) -> None:
        story, script = self.stories[message.id], self._scripts[message.id]
        word = script[min(len(story.attempts), len(script) - 1)]
        at = self._world.now - self._start
        story.attempts.append(Attempt(at, message.round, message.attempt, word))
        if word != "ok":
            raise error_of(word)


def on_sqs(
    scripts: Mapping[str, Sequence[str]], ladder: Recoverability, *, counted_in_headers: bool
) -> dict[str, Story]:
    """Return the messages' stories on SQS and Lambda."""
    world = SqsWorld()
    handler = Scripted(world, scripts)
    counter: Any = "header" if counted_in_headers else "native"
    world.serve(QUEUE, SqsEndpoint(handler, ladder, counter=counter), recursive_loop="Allow")
    for message_id in scripts:
        world.send(QUEUE, "x", attributes={HEADERS: f'{{"{MESSAGE_ID}": "{message_id}"}}'})
    world.run()
    return stories_with_ends(handler, [seen for name in world._broker.queues for seen in world.queue(name)])


def on_service_bus(
    scripts: Mapping[str, Sequence[str]], ladder: Recoverability, *, counted_in_headers: bool
) -> dict[str, Story]:
    """Return the messages' stories on Service Bus and Functions."""
    world = ServiceBusWorld()
    handler = Scripted(world, scripts)
    endpoint = ServiceBusEndpoint(
        handler,
        ladder,
        queue=QUEUE,
        connection="ServiceBus",
        name="jobs",
        batch=counted_in_headers,
        lock=LOCK if counted_in_headers else None,
    )
    world.serve(QUEUE, endpoint)
    for message_id in scripts:
        world.send(QUEUE, "x", attributes={MESSAGE_ID: message_id})
    world.run()
    return stories_with_ends(handler, [seen for name in world._queues.names() for seen in world.queue(name)])


def stories_with_ends(handler: Scripted, remaining: Sequence[SeenMessage]) -> dict[str, Story]:
    """Return the stories, with the queue where each message is in the end."""
    for seen in remaining:
        headers = {name: text for name, text in seen.headers.items() if name not in MAY_DIFFER}
        handler.stories[seen.id].ends.append((seen.queue, headers))
    return handler.stories
