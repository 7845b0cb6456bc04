"""List the metrics, and count what an invocation came to. The dashboards and alarms of the templates use the names in this list."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recoverable._observe.facts import Facts


class Metric(NamedTuple):
    """A metric.

    Args:
        name: CloudWatch's name for it.
        instrument: OpenTelemetry's name for it.
        meaning: what it counts.
    """

    name: str
    instrument: str
    meaning: str


IMMEDIATE_RETRIES = Metric("ImmediateRetries", "recoverable.immediate_retries", "immediate retries")
DELAYED_RETRIES = Metric("DelayedRetries", "recoverable.delayed_retries", "delayed retries that were scheduled")
MOVED_TO_ERROR = Metric("MovedToError", "recoverable.moved_to_error", "messages that moved to the error queue")
DISCARDED = Metric("Discarded", "recoverable.discarded", "messages that a policy discarded")
DEFERRED = Metric("Deferred", "recoverable.deferred", "waits that count as no attempt")
UNREPORTED = Metric("Unreported", "recoverable.unreported", "failures of deliveries that ended without an outcome")
SETTLEMENT_FAILURES = Metric(
    "SettlementFailures", "recoverable.settlement_failures", "decisions that could not be made, or not be carried out"
)
RATE_LIMITED = Metric("RateLimited", "recoverable.rate_limited", "1 while the rate is limited, else 0")

COUNTERS = (IMMEDIATE_RETRIES, DELAYED_RETRIES, MOVED_TO_ERROR, DISCARDED, DEFERRED, UNREPORTED, SETTLEMENT_FAILURES)
METRICS = (*COUNTERS, RATE_LIMITED)

BY_ACTION = {
    "immediate_retry": IMMEDIATE_RETRIES,
    "delayed_retry": DELAYED_RETRIES,
    "move_to_error": MOVED_TO_ERROR,
    "discard": DISCARDED,
    "deferral": DEFERRED,
}


def metrics_of(facts: Facts, *, done: bool) -> list[Metric]:
    """Return the counters that one decision increases.

    Args:
        facts: the decision.
        done: True if it was carried out.
    """
    counted = [BY_ACTION[facts.action]] if done else [SETTLEMENT_FAILURES]
    return [*counted, UNREPORTED] if facts.unreported else counted


def count(decisions: Iterable[tuple[Facts, bool]]) -> Counter[Metric]:
    """Return how often each counter is increased by all decisions; each comes with True if it was carried out."""
    return Counter(metric for facts, done in decisions for metric in metrics_of(facts, done=done))
