"""Tell extensions what became of an invocation, and have what is raised to its host pass the redactor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recoverable._flow.flow import run_awaitable
from recoverable._ladder.faults import redacted_text, type_name
from recoverable._ladder.groups import ungrouped
from recoverable._observe.log import log_safely, observe

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from recoverable._flow.flow import Flow, Steps
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.faults import Redact
    from recoverable._observe.record import Record


LAST_MOMENT = 0.2
"""Seconds of the invocation's time that are left for its answer."""

NO_TIME = (
    "No time is left for what extensions do once messages are settled. It is left out; the messages are settled. Raise the function's time-out, "
    "or do less there."
)


class RedactedFailure(Exception):
    """Raised to the host in place of an exception whose text the redactor may change; the text begins with that one's type."""


def tell_extensions(
    record: Record, invocation: Invocation, unfinished: Collection[Delivery], time_left: Callable[[], float]
) -> Steps:
    """Tell extensions what became of the messages of an invocation, once all of it is settled.

    Args:
        record: has recorded what happened.
        invocation: the invocation.
        unfinished: the messages that the broker delivers again.
        time_left: returns the seconds that the invocation has left.
    """
    for call in record.settled(unfinished, invocation.settlement_of):
        if time_left() <= LAST_MOMENT:
            log_safely(observe.warning, NO_TIME, redact=invocation.redact)
            return
        coroutine = yield call
        if coroutine is not None:  # `drive_async` has awaited it
            run_awaitable(coroutine)


def for_host(steps: Flow, invocation: Invocation, deliveries: list[Delivery], time_left: Callable[[], float]) -> Flow:
    """Do all steps of a function that settles by returning or raising, tell extensions, and return what is raised to its host.

    It is returned for a caller to raise it: crash reporters read the local variables of each frame that an exception
    passes, and those of this flow hold the original.

    Args:
        steps: the flow.
        invocation: the invocation.
        deliveries: all of its messages.
        time_left: returns the seconds that the invocation has left.
    """
    failure: BaseException | None = None
    try:
        yield from steps
    except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001  # returned below
        failure = error
    record = invocation.record
    if record is not None:
        try:
            if not isinstance(failure, KeyboardInterrupt | SystemExit):
                yield from tell_extensions(record, invocation, deliveries if failure is not None else [], time_left)
        finally:
            record.parts.close()
    return failure and failure_for_host(failure, invocation.redact)


def failure_for_host(error: BaseException, redact: Redact | None) -> BaseException:
    """Return what is raised to the host instead of an exception: the exception itself where there is no redactor.

    An interruption is replaced by one of its kind, with an exit code or the redacted text.
    """
    if redact is None:
        return error
    text = redacted_text(error, redact)
    match error:
        case SystemExit(code=int() | None as code):
            return SystemExit(code)
        case SystemExit():
            return SystemExit(text)
        case KeyboardInterrupt():
            return KeyboardInterrupt(text)
        case _:
            return RedactedFailure(f"{type_name(ungrouped(error))}: {text}")
