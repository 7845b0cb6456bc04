"""What kind of function a handler is, found out without importing `inspect`."""

from __future__ import annotations

from functools import partial

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x20, 0x80, 0x200
"""Flags of code objects (CPython, "Code Objects Bit Flags" of `inspect`)."""


def is_coroutine_handler(handler: Callable[..., Any]) -> bool:
    """Whether calling the handler gives a coroutine; what is plainly a function of one argument is not looked at closer.

    Raises:
        TypeError: it cannot be called with one message, or calling it would run nothing because it is a generator.
    """
    one = getattr(getattr(handler, "__code__", None), "co_argcount", 0) == 1
    if not one or hasattr(handler, "__self__") or code_flags(handler) & (GENERATOR | ASYNC_GENERATOR):
        from .signatures import check  # noqa: PLC0415  # most handlers are what they should be

        check(handler)
    return is_coroutine_function(handler)


def is_coroutine_function(function: Callable[..., Any]) -> bool:
    """Whether calling it gives a coroutine."""
    return bool(code_flags(function) & COROUTINE)


def code_flags(handler: Any) -> int:
    """The flags of the code that a call runs; 0 for what is not written in Python."""
    while isinstance(handler, partial):
        handler = handler.func
    code = getattr(handler, "__code__", None) or getattr(type(handler).__call__, "__code__", None)
    return getattr(code, "co_flags", 0)


def name_of(thing: object) -> str:
    """How a reader of an error message knows a class or function."""
    return getattr(thing, "__name__", None) or repr(thing)
