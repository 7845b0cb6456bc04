"""Record metrics with OpenTelemetry's API, where the application has loaded it; nothing here imports or flushes it."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from recoverable._observe.metrics import COUNTERS, RATE_LIMITED, Metric, metrics_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from opentelemetry.metrics import Counter, Histogram, MeterProvider

    from recoverable._observe.facts import Facts

SCOPE = "recoverable"
"""The instrumentation scope of the metrics and spans."""

BOUNDARIES = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
"""The buckets of durations in seconds (OpenTelemetry, "Semantic conventions for messaging client metrics")."""

ATTEMPTED = frozenset({"immediate_retry", "delayed_retry", "move_to_error", "discard", "undecided", "complete"})
"""Actions that follow an attempt; a deferral follows one only where it has an exception."""


class Instruments(NamedTuple):
    """The instruments of one meter provider."""

    duration: Histogram
    consumed: Counter
    counters: Mapping[Metric, Counter]
    rate_limited: Any


def meter_provider() -> MeterProvider | None:
    """Return the application's meter provider; None where it has not loaded OpenTelemetry's metrics."""
    api: Any = sys.modules.get("opentelemetry.metrics")
    provider: MeterProvider | None = api and api.get_meter_provider()
    return provider


def record(provider: MeterProvider, system: str, decisions: Iterable[tuple[Facts, bool]]) -> None:
    """Record decisions and the attempts before them.

    Args:
        provider: the application's.
        system: OpenTelemetry's name of the broker.
        decisions: each with True if it was carried out.
    """
    made = instruments(provider)
    for facts, done in decisions:
        error = {"error.type": facts.exception_type} if facts.exception_type else {}
        attributes = labels(system, facts.queue) | error
        if facts.handler_time is not None and (facts.exception_type or facts.action in ATTEMPTED):
            processed = attributes | {"messaging.operation.name": "process"}
            made.duration.record(facts.handler_time.total_seconds(), processed)
            made.consumed.add(1, processed)
        for metric in [] if facts.action == "complete" else metrics_of(facts, done=done):
            made.counters[metric].add(1, attributes)


def set_rate_limited(provider: MeterProvider, system: str, queue: str, limited: bool) -> None:  # noqa: FBT001  # the value itself
    """Set the gauge that says whether the rate is limited."""
    instruments(provider).rate_limited.set(int(limited), labels(system, queue))


def labels(system: str, queue: str) -> dict[str, str]:
    """Return the attributes of each measurement; an id is none of them, for each value is a series of its own."""
    return {"messaging.system": system, "messaging.destination.name": queue}


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
