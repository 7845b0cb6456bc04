"""Write messages as JSON lines, and read such lines as a queue from which messages are sent back."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import IO, Any

from recoverable_operate.errors._holding import Held, Holding
from recoverable_operate.errors._message import FailedMessage, digest, id_of_edit
from recoverable_operate.errors._queue import BATCH, Copy, ErrorQueue, GivenBack, OperateError, SendResult

FORMAT = 1
"""The version of a line."""


def line_of(message: FailedMessage, queue: ErrorQueue) -> str:
    """Return a message as a line of JSON, from which it can be sent back as it was."""
    content = {
        "recoverable": FORMAT,
        "queue": queue.address,
        "body": digest(message.body),
        "message": queue.to_line(message),
    }
    return json.dumps(content) + "\n"


def message_of(text: str, queue: ErrorQueue) -> FailedMessage:
    """Return the message of a line; with a new id where its body was edited.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    line = json.loads(text)
    if not isinstance(line, dict) or line.get("recoverable") != FORMAT:
        raise ValueError('it does not have "recoverable": 1')
    message = queue.from_line(line["message"])
    if message.body is None or line.get("body") == digest(message.body):
        return message
    return replace(message, new_id=id_of_edit(message, message.body))


class ExportedQueue:
    """A file of exported messages, sent back as if they were still in the error queue that it came from.

    Args:
        queue: the error queue.
        lines: the file.
        name: its name, which errors quote.
    """

    ordered = False  # the lines are in the order in which they are to be sent
    sends_along = False  # all lines are checked before the first is sent
    trusted_source = False  # a file says what somebody wrote into it

    def __init__(self, queue: ErrorQueue, lines: IO[str], name: str) -> None:
        self._queue, self._lines, self._name = queue, lines, name
        self._held = Holding()
        self.address = queue.address  # a message is known to the journal as if it came from there

    def canonical(self, queue: str) -> str:
        """Return the full address of a queue."""
        return self._queue.canonical(queue)

    def sources(self) -> list[str]:
        """Return the queues that have the error queue for their dead letters."""
        return self._queue.sources()

    def notes(self) -> list[str]:
        """Return nothing: a file is read without harm."""
        return []

    def look(self) -> Generator[FailedMessage, None, None]:
        """Yield the message of each line; of lines that are the same message, the first."""
        for number, text in enumerate(self._lines, 1):
            try:
                message = message_of(text, self._queue)
            except (KeyError, TypeError, ValueError, RecursionError) as error:
                raise OperateError(f"{self._name}, line {number} is no exported message: {error}") from None
            if self._held.add(Held(message.broker_id, "", text, None), until=0, now=0):
                yield message

    def ending(self) -> str | None:
        """Return None: a file is read to its end."""
        return None

    def choose(self, message: FailedMessage, to: str) -> None:
        """Note where a message is to be sent."""
        self._held.choose(message.broker_id, to)

    def take(self) -> Iterator[tuple[str, list[FailedMessage]]]:
        """Yield the chosen messages in tens."""
        while held := self._held.chosen(BATCH):
            yield str(held[0].target), [message_of(each.raw, self._queue) for each in held]
            self._held.forget([each.id for each in held])

    def missed(self) -> str | None:
        """Return None: all is taken."""
        return None

    def send(self, to: str, copies: Sequence[Copy], delay: timedelta) -> SendResult:
        """Send copies as the error queue sends them."""
        return self._queue.send(to, copies, delay)

    def delete(self, messages: Sequence[FailedMessage]) -> dict[str, str]:  # noqa: ARG002  # the port's
        """Return that all is deleted: the file stays as it is."""
        return {}

    def to_line(self, message: FailedMessage) -> dict[str, Any]:
        """Return the record of a message."""
        return self._queue.to_line(message)

    def from_line(self, line: Mapping[str, Any]) -> FailedMessage:
        """Return the message of a record."""
        return self._queue.from_line(line)

    def keep(self) -> None:
        """Do nothing: lines do not come back."""

    def arrivals(self) -> Iterator[FailedMessage]:
        """Yield what has come to the error queue since."""
        return self._queue.arrivals()

    def give_back(self) -> GivenBack:
        """Give back what was received from the error queue to find canaries."""
        return self._queue.give_back()
