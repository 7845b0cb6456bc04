"""Where a test world hands its client, its clock and its alarm to the endpoints that run in it; in production there is none."""

from __future__ import annotations

from contextvars import ContextVar

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from asyncio import Runner
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from datetime import datetime
    from typing import Any

    from .alarm import Alarm
    from .messages import Message


class World:
    """What an endpoint takes from its surroundings instead of what it was made with.

    Args:
        client: stands in for the SDK's client of that platform.
        clock: gives the world's time.
        alarm: gives what stops a plain handler, in the world's time; Functions has no use for one.
        runner: gives what runs coroutines in the world's time; None for the thread's own.
        watched: gives a handler that the world watches, plain or coroutine as it was; None where the alarm does.
        kept: what the process that endpoints run in keeps for each of them from one invocation to the next.
    """

    __slots__ = ("alarm", "client", "clock", "kept", "runner", "watched")

    def __init__(
        self,
        client: Any,
        clock: Callable[[], datetime],
        alarm: Callable[[], AbstractContextManager[Alarm | None]],
        runner: Callable[[], Runner] | None = None,
        watched: Callable[[Callable[[Message], Any]], Callable[[Message], Any]] | None = None,
        kept: dict[object, Any] | None = None,
    ) -> None:
        self.client, self.clock, self.alarm = client, clock, alarm
        self.runner, self.watched = runner, watched
        self.kept: dict[object, Any] = {} if kept is None else kept


current_world: ContextVar[World | None] = ContextVar("recoverable.world", default=None)
