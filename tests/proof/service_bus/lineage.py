"""Record which copy was made of which delivery, in the property `Diagnostic-Id`, where tracers write theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from proof.lineage import Origin, reason_for, to_text
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.settlement import Forward
from recoverable._service_bus.wire import Copy
from recoverable.azure import _settle
from recoverable.azure._copies import copy_of
from recoverable_local.testing import ServiceBusWorld
from recoverable_local.testing.engine.invocation import current_number

TRACE = "Diagnostic-Id"


@contextmanager
def traced(world: ServiceBusWorld) -> Iterator[None]:
    """Let each copy carry its origin; nothing else tells two copies of one message apart."""

    def traced_copy_of(delivery: Delivery, forward: Forward, **others: Any) -> Copy:
        copy = copy_of(delivery, forward, **others)
        copy.properties[TRACE] = to_text(origin_of(world, delivery, forward))
        return copy

    with patch.object(_settle, "copy_of", traced_copy_of):
        yield


def origin_of(world: ServiceBusWorld, delivery: Delivery, forward: Forward) -> Origin:
    """Return the origin of a copy: the message of this invocation that has the delivery's sequence number."""
    invocation, number = current_number(), delivery.message.native.sequence_number
    ending = f" of number {number}"
    for entry in reversed(world._journal._entries):
        if entry.invocation == invocation and entry.what == "received" and entry.detail.endswith(ending):
            return Origin(entry.broker_id, int(entry.detail.split()[1]), reason_for(forward))
    raise AssertionError(f"invocation {invocation} has received nothing with the number {number}")
