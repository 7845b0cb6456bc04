"""Print the metrics of an invocation as one line in CloudWatch's embedded metric format; Lambda's log is all that it takes."""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from recoverable._observe.metrics import RATE_LIMITED, Metric

if TYPE_CHECKING:
    from collections.abc import Mapping


def print_metrics(
    namespace: str,
    queue: str,
    counts: Mapping[Metric, int],
    *,
    rate_limited: bool | None,
    exception_types: Counter[str],
    request_id: str,
    now: datetime,
) -> None:
    """Print the line. It goes to stdout, not to a logger: as the text of a log entry it would be no metric.

    Args:
        namespace: the metrics' namespace.
        queue: the queue's name, the only dimension.
        counts: the counters that were increased.
        rate_limited: True while the rate is limited; None where it never is.
        exception_types: how often each was raised; a property and no dimension, for each value of a dimension is a metric to pay for.
        request_id: Lambda's id of the invocation.
        now: the time.
    """
    values = {metric.name: number for metric, number in counts.items() if number}
    if rate_limited is not None:
        values[RATE_LIMITED.name] = int(rate_limited)
    definitions = [{"Name": name, "Unit": "None" if name == RATE_LIMITED.name else "Count"} for name in values]
    directive = {"Namespace": namespace, "Dimensions": [["Queue"]], "Metrics": definitions}
    line = {
        "_aws": {"Timestamp": int(now.timestamp() * 1000), "CloudWatchMetrics": [directive]},
        # without both, Lambda takes the line for INFO, and a function that logs warnings alone would lose it
        "level": "ERROR",
        "timestamp": now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "Queue": queue,
        "RequestId": request_id,
        "ExceptionTypes": dict(exception_types),
        **values,
    }
    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stdout.flush()
