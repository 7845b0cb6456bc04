"""Builders with defaults for what the tests of every part need, so that each test says only what matters to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from recoverable import Delayed, ErrorContext, Failed, Immediate, Message, Policy, Recoverability
from recoverable._ladder.decision import Decision, decide
from recoverable._ladder.delivery import Delivery, carried_in
from recoverable._ladder.settlement import Platform
from recoverable.headers import write_date
from recoverable.hosting import Deadline, Environment

if TYPE_CHECKING:
    from recoverable._ladder.settlement import Counter

NOW = datetime(2026, 3, 14, 15, 9, 26, 535_897, tzinfo=UTC)
NOW_WRITTEN = "2026-03-14 15:09:26:535897 Z"
BODY = '{"order": 42}'
QUEUE = "orders"
ERROR_QUEUE = "orders-error"


class Boom(Exception):
    """Raised by failing handlers in the tests."""


def seconds(number: float) -> timedelta:
    """Return a duration of so many seconds."""
    return timedelta(seconds=number)


def written(moment: datetime) -> str:
    """Return the moment as it is written in a header."""
    return write_date(moment)


def message(
    body: str | bytes | Callable[[], str | bytes] = BODY,
    *,
    id: str = "m-1",  # noqa: A002  # as the message calls it
    headers: Mapping[str, str] | Callable[[Message], Mapping[str, str]] | None = None,
    attempt: int = 1,
    round: int = 0,  # noqa: A002  # as the message calls it
    queue: str = QUEUE,
    sent_at: datetime | Callable[[Message], datetime | None] | None = None,
    group_id: str | None = None,
    native: Any = None,
) -> Message:
    """Return a message on its first attempt."""
    return Message(
        body,
        id=id,
        headers=headers or {},
        attempt=attempt,
        round=round,
        queue=queue,
        sent_at=sent_at,
        group_id=group_id,
        native=native,
    )


def delivery(*, deliveries: int = 1, unreported: bool = False, **parts: Any) -> Delivery:
    """Return a message delivered for the first time; further arguments are the message's, or what its headers carry."""
    said = {name: parts.pop(name) for name in ("prior_attempts", "due_at", "held_since", "stopped") if name in parts}
    one = message(**parts)
    return Delivery(one, deliveries, carried_in(one.headers).__replace__(**said), unreported=unreported)


def error_context(
    exception: BaseException | None = None,
    *,
    failures: int = 1,
    retries: int = 0,
    now: datetime = NOW,
    **message_parts: Any,
) -> ErrorContext:
    """Return a first failure; further arguments are the message's."""
    failed = message(round=retries, **message_parts)
    return ErrorContext(
        exception=Boom("it broke") if exception is None else exception,
        message=failed,
        immediate_processing_failures=failures,
        delayed_deliveries_performed=retries,
        receive_address=failed.queue,
        now=now,
        carried=carried_in(failed.headers),
    )


def recoverability(
    immediate: int = 2,
    delayed: int = 2,
    *,
    time_increase: timedelta = timedelta(seconds=2),
    error_queue: str = ERROR_QUEUE,
    unrecoverable: tuple[Any, ...] = (),
    policy: Policy | None = None,
    **delayed_parts: Any,
) -> Recoverability:
    """Return two immediate and two delayed retries, with the error queue resolved; further arguments are those of `Delayed`."""
    return Recoverability(
        Immediate(immediate),
        Delayed(delayed, time_increase, **delayed_parts),
        Failed(error_queue, unrecoverable),
        policy=policy,
    )


def platform(
    counter: Counter = "native",
    *,
    longest_delay: timedelta | None = timedelta(minutes=15),
    host: str = "place-orders",
    machine: str = "instance-7",
    **parts: Any,
) -> Platform:
    """Return a platform that counts and can do everything, with SQS's longest delay."""
    return Platform(counter, longest_delay=longest_delay, host=host, machine=machine, **parts)


def decision(
    event: Any = None,
    *,
    of: Delivery | None = None,
    settings: Recoverability | None = None,
    on: Platform | None = None,
    now: datetime = NOW,
) -> Decision:
    """Decide about a first failure; `event` is the exception or the deferral."""
    return decide(
        of or delivery(),
        Boom("it broke") if event is None else event,
        recoverability=settings or recoverability(),
        platform=on or platform(),
        now=now,
    )


def environment(clock: Callable[[], datetime] | None = None) -> Environment:
    """Return the environment of an invocation without a client, at the builders' time unless a clock says another."""
    return Environment(None, clock or Clock(), Deadline)


class Clock:
    """A clock that stands until it is moved.

    Args:
        now: where it stands.
    """

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now

    def advance(self, by: timedelta) -> None:
        """Let time pass."""
        self.now += by
