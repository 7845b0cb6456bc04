"""Find out what kind of function a handler is, and refuse handlers and policies that cannot be called with what they get."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from functools import partial

from recoverable._limits import ASYNC_GENERATOR, COROUTINE, GENERATOR, checked_function, code_flags, name_of

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ANY_NUMBER = 0x04
"""The flag of code that takes `*args` (CPython, "Code Objects Bit Flags" of `inspect`)."""


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


def check(handler: Any) -> None:
    """Raise TypeError, whose text says what to write instead, unless the handler is a function of one message."""
    if not callable(handler):
        raise TypeError(f"the handler is {handler!r}; write a function that takes one Message")
    if isinstance(handler, type):
        raise TypeError(
            f"the handler is the class {handler.__name__}; write a function that takes one Message, or {handler.__name__}()"
        )
    if code_flags(handler) & (GENERATOR | ASYNC_GENERATOR):
        raise TypeError(
            f"the handler {name_of(handler)} is a generator, and calling it runs nothing; write return instead of yield"
        )
    _check_arguments(handler)


def _check_arguments(handler: Any) -> None:
    """Refuse a handler that takes no argument or needs more than one."""
    if (names := _unfit_arguments(handler, 1)) is not None:
        raise TypeError(
            f"the handler {name_of(handler)} takes ({', '.join(names)}); write a function that takes one Message:"
            " the endpoint is what the platform calls, and gives each message to it"
        )


def refuse_generator(result: object) -> None:
    """Refuse a generator: the function that returned it has not begun.

    Raises:
        TypeError: it is a generator, plain or asynchronous.
    """
    if isinstance(result, Generator | AsyncGenerator):
        raise TypeError("the handler answered a generator, and nothing of it has run; write return instead of yield")


def check_policy(policy: Any) -> None:
    """Raise TypeError, whose text says what to write instead, unless the policy is a plain function of settings and error context."""
    wanted = "a function (recoverability, error_context) -> action"
    checked_function("Recoverability(policy)", policy, wanted)
    if (names := _unfit_arguments(policy, 2)) is not None:
        raise TypeError(
            f"Recoverability(policy) is {name_of(policy)}, which takes ({', '.join(names)}); write {wanted}"
        )


def _unfit_arguments(callee: Any, given: int) -> tuple[str, ...] | None:
    """Return the names of a function's arguments when it cannot be called with so many by place; None when it can.

    None too for one without a readable signature, such as a built-in.
    """
    function = callee if hasattr(callee, "__code__") else callee.__call__
    code = getattr(function, "__code__", None)
    if isinstance(callee, partial) or code is None or code_flags(function) & ANY_NUMBER:
        return None
    names: tuple[str, ...] = code.co_varnames[hasattr(function, "__self__") : code.co_argcount]
    wanted = len(names) - len(function.__defaults__ or ())
    return names if len(names) < given or wanted > given else None
