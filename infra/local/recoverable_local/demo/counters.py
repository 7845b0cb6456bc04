"""Count what the functions said of their retries: on AWS by the metrics that they print, on Azure by the facts that end their log lines. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from recoverable._observe.metrics import BY_ACTION, COUNTERS, UNREPORTED
from recoverable_local.demo.orders import parse_object

TAIL = re.compile(r"\[action=(?P<action>\w+) attempt=\d+ round=\d+ queue=\S+?(?: exception=(?P<exception>\S+))?\]")
UNREPORTED_FAILURE = "recoverable.UnreportedFailure"


def counted_by_metrics(lines: Iterable[str]) -> Counter[str]:
    """Return the sum of each counter, from lines in CloudWatch's embedded metric format among others."""
    documents = [document for line in lines if "_aws" in (document := parse_object(line))]
    return Counter({metric.name: sum(int(each.get(metric.name, 0)) for each in documents) for metric in COUNTERS})


def counted_by_log(lines: Iterable[str]) -> Counter[str]:
    """Return the sum of each counter, from log lines that end with their facts among others."""
    counts: Counter[str] = Counter()
    for found in filter(None, map(TAIL.search, lines)):
        counts[BY_ACTION[found["action"]].name] += 1
        counts[UNREPORTED.name] += found["exception"] == UNREPORTED_FAILURE
    return counts


def in_words(counts: Mapping[str, int]) -> str:
    """Return the counters that are not 0, in the order of the list of metrics."""
    shown = [f"{metric.name} {counts[metric.name]}" for metric in COUNTERS if counts.get(metric.name)]
    return f"Counters of this run: {', '.join(shown) or 'all 0'}."
