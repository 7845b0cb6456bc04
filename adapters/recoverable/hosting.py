"""Define what those need who build hosts, tests and extensions: the environment of an invocation, how handlers are stopped, and what an extension is.

A host passes its own client, clock and deadline through one context variable.
"""

from __future__ import annotations

from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial
from time import monotonic, sleep

from recoverable._errors import TimeUp
from recoverable._lazy import attach

__all__ = [  # noqa: RUF022  # as `sorted` has it
    "Batch", "CircuitStore", "Deadline", "Environment", "Extension", "FACTS_FILE", "Facts", "Hidden", "Outcome", "Part",
    "Setup", "TimeUp", "current_environment", "is_coroutine_function", "log_observing_failed", "log_safely", "now",
    "record_of", "redacted_text", "traceback_of", "utc_clock", "within",
]  # fmt: skip

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from asyncio import Runner
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any

    from recoverable._flow.deadline import Deadline
    from recoverable._flow.event_loop import within
    from recoverable._flow.handlers import is_coroutine_function
    from recoverable._ladder.faults import redacted_text
    from recoverable._message import Message, record_of
    from recoverable._observe.extension import Batch, Extension, Hidden, Part, Setup
    from recoverable._observe.facts import Facts, Outcome
    from recoverable._observe.log import log_observing_failed, log_safely, traceback_of
    from recoverable._rate_limit.settings import CircuitStore
    from recoverable._variables import FACTS_FILE
else:
    __getattr__, __dir__ = attach(
        __name__,
        __all__,
        {
            "recoverable._flow.deadline": ("Deadline",),
            "recoverable._flow.event_loop": ("within",),
            "recoverable._flow.handlers": ("is_coroutine_function",),
            "recoverable._ladder.faults": ("redacted_text",),
            "recoverable._message": ("record_of",),
            "recoverable._observe.extension": ("Batch", "Extension", "Hidden", "Part", "Setup"),
            "recoverable._observe.facts": ("Facts", "Outcome"),
            "recoverable._observe.log": ("log_observing_failed", "log_safely", "traceback_of"),
            "recoverable._rate_limit.settings": ("CircuitStore",),
            "recoverable._variables": ("FACTS_FILE",),
        },
    )


class Environment:
    """Client, clock and deadline of an invocation.

    Args:
        client: the SDK's client of the platform, or a replacement for it; None for the process's own.
        clock: returns the time.
        deadline: returns the time of handlers and what stops a plain one, a `Deadline` or a subclass, made of its
            arguments; not used on Functions.
        runner: returns what runs coroutines; None for the thread's own.
        wrap_handler: returns a handler that a test observes, plain or coroutine as it was; on AWS for coroutines alone,
            for the deadline observes the others.
        kept: state of each endpoint that the process keeps from one invocation to the next.
        sleep: waits for so many seconds, for pauses between sends.
        call_within: makes a call to the broker that may take so many seconds; None to make it in a thread of its own.
        topic_client: as `client`, for SNS.
        call_handler_within: calls a plain handler that may take so many seconds, or raises `TimeUp`; None for a thread
            of its own. For Functions.
        seconds: returns the seconds of a clock that nobody sets.
        later: calls a function after so many seconds, beside the handlers, and returns a function that cancels that;
            None for a thread.
        extensions: take part in each invocation, behind those of the endpoint.

    `function_timeout` is after how many seconds a Functions host stops an invocation, and `lock_renewal` for how many seconds it renews a
    message's lock, where it is not host.json that says it; `denied` is what the broker last denied the process, by queue and action.
    """

    def __init__(
        self,
        client: Any,
        clock: Callable[[], datetime],
        deadline: Callable[..., AbstractContextManager[Any]],
        runner: Callable[[], Runner] | None = None,
        wrap_handler: Callable[[Callable[[Message], Any]], Callable[[Message], Any]] | None = None,
        kept: dict[object, Any] | None = None,
        sleep: Callable[[float], None] = sleep,
        call_within: Callable[[float, Callable[[], Any]], Any] | None = None,
        topic_client: Any = None,
        later: Callable[[float, Callable[[], None]], Callable[[], None]] | None = None,
        call_handler_within: Callable[[float, Callable[[], Any]], Any] | None = None,
        seconds: Callable[[], float] = monotonic,
        extensions: tuple[Extension, ...] = (),
    ) -> None:
        self.client, self.clock, self.deadline = client, clock, deadline
        self.runner, self.wrap_handler, self.sleep = runner, wrap_handler, sleep
        self.kept: dict[object, Any] = {} if kept is None else kept
        self.call_within, self.topic_client, self.later = call_within, topic_client, later
        self.call_handler_within, self.seconds, self.extensions = call_handler_within, seconds, extensions
        self.function_timeout: float | None = None
        self.lock_renewal: float | None = None
        self.denied: set[tuple[object, object]] = self.kept.setdefault("denied", set())


current_environment: ContextVar[Environment | None] = ContextVar("recoverable.current_environment", default=None)
"""The environment of a host or test; in production there is none, and each endpoint uses its own."""


now: Callable[[], datetime] = partial(datetime.now, UTC)
"""Returns the time in UTC: the clock where none is given."""


def utc_clock(clock: Callable[[], datetime] | None) -> Callable[[], datetime]:
    """Return a clock that tells UTC; our own for None. A time without a zone is the machine's, as everywhere in Python.

    A day in a local zone has 23 or 25 hours when daylight saving begins or ends, so a delay counted there is wrong.
    """
    return now if clock is None else lambda: clock().astimezone(UTC)
