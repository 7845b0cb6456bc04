"""Run plain handlers: the driver of the flow."""

from __future__ import annotations

from recoverable._flow.deadline import FOREVER, TOLERANCE
from recoverable._flow.flow import attempt_each

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from recoverable._flow.deadline import Deadline
    from recoverable._flow.flow import Call, Flow, Run
    from recoverable._flow.invocation import Invocation
    from recoverable._message import Message


def attempt_all(messages: Iterable[Message], invocation: Invocation, handler: Callable[[Message], Any]) -> None:
    """Take messages through the flow with a plain handler; all of them, unless `attempt_each` ends early."""
    drive(attempt_each(messages, invocation), handler, invocation.deadline)


def drive(steps: Flow, handler: Callable[[Message], Any], deadline: Deadline) -> BaseException | None:
    """Do all steps of a flow with a plain handler, and return what it returns.

    Args:
        steps: the flow.
        handler: the user's function. Whatever it raises goes back into the flow, for a lost error is a lost message.
        deadline: stops it when its time is up.
    """
    observed, error = deadline.observed(handler), None
    try:
        step = next(steps)
        while True:
            if not isinstance(step, tuple):
                step = call(steps, step)
                continue
            message, seconds = step
            error = None
            try:
                try:
                    deadline.inside = True
                    if deadline.rings > deadline.ends + TOLERANCE:
                        deadline.arm()
                    result = observed(message)
                finally:
                    deadline.inside = False  # the timer runs on, for setting it costs time
                if result is not None:
                    finish(result, seconds, deadline)
            except BaseException as raised:  # noqa: BLE001  # recovery decides about each of them
                error = raised
            step = steps.send(error)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # as `Flow` says
    finally:
        del error  # it holds this frame by its traceback, and with it the message


def finish(result: Any, seconds: float, deadline: Deadline) -> None:
    """Run to its end an awaitable that a plain handler returned, so that no message is completed before it is handled.

    Args:
        result: what the handler returned.
        seconds: how long the handler may run.
        deadline: knows when that time ends: what the function itself took is gone.

    Raises:
        TypeError: it is a generator; what the awaited work raises passes as it is.
    """
    if hasattr(result, "__await__"):
        from recoverable._flow.drive_async import run_in_loop, within  # noqa: PLC0415  # asyncio, when there is something to await

        if seconds != FOREVER:
            seconds = max(deadline.ends - deadline.now(), 0.0)
        result = run_in_loop(within(seconds, result))
    from recoverable._flow.signatures import refuse_generator  # noqa: PLC0415  # most handlers return nothing

    refuse_generator(result)


def call(steps: Flow, function: Call) -> Run | Call:
    """Call a function of the flow, and return the step that follows its result, or what it raised."""
    try:
        answer = function()
    except Exception as error:  # noqa: BLE001  # the flow handles it, or ends with it
        return steps.throw(error)
    return steps.send(answer)
