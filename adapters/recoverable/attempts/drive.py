"""Run plain handlers: the driver of the flow, and one run of a handler."""

from __future__ import annotations

from recoverable.attempts.flow import Call
from recoverable.attempts.invocation import FOREVER

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from recoverable.attempts.deadline import Deadline
    from recoverable.attempts.flow import Steps
    from recoverable.message import Message


def drive(steps: Steps, handler: Callable[[Message], Any], deadline: Deadline | None = None) -> None:
    """Do all steps of a flow with a plain handler.

    Args:
        steps: the flow.
        handler: the user's function.
        deadline: stops it when its time is up; None where nothing can.
    """
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
            from recoverable.attempts.results import finish  # noqa: PLC0415  # most handlers return nothing

            finish(result, seconds, deadline)
    except BaseException as error:  # noqa: BLE001  # recovery decides about each of them
        return error
    return None
