"""List the metrics, and report them: to CloudWatch by a line in Lambda's log, and to OpenTelemetry where the application has loaded it.

The dashboards and alarms of the templates use the names in this list.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from recoverable.extensions._spans import SCOPE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from opentelemetry.metrics import Counter as Instrument
    from opentelemetry.metrics import Histogram, MeterProvider

    from recoverable.hosting import Facts, Outcome


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
    "immediate_retry": IMMEDIATE_RETRIES, "delayed_retry": DELAYED_RETRIES, "move_to_error": MOVED_TO_ERROR,
    "discard": DISCARDED, "deferral": DEFERRED,
}  # fmt: skip


def metrics_of(facts: Facts, *, done: bool) -> list[Metric]:
    """Return the counters that one decision increases; a success increases none.

    Args:
        facts: the decision.
        done: True if it was carried out.
    """
    if facts.action == "complete":
        return []
    counted = [BY_ACTION[facts.action]] if done else [SETTLEMENT_FAILURES]
    return [*counted, UNREPORTED] if facts.unreported else counted


def print_metrics(
    namespace: str, outcomes: Sequence[Outcome], *, rate_limited: bool | None, request_id: str, now: datetime
) -> None:
    """Print one line in CloudWatch's embedded metric format; its only dimension is the queue.

    It goes to stdout, not to a logger: as the text of a log entry it would be no metric.

    Args:
        namespace: the metrics' namespace.
        outcomes: the decisions and successes of the invocation, at least one.
        rate_limited: True while the rate is limited; None where it never is.
        request_id: Lambda's id of the invocation.
        now: the time.
    """
    counts = Counter(metric for each in outcomes for metric in metrics_of(each.facts, done=each.done))
    values = {metric.name: number for metric, number in counts.items()}
    if rate_limited is not None:
        values[RATE_LIMITED.name] = int(rate_limited)
    definitions = [{"Name": name, "Unit": "None" if name == RATE_LIMITED.name else "Count"} for name in values]
    queue, raised = outcomes[0].facts.queue, [each.facts.exception_type for each in outcomes if each.is_first]
    line = {
        "_aws": {
            "Timestamp": int(now.timestamp() * 1000),
            "CloudWatchMetrics": [{"Namespace": namespace, "Dimensions": [["Queue"]], "Metrics": definitions}],
        },
        # without both, Lambda takes the line for INFO, and a function that logs warnings alone would lose it
        "level": "ERROR",
        "timestamp": now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "Queue": queue,
        "RequestId": request_id,
        # a property and no dimension: each value of a dimension is a metric to pay for
        "ExceptionTypes": Counter(filter(None, raised)),
        **values,
    }
    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stdout.flush()


BOUNDARIES = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
"""The buckets of durations in seconds (OpenTelemetry, "Semantic conventions for messaging client metrics")."""


def record_metrics(system: str, queue: str, outcomes: Sequence[Outcome], *, rate_limited: bool | None) -> None:
    """Record decisions and the attempts before them by OpenTelemetry, which the application has loaded and flushes itself.

    Args:
        system: OpenTelemetry's name of the broker.
        queue: the queue's name.
        outcomes: the decisions and successes to record.
        rate_limited: True while the rate is limited; None where it never is. It is recorded after a success too,
            because a gauge stays as it was set last.
    """
    made = instruments(sys.modules["opentelemetry.metrics"].get_meter_provider())
    labels = {"messaging.system": system, "messaging.destination.name": queue}  # no id: each value is a series
    for each in outcomes:
        facts = each.facts
        attributes = labels | ({"error.type": facts.exception_type} if facts.exception_type else {})
        if each.is_first and facts.handler_time is not None and (facts.exception_type or facts.action != "deferral"):
            processed = attributes | {"messaging.operation.name": "process"}
            made.duration.record(facts.handler_time.total_seconds(), processed)
            made.consumed.add(1, processed)
        for metric in metrics_of(facts, done=each.done):
            made.counters[metric].add(1, attributes)
    if rate_limited is not None:
        made.rate_limited.set(int(rate_limited), labels)


class Instruments(NamedTuple):
    """The instruments of one meter provider."""

    duration: Histogram
    consumed: Instrument
    counters: Mapping[Metric, Instrument]
    rate_limited: Any


@cache
def instruments(provider: MeterProvider) -> Instruments:
    """Return the instruments of a provider, made once: a meter warns of a second one of the same name."""
    meter = provider.get_meter(SCOPE)
    return Instruments(
        duration=meter.create_histogram(
            "messaging.process.duration", "s", "Duration of processing operation.",
            explicit_bucket_boundaries_advisory=BOUNDARIES,
        ),
        consumed=meter.create_counter(
            "messaging.client.consumed.messages", "{message}", "Number of messages that were delivered to the application."
        ),
        counters={metric: meter.create_counter(metric.instrument, "{message}", metric.meaning) for metric in COUNTERS},
        rate_limited=meter.create_gauge(RATE_LIMITED.instrument, "1", RATE_LIMITED.meaning),
    )  # fmt: skip
