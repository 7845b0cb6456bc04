"""An invocation for the tests of attempts: time that is said, and handlers that note what they were given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from builders import environment, platform, recoverability
from recoverable import Message, Recoverability
from recoverable._flow.deadline import FOREVER
from recoverable._flow.drive_async import attempt_concurrently
from recoverable._flow.flow import attempt_each, drive
from recoverable._flow.invocation import Invocation
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.settlement import Platform, Settlement
from recoverable.hosting import Deadline, TimeUp

T = TypeVar("T")
R = TypeVar("R")


def invocation(
    settings: Recoverability | None = None,
    on: Platform | None = None,
    *,
    left: float | None = None,
    handler_timeout: timedelta | None = None,
    deadline: type[Deadline] = Deadline,
) -> Invocation:
    """Return an invocation at the builders' time.

    Args:
        settings: the ladder; the builders' by default.
        on: the platform; the builders' by default.
        left: how many seconds are left, always; None for no limit.
        handler_timeout: how long one handler may run.
        deadline: what stops plain functions.
    """
    own = {} if handler_timeout is None else {"own_seconds": handler_timeout.total_seconds()}
    time = deadline(None if left is None else lambda: left, **own)
    return Invocation(settings or recoverability(), on or platform(), environment(), time)


def attempt(handler: Callable[[Message], Any], of: Delivery, within: Invocation) -> Settlement:
    """Return the settlement of one delivery that goes through the flow with a plain handler."""
    with within.deadline:
        drive(attempt_each([of.message], within), handler, within.deadline)
    return settlement_of(of, within)


def attempts(
    handler: Callable[[Message], Awaitable[Any]], deliveries: Sequence[Delivery], within: Invocation, concurrency: int
) -> list[Settlement]:
    """Return the settlements of deliveries that go through the flow with a coroutine handler, so many at a time."""
    attempt_concurrently(attempt_each, handler, [each.message for each in deliveries], within, concurrency)
    return [settlement_of(each, within) for each in deliveries]


def settlement_of(delivery: Delivery, within: Invocation) -> Settlement:
    """Return the settlement that the flow has recorded."""
    settlement = within.settlement_of(delivery)
    assert settlement is not None
    return settlement


class Rung(Deadline):
    """A deadline at a clock that stands still, whose time is up as soon as a handler is called."""

    __slots__ = ()

    @staticmethod
    def now() -> float:
        """Return the same time at each call."""
        return 0.0

    def observed(self, handler: Callable[[T], R]) -> Callable[[T], R]:
        """Return what stops the handler before it has begun, unless nothing limits its time."""

        def call(argument: T) -> R:
            if self.ends == FOREVER:
                return handler(argument)
            raise TimeUp

        return call


class Silent(Deadline):
    """A deadline whose alarm never rings, however little time there is."""

    __slots__ = ()

    def arm(self) -> None:
        """Set no timer."""


class Handler:
    """A plain handler that notes the ids of its messages, and raises what the test sets.

    Args:
        error: what it raises.
    """

    def __init__(self, error: BaseException | None = None) -> None:
        self.error, self.handled = error, list[str]()

    def __call__(self, message: Message) -> None:
        """Note and raise."""
        self.handled.append(message.id)
        if self.error is not None:
            raise self.error


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Return what was logged about failures, by logger and exception."""
    return [
        (record.name.removeprefix("recoverable."), repr(record.exc_info[1]))
        for record in caplog.records
        if record.exc_info
    ]
