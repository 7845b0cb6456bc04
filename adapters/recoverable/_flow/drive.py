"""Run plain handlers: the driver of the flow, one run of a handler, and what it returned."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from time import monotonic

from recoverable._flow.flow import Call, attempt_each
from recoverable._flow.invocation import FOREVER

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from recoverable._flow.deadline import Deadline
    from recoverable._flow.flow import Steps
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._message import Message


def drive(steps: Steps, handler: Callable[[Message], Any], deadline: Deadline | None = None) -> None:
    """Do all steps of a flow with a plain handler.

    Args:
        steps: the flow.
        handler: the user's function.
        deadline: stops it when its time is up; None where nothing can.
    """
    answer = None
    try:
        step = next(steps)
        while True:
            try:
                answer = step.function() if isinstance(step, Call) else run_handler(handler, *step, deadline)
            except Exception as error:  # noqa: BLE001  # the flow handles it, or ends with it
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration:
        return
    finally:
        del answer  # an error holds this frame by its traceback, and with it the message


def attempt_all(deliveries: Iterable[Delivery], invocation: Invocation, handler: Callable[[Message], Any]) -> None:
    """Take deliveries through the flow with a plain handler; all of them, unless `attempt_each` ends early."""
    deadline = invocation.deadline
    called = handler if deadline is None else deadline.observed(handler)
    drive(attempt_each(deliveries, invocation), called, deadline)


def run_handler(
    handler: Callable[[Message], Any], message: Message, seconds: float, deadline: Deadline | None
) -> BaseException | None:
    """Run the handler once; return None, or whatever it raised, for a lost error is a lost message."""
    try:
        if deadline is None or seconds == FOREVER:
            result = handler(message)
        else:
            result = deadline.call(seconds, handler, message)
        if result is not None:
            finish(result, seconds, deadline)
    except BaseException as error:  # noqa: BLE001  # recovery decides about each of them
        return error
    return None


def finish(result: Any, seconds: float, deadline: Deadline | None) -> None:
    """Run to its end an awaitable that a plain handler returned, so that no message is completed before it is handled.

    Args:
        result: what the handler returned.
        seconds: how long the handler may run.
        deadline: knows when that time ends, where it stops handlers: what the function itself took is gone.

    Raises:
        TypeError: it is a generator; what the awaited work raises passes as it is.
    """
    if hasattr(result, "__await__"):
        from recoverable._flow.event_loop import run_in_loop, within  # noqa: PLC0415  # asyncio, when there is something to await

        if deadline is not None and deadline.works and seconds != FOREVER:
            seconds = max(deadline.ends - monotonic(), 0.0)
        result = run_in_loop(within(seconds, result))
    refuse_generator(result)


def refuse_generator(result: object) -> None:
    """Refuse a generator: the function that returned it has not begun.

    Raises:
        TypeError: it is a generator, plain or asynchronous.
    """
    if isinstance(result, Generator | AsyncGenerator):
        raise TypeError("the handler answered a generator, and nothing of it has run; write return instead of yield")
