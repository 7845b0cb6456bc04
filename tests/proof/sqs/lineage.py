"""Which copy was made of which delivery: written where tracers write theirs, into the copy's trace header."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from proof.lineage import Origin, why, written
from recoverable.aws import settle as settling
from recoverable.aws.copies import Copy, copy_of
from recoverable.aws.queues import Queue
from recoverable.recovery.delivery import Delivery
from recoverable.recovery.settlement import Forward


@contextmanager
def traced() -> Iterator[None]:
    """Have each copy carry its origin: nothing else that a copy has tells two copies of one message apart."""

    def traced_copy_of(delivery: Delivery, forward: Forward, *, source: Queue, to: Queue) -> Copy | None:
        copy = copy_of(delivery, forward, source=source, to=to)
        if copy is None:
            return None
        trace = {"DataType": "String", "StringValue": written(origin_of(delivery, forward))}
        return copy._replace(entry={**copy.entry, "MessageSystemAttributes": {"AWSTraceHeader": trace}})

    with patch.object(settling, "copy_of", traced_copy_of):
        yield


def origin_of(delivery: Delivery, forward: Forward) -> Origin:
    """What the copy is made of."""
    record = delivery.message.native
    return Origin(record["messageId"], int(record["attributes"]["ApproximateReceiveCount"]), why(forward))
