"""Find out what kind of function a handler is, without importing `inspect`."""

from __future__ import annotations

from recoverable._flow.signatures import check
from recoverable._limits import ASYNC_GENERATOR, COROUTINE, GENERATOR, code_flags

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def is_coroutine_handler(handler: Callable[..., Any]) -> bool:
    """True if calling the handler gives a coroutine; a plain function of one argument is not checked further.

    Raises:
        TypeError: it cannot be called with one message, or calling it would run nothing because it is a generator.
    """
    one = getattr(getattr(handler, "__code__", None), "co_argcount", 0) == 1
    if not one or hasattr(handler, "__self__") or code_flags(handler) & (GENERATOR | ASYNC_GENERATOR):
        check(handler)
    return is_coroutine_function(handler)


def is_coroutine_function(function: Callable[..., Any]) -> bool:
    """True if calling it gives a coroutine."""
    return bool(code_flags(function) & COROUTINE)
