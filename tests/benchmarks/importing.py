"""Prints the milliseconds, or with "lines" the peak kilobytes, that a subject adds to the Lambda runtime client: `importing.py ours`."""

from __future__ import annotations

import resource
import sys
import time

import awslambdaric.bootstrap  # noqa: F401  # what is there before any handler
from subjects import SUBJECTS, Context, event


def milliseconds(name: str) -> float:
    """From nothing to a first good batch."""
    start = time.perf_counter()
    SUBJECTS[name]()(event(10), Context())
    return (time.perf_counter() - start) * 1e3


def kilobytes(name: str) -> float:
    """How far the first good batch raises the process's peak."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    SUBJECTS[name]()(event(10_000), Context())
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)


if __name__ == "__main__":
    measure = {"ms": milliseconds, "kb": kilobytes}[sys.argv[2]]
    print(measure(sys.argv[1]))  # noqa: T201  # read by bench.py
