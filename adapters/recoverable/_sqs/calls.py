"""Bound a call to SQS as a whole: looking up a name, trying several addresses and agreeing on TLS have no time-out that an SDK's settings reach."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def call_within(seconds: float, call: Callable[[], T]) -> T:
    """Return the result of a call, made in a thread of its own.

    A call that does not end in time is abandoned: it may still succeed later. It holds up neither the calls after it nor the end of
    the process.

    Args:
        seconds: how long to wait for the result.
        call: the call.

    Raises:
        TimeoutError: there is no result in time. Exceptions of the call are raised as they are.
    """
    future: Future[T] = Future()
    context = copy_context()  # tracing finds its span there

    def run() -> None:
        try:
            future.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001  # raised where the result is waited for
            future.set_exception(error)

    Thread(target=run, name="recoverable-call", daemon=True).start()
    return future.result(seconds)
