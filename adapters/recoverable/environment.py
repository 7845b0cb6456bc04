"""Hold what an invocation works with: client, clock and deadline; a test world hands over its own through one context variable."""

from __future__ import annotations

from contextvars import ContextVar

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from asyncio import Runner
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from datetime import datetime
    from typing import Any

    from recoverable.attempts.deadline import Deadline
    from recoverable.message import Message


class Environment:
    """What an invocation works with.

    Args:
        client: the SDK's client of the platform, or what stands in for it; None for the process's own.
        clock: gives the time.
        deadline: gives what stops a plain handler; Functions has no use for one.
        runner: gives what runs coroutines; None for the thread's own.
        wrap_handler: gives a handler that a test world observes, plain or coroutine as it was; None where the deadline observes.
        kept: what the process keeps for each endpoint from one invocation to the next.
    """

    __slots__ = ("client", "clock", "deadline", "kept", "runner", "wrap_handler")

    def __init__(
        self,
        client: Any,
        clock: Callable[[], datetime],
        deadline: Callable[[], AbstractContextManager[Deadline | None]],
        runner: Callable[[], Runner] | None = None,
        wrap_handler: Callable[[Callable[[Message], Any]], Callable[[Message], Any]] | None = None,
        kept: dict[object, Any] | None = None,
    ) -> None:
        self.client, self.clock, self.deadline = client, clock, deadline
        self.runner, self.wrap_handler = runner, wrap_handler
        self.kept: dict[object, Any] = {} if kept is None else kept


current_environment: ContextVar[Environment | None] = ContextVar("recoverable.environment", default=None)
"""The environment of a test world; in production there is none, and each endpoint uses its own."""
