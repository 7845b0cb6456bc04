"""OpenTelemetry as an application sets it up, with the SDK's own exporters that keep everything in memory."""

from __future__ import annotations

from collections import Counter as Counts
from functools import cache
from typing import Any, NamedTuple

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import Counter, Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import AggregationTemporality, InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

GAUGE = "recoverable.rate_limited"
Point = tuple[str, float | int, dict[str, Any]]


class Telemetry(NamedTuple):
    """What was told so far."""

    exporter: InMemorySpanExporter
    reader: InMemoryMetricReader

    def spans(self) -> list[ReadableSpan]:
        """Return the spans that have ended, in the order in which they began."""
        return sorted(self.exporter.get_finished_spans(), key=lambda span: span.start_time or 0)

    def points(self) -> list[Point]:
        """Return what was counted since the last look: each instrument's name, sum and attributes, in alphabetical order."""
        return [point for point in self._read() if point[0] != GAUGE]

    def gauge(self, system: str) -> float | int:
        """Return how the gauge of a broker's queue was set last."""
        (value,) = (value for name, value, told in self._read() if name == GAUGE and told["messaging.system"] == system)
        return value

    def _read(self) -> list[Point]:
        data = self.reader.get_metrics_data()
        found: list[Any] = [
            (metric.name, getattr(point, "sum", getattr(point, "value", None)), dict(point.attributes or {}))
            for resource in (data.resource_metrics if data else [])
            for scope in resource.scope_metrics
            for metric in scope.metrics
            for point in metric.data.data_points
        ]
        return sorted(found, key=repr)

    def counts(self) -> dict[str, int | float]:
        """Return the sum of each of our own counters since the last look."""
        sums: Counts[str] = Counts()
        for name, value, _ in self.points():
            if name.startswith("recoverable."):
                sums[name] += int(value)
        return dict(sums)

    def forget(self) -> None:
        """Forget all of it."""
        self.exporter.clear()
        self.reader.get_metrics_data()


@cache
def telemetry() -> Telemetry:
    """Return the process's telemetry: OpenTelemetry takes one provider of each kind, once."""
    since_last: dict[type, AggregationTemporality] = {
        Counter: AggregationTemporality.DELTA,
        Histogram: AggregationTemporality.DELTA,
    }
    made = Telemetry(InMemorySpanExporter(), InMemoryMetricReader(preferred_temporality=since_last))
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(made.exporter))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([made.reader]))
    return made


class Row(NamedTuple):
    """A span as a row of a table."""

    name: str
    kind: str
    attempt: object
    round: object
    action: object
    status: str
    error: object


def row(span: ReadableSpan) -> Row:
    """Return a span as a row."""
    told = dict(span.attributes or {})
    attempt, round_, action = (told.get(f"recoverable.{name}") for name in ("attempt", "round", "action"))
    status = span.status.status_code.name
    return Row(span.name, span.kind.name, attempt, round_, action, status, told.get("error.type"))
