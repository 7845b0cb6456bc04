"""An invocation for the tests of attempts: time that is said, and handlers that note what they were given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from builders import Clock, platform, recoverability
from recoverable import Message, Recoverability
from recoverable._errors import TimeUp
from recoverable._flow.deadline import Deadline
from recoverable._flow.drive import drive
from recoverable._flow.drive_async import attempt_concurrently
from recoverable._flow.flow import attempt_each
from recoverable._flow.invocation import Invocation
from recoverable._ladder.delivery import Delivery, Platform
from recoverable._ladder.settlement import Settlement

T = TypeVar("T")
R = TypeVar("R")


def invocation(
    settings: Recoverability | None = None,
    on: Platform | None = None,
    *,
    left: float | None = None,
    handler_timeout: timedelta | None = None,
    deadline: Deadline | None = None,
) -> Invocation:
    """Return an invocation at the builders' time.

    Args:
        settings: the ladder; the builders' by default.
        on: the platform; the builders' by default.
        left: how many seconds are left, always; None for no limit.
        handler_timeout: how long one handler may run.
        deadline: stops plain functions.
    """
    return Invocation(
        settings or recoverability(),
        on or platform(),
        Clock(),
        seconds_left=None if left is None else lambda: left,
        handler_timeout=handler_timeout,
        deadline=deadline,
    )


def attempt(handler: Callable[[Message], Any], of: Delivery, within: Invocation) -> Settlement:
    """Return the settlement of one delivery that goes through the flow with a plain handler."""
    drive(attempt_each([of], within), handler, within.deadline)
    return settlement_of(of)


def attempts(
    handler: Callable[[Message], Awaitable[Any]], deliveries: Sequence[Delivery], within: Invocation, concurrency: int
) -> list[Settlement]:
    """Return the settlements of deliveries that go through the flow with a coroutine handler, so many at a time."""
    attempt_concurrently(handler, deliveries, within, concurrency)
    return [settlement_of(each) for each in deliveries]


def settlement_of(delivery: Delivery) -> Settlement:
    """Return the settlement that the flow has noted."""
    assert delivery.settlement is not None
    return delivery.settlement


class Rung(Deadline):
    """An deadline whose time is up as soon as a handler is called, and which notes the time it was given."""

    __slots__ = ("seconds",)

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []

    def call(self, seconds: float, handler: Callable[[T], R], argument: T) -> R:
        """Call nothing."""
        self.seconds.append(seconds)
        raise TimeUp


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
