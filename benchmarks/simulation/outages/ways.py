"""The ways to meet an outage that are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from recoverable import Failed, RateLimit, Recoverability

if TYPE_CHECKING:
    from simulation.outages.store import SharedCircuit

QUEUE, ERROR_QUEUE = "orders", "orders-error"

FAILURES = 10
"""How many attempts in a row start limiting."""


class Way(NamedTuple):
    """One of those that are compared.

    Args:
        name: what the tables call it.
        ladder: makes its settings, given the circuit that instances may share; None for a plain function and the broker's own redrive.
        pauses: whether its trigger is paused while the rate is limited.
        clouds: where there is such a thing.
    """

    name: str
    ladder: Callable[[SharedCircuit], Recoverability] | None
    pauses: bool = False
    clouds: tuple[str, ...] = ("AWS", "Azure")


def shared(store: SharedCircuit, **callbacks: Any) -> Recoverability:
    """Return one circuit for all instances."""
    return limited(RateLimit(FAILURES, store=store, **callbacks))


def limited(limit: RateLimit | None) -> Recoverability:
    """Return the default ladder with this limit."""
    return Recoverability(failed=Failed(ERROR_QUEUE), rate_limit=limit)


WAYS = {
    way.name: way
    for way in (
        Way("shared circuit", shared),
        Way("paused trigger", shared, pauses=True, clouds=("AWS",)),
        Way("circuit per instance", lambda _: limited(RateLimit(FAILURES))),
        Way("no rate limit", lambda _: limited(None)),
        Way("redrive policy", None),
    )
}
