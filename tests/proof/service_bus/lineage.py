"""Which copy was made of which delivery: written where tracers write theirs, into the property `Diagnostic-Id`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from proof.lineage import Origin, why, written
from recoverable.azure import client
from recoverable.azure.copies import Copy, copy_of
from recoverable.recovery.delivery import Delivery
from recoverable.recovery.settlement import Forward
from recoverable_local.testing import ServiceBusWorld
from recoverable_local.testing.engine.invocation import current_number

TRACE = "Diagnostic-Id"


@contextmanager
def traced(world: ServiceBusWorld) -> Iterator[None]:
    """Have each copy carry its origin: nothing else that a copy has tells two copies of one message apart."""

    def traced_copy_of(delivery: Delivery, forward: Forward, **others: Any) -> Copy:
        copy = copy_of(delivery, forward, **others)
        copy.properties[TRACE] = written(origin_of(world, delivery, forward))
        return copy

    with patch.object(client, "copy_of", traced_copy_of):
        yield


def origin_of(world: ServiceBusWorld, delivery: Delivery, forward: Forward) -> Origin:
    """What the copy is made of: the message of this invocation that has the delivery's sequence number."""
    invocation, number = current_number(), delivery.message.native.sequence_number
    told = f" of number {number}"
    for entry in reversed(world._journal._entries):
        if entry.invocation == invocation and entry.what == "received" and entry.detail.endswith(told):
            return Origin(entry.broker_id, int(entry.detail.split()[1]), why(forward))
    raise AssertionError(f"invocation {invocation} has received nothing with the number {number}")
