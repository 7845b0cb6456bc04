"""What kind of function a handler is, found out without importing `inspect`."""

from __future__ import annotations

from functools import partial

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200
"""Flags of code objects (CPython, "Code Objects Bit Flags" of `inspect`)."""


def is_coroutine_function(handler: Callable[..., Any]) -> bool:
    """Whether calling the handler gives a coroutine.

    Raises:
        TypeError: it cannot be called, or calling it would run nothing because it is a generator.
    """
    if not callable(handler):
        raise TypeError(f"the handler is {handler!r}; write a function that takes one Message")
    if isinstance(handler, type):
        raise TypeError(
            f"the handler is the class {handler.__name__}; write a function that takes one Message, or {handler.__name__}()"
        )
    flags = code_flags(handler)
    if flags & (GENERATOR | ASYNC_GENERATOR):
        raise TypeError(
            f"the handler {name_of(handler)} is a generator, and calling it runs nothing; write return instead of yield"
        )
    return bool(flags & COROUTINE)


def code_flags(handler: Any) -> int:
    """The flags of the code that a call runs; 0 for what is not written in Python."""
    while isinstance(handler, partial):
        handler = handler.func
    code = getattr(handler, "__code__", None) or getattr(type(handler).__call__, "__code__", None)
    return getattr(code, "co_flags", 0)


def name_of(thing: object) -> str:
    """How a reader of an error message knows a class or function."""
    return getattr(thing, "__name__", None) or repr(thing)
