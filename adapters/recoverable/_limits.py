"""Define the bounds on settings and on what headers say, and check settings when they are made.

Each check returns the value, or raises an error with the value and what to write instead.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from typing import Any

MAX_IMMEDIATE = 994
"""SQS allows a maxReceiveCount of 1,000 at most (SetQueueAttributes, RedrivePolicy), which must be immediate retries +
6."""

MAX_DELAYED = 1_000
"""After this many delayed retries a message moves to the error queue, whatever a policy says: nothing retries for
ever."""

MAX_COUNT = 10_000
"""A counter in a header above this was not written by this package and reads as 0."""

MAX_DELAY = timedelta(days=365)
"""The longest delay; a message that claims to be due later than this is due now."""

NO_DELAY = timedelta(0)

GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200
"""Flags of code objects (CPython, "Code Objects Bit Flags" of `inspect`)."""


def was_idle(used_at: float, now: float, limit: float) -> bool:
    """True if a connection was used longer ago than the limit allows, or at a time that its clock has not reached; all are seconds."""
    return not 0 <= now - used_at <= limit


def checked_count(name: str, value: object, most: int, *, least: int = 0) -> int:
    """Return the value if it is a whole number from `least` to `most`; else raise TypeError or ValueError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is {value!r}; write {number_up_to(most, least)}")
    if not least <= value <= most:
        raise ValueError(f"{name} is {value:,}; write {number_up_to(most, least)}")
    return value


def number_up_to(most: int, least: int = 0) -> str:
    """Return the words for a whole number from `least` to `most`, for errors."""
    return f"a whole number from {least} to {most:,}"


def checked_number(name: str, value: object, least: float, most: float) -> float:
    """Return the value if it is a number from `least` to `most`; else raise TypeError or ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} is {value!r}; write a number from {least} to {most}")
    if not least <= value <= most:
        raise ValueError(f"{name} is {value!r}; write a number from {least} to {most}")
    return value


def checked_delay(name: str, value: object, most: timedelta = MAX_DELAY) -> timedelta:
    """Return the value if it is a duration from 0 to `most`; else raise TypeError or ValueError."""
    if not isinstance(value, timedelta):
        raise TypeError(f"{name} is {value!r}; write a timedelta, such as timedelta(seconds=10)")
    if not NO_DELAY <= value <= most:
        shown = value if value >= NO_DELAY else f"-{-value}"  # Python writes -1 s as "-1 day, 23:59:59"
        raise ValueError(f"{name} is {shown}; write a timedelta from 0 to {most}")
    return value


def checked_queue(name: str, value: object, wanted: str = "the name of a queue") -> str:
    """Return the value if it is a text and not blank, as a queue's name is; else raise TypeError or ValueError."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; write {wanted}")
    if not value.strip():
        raise ValueError(f"{name} is blank; write {wanted}")
    return value


def checked_function(name: str, value: object, wanted: str) -> None:
    """Raise TypeError unless the value is a plain function: recovery awaits no coroutine and runs no generator."""
    if not callable(value) or isinstance(value, type):
        raise TypeError(f"{name} is {name_of(value)}; write {wanted}")
    if code_flags(value) & (COROUTINE | GENERATOR | ASYNC_GENERATOR):
        raise TypeError(f"{name} is {name_of(value)}, an async def or generator; write {wanted}, by a plain def")


def checked_part(name: str, part: object, kind: type) -> None:
    """Raise TypeError unless a part of `Recoverability` is of its class."""
    if not isinstance(part, kind):
        raise TypeError(f"Recoverability({name}) is {part!r}; write {name}={kind.__name__}(...)")


def code_flags(handler: Any) -> int:
    """Return the flags of the code that a call of the handler runs; 0 if it is not written in Python."""
    while isinstance(handler, partial):
        handler = handler.func
    code = getattr(handler, "__code__", None) or getattr(type(handler).__call__, "__code__", None)
    return getattr(code, "co_flags", 0)


def name_of(thing: object) -> str:
    """Return the name of a class or function for an error text; its repr if it has no name."""
    return getattr(thing, "__name__", None) or repr(thing)
