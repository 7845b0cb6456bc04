"""Define what a sweep needs of an error queue, whichever broker has it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from recoverable._ladder.copy_headers import Changes
from recoverable_operate.errors._message import FailedMessage

BATCH = 10
"""Messages that are received, sent or deleted together: the most of one call to SQS."""

PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds after which a send is repeated that a busy broker refused."""


class OperateError(Exception):
    """Raised when a command cannot go on; its text is one line that names what is missing."""


@contextmanager
def one_line(describe: Callable[[Exception], str]) -> Iterator[None]:
    """Raise what a call raises as one line.

    Args:
        describe: returns what is missing.

    Raises:
        OperateError: the call failed.
    """
    try:
        yield
    except OperateError:
        raise
    except Exception as error:
        raise OperateError(describe(error)) from error


class Clock(Protocol):
    """Tells the time, and waits."""

    def now(self) -> datetime:
        """Return the time."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """Return the time."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


@dataclass(slots=True)
class Stop:
    """True once the operator asked to stop; checked between calls, so that each call gets its answer."""

    requested: bool = False


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy to send.

    Args:
        message: its original, as an operator has edited it.
        changes: the headers that it sets and removes.
    """

    message: FailedMessage
    changes: Changes


@dataclass(slots=True)
class SendResult:
    """The result of sending copies, by the original's broker ids.

    Args:
        sent: those that the broker has.
        refused: those that it does not have, each with the reason.
        unanswered: the reason why it is not known whether the others were sent; empty when there are none.
    """

    sent: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    unanswered: str = ""


@dataclass(frozen=True, slots=True)
class GivenBack:
    """How looking ended.

    Args:
        visible: how many messages were given back.
        hidden: how many come back by themselves, because they could not be given back.
        until: when they do.
        why: why not.
    """

    visible: int = 0
    hidden: int = 0
    until: datetime | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Backlog:
    """How much a queue holds for the function that reads it.

    Args:
        waiting: how many messages can be received.
        in_flight: how many are being worked on; None where the broker counts them among the waiting ones.
        later: how many are delayed or scheduled.
        oldest: the age of the oldest; None where it is not known, or there is none.
        more: True if only the first ones were counted.
    """

    waiting: int
    in_flight: int | None
    later: int
    oldest: timedelta | None = None
    more: bool = False


class ErrorQueue(Protocol):
    """An error queue, with the calls that a sweep makes."""

    @property
    def address(self) -> str:
        """Return the queue's full address."""

    @property
    def ordered(self) -> bool:
        """True if the queue keeps the order of its groups, so that a group ends at the first message that stays."""

    @property
    def depth(self) -> int | None:
        """Return about how many messages the queue held when it was opened; None where the broker does not say it."""

    @property
    def sends_along(self) -> bool:
        """True if messages can be sent while the look goes on: what is looked at is held already."""

    @property
    def trusted_source(self) -> bool:
        """True if the broker's word on where it dead-lettered a message from is enough to send it back there."""

    def canonical(self, queue: str) -> str:
        """Return the full address of a queue, given by address, URL or name.

        Raises:
            OperateError: it is none.
        """

    def sources(self) -> list[str]:
        """Return the full addresses of the queues that have this one for their dead letters, as far as the broker says."""

    def backlog(self, queue: str) -> Backlog:
        """Return how much another queue holds, by its full address.

        Raises:
            OperateError: it cannot be asked.
        """

    def notes(self) -> list[str]:
        """Return what looking does to the queue and its messages, in sentences."""

    def look(self) -> Generator[FailedMessage, None, None]:
        """Yield each message once.

        Raises:
            OperateError: the queue cannot be looked at, or no longer without harm.
        """

    def ending(self) -> str | None:
        """Return why the look ended before it had seen all; None when it has seen all that was there."""

    def choose(self, message: FailedMessage, to: str) -> None:
        """Note that the message just looked at is to be sent to a queue; empty when it is to be deleted."""

    def take(self) -> Iterator[tuple[str, list[FailedMessage]]]:
        """Yield the chosen messages in tens, held so that nobody else gets them, with the queue that they are sent to."""

    def missed(self) -> str | None:
        """Return what was chosen and not taken, and why; None when all was taken."""

    def send(self, to: str, copies: Sequence[Copy], delay: timedelta | None) -> SendResult:
        """Send up to ten copies."""

    def delete(self, messages: Sequence[FailedMessage]) -> dict[str, str]:
        """Delete taken messages. Return those that were not deleted, by broker id, each with the reason."""

    def to_line(self, message: FailedMessage) -> dict[str, Any]:
        """Return the broker's record of a message as JSON can hold it, types and binary values included, without the body that a handler gets."""

    def from_line(self, line: Mapping[str, Any], body: bytes | None) -> FailedMessage:
        """Return the message of a record that `to_line` made, with this body; None where the record alone says it.

        Raises:
            KeyError, TypeError, ValueError: it is none.
        """

    def keep(self) -> None:
        """Keep what is held from coming back, where that is soon due."""

    def arrivals(self) -> Iterator[FailedMessage]:
        """Yield the messages that have come since the look."""

    def give_back(self) -> GivenBack:
        """Let others have again what is held."""
