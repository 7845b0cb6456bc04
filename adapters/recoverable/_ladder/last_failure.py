"""Define what an instance remembers of the last failure of a message, and how a later error copy says it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from recoverable._ladder.faults import (
    END_OF_INNER,
    EXCEPTION_MESSAGE,
    EXCEPTION_TYPE,
    FRAME,
    INNER_EXCEPTION_TYPE,
    SOURCE,
    STACK_TRACE,
    TIME_OF_FAILURE,
    Redact,
    exception_headers,
)

REMEMBERED = (INNER_EXCEPTION_TYPE, EXCEPTION_TYPE, EXCEPTION_MESSAGE, STACK_TRACE, SOURCE, TIME_OF_FAILURE)
"""The fault headers that an instance remembers of a failure."""

MOST_REMEMBERED_MESSAGE, MOST_REMEMBERED_TRACE, MOST_FRAMES = 1_000, 4_096, 60
"""Characters that it remembers of an exception's message, and of its stack trace, whose first frames are those of the last calls; and
frames that fill these."""


class LastFailure(NamedTuple):
    """The last failure of a message, as an instance remembers it.

    Args:
        headers: what of its fault headers is remembered.
        delivery: the delivery at which it was.
        settled: the last delivery that this instance has settled without a run of the handler since then, and so all before it.
    """

    headers: Mapping[str, str]
    delivery: int
    settled: int


def remembered_headers(exception: BaseException, *, now: datetime, redact: Redact | None) -> dict[str, str]:
    """Return what is remembered of a failure."""
    found = exception_headers(exception, now=now, redact=redact, most_frames=MOST_FRAMES)
    head, at, frames = found[STACK_TRACE].partition(FRAME)
    found[EXCEPTION_MESSAGE] = found[EXCEPTION_MESSAGE][:MOST_REMEMBERED_MESSAGE]
    found[STACK_TRACE] = f"{head[:MOST_REMEMBERED_MESSAGE]}{at}{frames}"[:MOST_REMEMBERED_TRACE]
    return {name: found[name] for name in REMEMBERED if name in found}


def after_last_failure(faults: Mapping[str, str | None], last: LastFailure, deliveries: int) -> dict[str, str]:
    """Return the headers that change in those of an `UnreportedFailure` because its message is known to have failed before.

    Where this instance itself has settled each delivery since, nothing else has happened to the message, and that failure is its reason.
    Else it is the inner exception.

    Args:
        faults: the fault headers of the `UnreportedFailure`.
        last: the last failure.
        deliveries: how often the message has been delivered.
    """
    if last.settled == deliveries:
        return dict(last.headers)
    kind, text = last.headers[EXCEPTION_TYPE], last.headers[EXCEPTION_MESSAGE]
    before = f"; before that, at delivery {last.delivery} of {deliveries}: {kind}: {text}"
    return {
        INNER_EXCEPTION_TYPE: kind,
        EXCEPTION_MESSAGE: f"{faults[EXCEPTION_MESSAGE]}{before}",
        STACK_TRACE: f"{faults[STACK_TRACE]} ---> {last.headers[STACK_TRACE]}\n{END_OF_INNER}",
    }
