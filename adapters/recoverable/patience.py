"""Calls that may never come back, and how long they are waited for."""

from __future__ import annotations

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor
    from typing import TypeVar

    T = TypeVar("T")


def answer_within(seconds: float, caller: Executor, call: Callable[[], T]) -> T:
    """The answer to a call, which is made in a thread: looking up a name or fetching a token, for two, knows no time-out of ours.

    Args:
        seconds: how long it is waited for.
        caller: the thread; with one, a call that hangs keeps those after it waiting, which are given up as soon.
        call: what is asked.

    Raises:
        TimeoutError: there is no answer in time. What the call raises passes as it is.
    """
    answer = caller.submit(call)
    try:
        return answer.result(seconds)
    finally:
        answer.cancel()  # what was given up and has not begun must not be done later
