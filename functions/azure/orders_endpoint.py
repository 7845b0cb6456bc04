"""Read the orders queue on Service Bus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recoverable import Failed, Recoverability
from recoverable.azure import ServiceBusEndpoint
from shop import CardDeclined, is_bank_failure, place_order

if TYPE_CHECKING:
    from recoverable import RateLimit


def rate_limit(limit: RateLimit) -> RateLimit:
    """Return the rate limit of the environment, which all instances share. Without one, nothing of it is imported."""
    from recoverable import RateLimit  # noqa: PLC0415
    from recoverable.circuits import TableCircuit  # noqa: PLC0415

    return RateLimit(limit.consecutive_failures, counts=is_bank_failure, store=TableCircuit("circuits", "orders"))


orders = ServiceBusEndpoint(
    place_order,
    Recoverability.from_environment(failed=Failed(unrecoverable=(CardDeclined,)), rate_limit=rate_limit),
    queue="orders",
    connection="ServiceBus",
)
