"""Build the endpoints and events that the tests of the SQS world share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import SqsWorld


class CardDeclined(Exception):
    pass


def decline(_message: Message) -> None:
    raise CardDeclined("do not honour")


def endpoint(
    handler: Callable[[Message], Any] = decline, *, immediate: int = 1, delayed: int = 1, **options: Any
) -> SqsEndpoint:
    """Return an endpoint with a short ladder: two attempts, and two more after ten seconds."""
    ladder = Recoverability(Immediate(immediate), Delayed(delayed), Failed("orders-error"))
    return SqsEndpoint(handler, ladder, **options)


def happened(world: SqsWorld, *whats: str) -> list[tuple[timedelta, str, str]]:
    """Return the time, kind and detail of each event; all events, or only those of these kinds."""
    return [(e.at, e.what, e.detail) for e in world.timeline() if not whats or e.what in whats]


def attempts(world: SqsWorld) -> list[tuple[int, str]]:
    """Return the second of each attempt, and how it ended."""
    return [(int(at.total_seconds()), detail) for at, _, detail in happened(world, "attempted")]


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)
