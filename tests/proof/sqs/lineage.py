"""Record which copy was made of which delivery, in the copy's trace header, where tracers write theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from proof.lineage import Origin, reason_for, to_text
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.settlement import Forward
from recoverable._sqs.queues import Queue
from recoverable.aws import _settle as settling
from recoverable.aws._copies import Copy, copy_of


@contextmanager
def traced() -> Iterator[None]:
    """Let each copy carry its origin; nothing else tells two copies of one message apart."""

    def traced_copy_of(delivery: Delivery, forward: Forward, *, to: Queue, **others: Any) -> Copy | None:
        copy = copy_of(delivery, forward, to=to, **others)
        if copy is None:
            return None
        trace = {"DataType": "String", "StringValue": to_text(origin_of(delivery, forward))}
        return copy._replace(entry={**copy.entry, "MessageSystemAttributes": {"AWSTraceHeader": trace}})

    with patch.object(settling, "copy_of", traced_copy_of):
        yield


def origin_of(delivery: Delivery, forward: Forward) -> Origin:
    """Return the origin of a copy."""
    record = delivery.message.native
    return Origin(record["messageId"], int(record["attributes"]["ApproximateReceiveCount"]), reason_for(forward))
