"""Read the orders queue on Service Bus."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING

from recoverable import Delayed, Failed, Immediate, Recoverability
from recoverable.azure import ServiceBusEndpoint
from shop import CardDeclined, is_bank_failure, place_order

if TYPE_CHECKING:
    from recoverable import RateLimit


def rate_limit() -> RateLimit | None:
    """Return the rate limit that the environment asks for: one order at a time, over all instances. Without one, nothing of it is imported."""
    failures = int(os.environ.get("RATE_LIMIT_AFTER", "0"))
    if not failures:
        return None
    from recoverable import RateLimit  # noqa: PLC0415
    from recoverable.azure.circuit_store import TableCircuit  # noqa: PLC0415

    return RateLimit(failures, counts=is_bank_failure, store=TableCircuit("circuits", "orders"))


orders = ServiceBusEndpoint(
    place_order,
    Recoverability(
        immediate=Immediate(max_retries=int(os.environ.get("IMMEDIATE_RETRIES", "5"))),
        delayed=Delayed(
            max_retries=int(os.environ.get("DELAYED_RETRIES", "3")),
            time_increase=timedelta(seconds=float(os.environ.get("TIME_INCREASE_SECONDS", "10"))),
        ),
        failed=Failed(unrecoverable=(CardDeclined,)),
        rate_limit=rate_limit(),
    ),
    queue="orders",
    connection="ServiceBus",
)
