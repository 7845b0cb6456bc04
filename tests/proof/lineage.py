"""Which copy was made of which delivery, and why: written where tracers write theirs, into the copy's trace header."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple, cast
from unittest.mock import patch

from recoverable import headers
from recoverable.aws import settling
from recoverable.aws.copies import Copy, copy_of
from recoverable.aws.queues import Queue
from recoverable.delivery import Delivery
from recoverable.faults import FAILED_QUEUE
from recoverable.settlements import Forward

Why = Literal["error", "delayed retry", "immediate retry", "deferral", "hop"]


class Origin(NamedTuple):
    """What a copy was made of: a broker message, in which of its deliveries, and why."""

    parent: str
    delivery: int
    why: Why


def origin_from(trace: str | None) -> Origin | None:
    """The origin that a trace header tells; None for what a sender has sent."""
    if trace is None:
        return None
    parent, delivery, why = trace.split("|")
    return Origin(parent, int(delivery), cast("Why", why))


@contextmanager
def traced() -> Iterator[None]:
    """Have each copy carry its origin: nothing else that a copy has tells two copies of one message apart."""

    def traced_copy_of(delivery: Delivery, forward: Forward, *, source: Queue, to: Queue) -> Copy | None:
        copy = copy_of(delivery, forward, source=source, to=to)
        if copy is None:
            return None
        trace = {"DataType": "String", "StringValue": trace_of(delivery, forward)}
        return copy._replace(entry={**copy.entry, "MessageSystemAttributes": {"AWSTraceHeader": trace}})

    with patch.object(settling, "copy_of", traced_copy_of):
        yield


def trace_of(delivery: Delivery, forward: Forward) -> str:
    """The origin as a text."""
    record = delivery.message.native
    return f"{record['messageId']}|{record['attributes']['ApproximateReceiveCount']}|{why(forward)}"


def why(forward: Forward) -> Why:
    """Why a copy is made, told by the headers that only such a copy sets."""
    if FAILED_QUEUE in forward.changes:
        return "error"
    if headers.DELAYED_RETRIES in forward.changes:
        return "delayed retry"
    if forward.changes.get(headers.HELD_SINCE):
        return "deferral"
    return "immediate retry" if headers.CARRIED in forward.changes else "hop"
