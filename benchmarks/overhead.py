"""Prints the microseconds per good record of a subject at a batch size: `overhead.py ours 10`."""

from __future__ import annotations

import sys
import timeit

from subjects import SUBJECTS, Context, event


def microseconds(name: str, size: int) -> float:
    """Return the best of several rounds, for other work on the machine only slows down."""
    handler, batch, context = SUBJECTS[name](), event(size), Context()
    repeats = max(20_000 // size, 2)
    return min(timeit.repeat(lambda: handler(batch, context), number=repeats, repeat=7)) / repeats / size * 1e6


if __name__ == "__main__":
    print(microseconds(sys.argv[1], int(sys.argv[2])))  # noqa: T201  # read by bench.py
