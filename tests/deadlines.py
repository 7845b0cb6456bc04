"""How long tests wait for a condition: so long that only a hang reaches it, and longer where the machine is slow or busy."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

T = TypeVar("T")

STEPS = 1_000_000
QUICK = 0.05
"""Seconds that `STEPS` take on a quiet machine of 2026."""


def slowness() -> float:
    """Return how many times as long as on a quiet machine a fixed piece of work takes here and now, at least 1."""
    start, number = time.perf_counter(), 0
    for step in range(STEPS):
        number += step & 3
    return max(1.0, (time.perf_counter() - start) / QUICK)


SLOWNESS = slowness()
"""Of this process, measured once: under xdist by each worker while the others begin too."""

DEADLINE = 120 * SLOWNESS
"""Seconds for what takes a few."""

WHOLE_RUN = timedelta(seconds=4 * DEADLINE)
"""For what a local host does with many messages."""

LONGEST_TEST = 600 * SLOWNESS
"""Seconds after which a test counts as hung: a wait in it ends before and says what it waited for."""

LOOK_EVERY = 0.01


def eventually(found: Callable[[], T], what: str, *, state: Callable[[], object] = str, every: float = LOOK_EVERY) -> T:
    """Ask until the answer is truthy, and return it.

    Args:
        found: asked again and again.
        what: what is waited for, for the error.
        state: returns how things stand, for the error too.
        every: seconds between two looks.

    Raises:
        AssertionError: it was not, within `DEADLINE`.
    """
    end = time.monotonic() + DEADLINE
    while not (answer := found()):
        assert time.monotonic() < end, f"waited {DEADLINE:.0f} s in vain for {what}. {state()}"
        time.sleep(every)
    return answer
