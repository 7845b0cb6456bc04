"""Check settings when they are made: each check returns the value, or says what came, what is allowed and what to write instead."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from recoverable.limits import MAX_DELAY, NO_DELAY

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from typing import Any

GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200
"""Flags of code objects (CPython, "Code Objects Bit Flags" of `inspect`)."""


def checked_count(name: str, value: object, most: int) -> int:
    """The whole number from 0 to `most`, or an error that says what to write instead."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is {value!r}; write a whole number from 0 to {most:,}")
    if not 0 <= value <= most:
        raise ValueError(f"{name} is {value:,}; write a whole number from 0 (no retries) to {most:,}")
    return value


def checked_number(name: str, value: object, least: float, most: float) -> float:
    """The number from `least` to `most`, or an error that says what to write instead."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} is {value!r}; write a number from {least} to {most}")
    if not least <= value <= most:
        raise ValueError(f"{name} is {value!r}; write a number from {least} to {most}")
    return value


def checked_delay(name: str, value: object, most: timedelta = MAX_DELAY) -> timedelta:
    """The duration from 0 to `most`, or an error that says what to write instead."""
    if not isinstance(value, timedelta):
        raise TypeError(f"{name} is {value!r}; write a timedelta, such as timedelta(seconds=10)")
    if not NO_DELAY <= value <= most:
        said = value if value >= NO_DELAY else f"-{-value}"  # Python writes -1 s as "-1 day, 23:59:59"
        raise ValueError(f"{name} is {said}; write a timedelta from 0 to {most}")
    return value


def checked_queue(name: str, value: object, wanted: str = "the name of a queue") -> str:
    """The queue's name, or an error that says what to write instead."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; write {wanted}")
    if not value.strip():
        raise ValueError(f"{name} is blank; write {wanted}")
    return value


def checked_function(name: str, value: object, wanted: str) -> None:
    """Refuse what cannot be called, and what gives a coroutine or generator when it is: the core awaits nothing."""
    if not callable(value) or isinstance(value, type):
        raise TypeError(f"{name} is {name_of(value)}; write {wanted}")
    if code_flags(value) & (COROUTINE | GENERATOR | ASYNC_GENERATOR):
        raise TypeError(f"{name} is {name_of(value)}, an async def or generator; write {wanted}, by a plain def")


def checked_part(name: str, part: object, kind: type) -> None:
    """Let a part of `Recoverability` pass.

    Raises:
        TypeError: it is of another kind.
    """
    if not isinstance(part, kind):
        raise TypeError(f"Recoverability({name}) is {part!r}; write {name}={kind.__name__}(...)")


def code_flags(handler: Any) -> int:
    """The flags of the code that a call runs; 0 for what is not written in Python."""
    while isinstance(handler, partial):
        handler = handler.func
    code = getattr(handler, "__code__", None) or getattr(type(handler).__call__, "__code__", None)
    return getattr(code, "co_flags", 0)


def name_of(thing: object) -> str:
    """How a reader of an error message knows a class or function."""
    return getattr(thing, "__name__", None) or repr(thing)
