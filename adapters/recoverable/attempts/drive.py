"""Run plain handlers: the driver of the flow, and one run of a handler."""

from __future__ import annotations

from recoverable.attempts.flow import Call, attempt_each
from recoverable.attempts.invocation import FOREVER

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from recoverable.attempts.deadline import Deadline
    from recoverable.attempts.flow import Runner, Steps
    from recoverable.attempts.invocation import Invocation
    from recoverable.message import Message
    from recoverable.recovery.delivery import Delivery


def drive(steps: Steps, handler: Callable[[Message], Any], deadline: Deadline | None = None) -> None:
    """Do all steps of a flow with a plain handler.

    Args:
        steps: the flow.
        handler: the user's function.
        deadline: stops it when its time is up; None where nothing can.
    """
    run = runner(handler, deadline)
    try:
        step = next(steps)
        while True:
            try:
                answer = step.function() if isinstance(step, Call) else run(*step)
            except Exception as error:  # noqa: BLE001  # the flow handles it, or ends with it
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration:
        return


def attempt_all(deliveries: Iterable[Delivery], invocation: Invocation, handler: Callable[[Message], Any]) -> None:
    """Take deliveries through the flow with a plain handler; all of them, unless `attempt_each` ends early."""
    drive(attempt_each(deliveries, invocation, run=runner(handler, invocation.deadline)), handler, invocation.deadline)


def runner(handler: Callable[[Message], Any], deadline: Deadline | None) -> Runner:
    """Return a function that runs the handler once; it returns None, or whatever was raised, for a lost error is a lost message."""

    def run(message: Message, seconds: float) -> BaseException | None:
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

    return run
