"""Prints the milliseconds, or with "lines" the peak kilobytes, that a subject adds to the Lambda runtime client: `importing.py ours`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import awslambdaric.bootstrap  # noqa: F401  # what is there before any handler

from subjects import SUBJECTS, Context, event


def milliseconds(name: str) -> float:
    """Measure the time from nothing to a first good batch."""
    start = time.perf_counter()
    SUBJECTS[name]()(event(10), Context())
    return (time.perf_counter() - start) * 1e3


def kilobytes(name: str) -> float:
    """Return how far the first good batch, which is there already, raises the process's peak."""
    batch, before = event(10_000), peak()
    SUBJECTS[name]()(batch, Context())
    return peak() - before


def peak() -> float:
    """Return the process's own peak in kilobytes, as Linux counts it; `ru_maxrss` would include what the process that started it had."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(float(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    measure = {"ms": milliseconds, "kb": kilobytes}[sys.argv[2]]
    print(measure(sys.argv[1]))  # noqa: T201  # read by bench.py
