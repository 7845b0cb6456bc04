"""How long tests wait for a condition: so long that only a hang reaches it, and longer where the machine is slow or busy."""

from __future__ import annotations

import time
from collections.abc import Callable
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

LONGEST_TEST = 600 * SLOWNESS
"""Seconds after which a test counts as hung: a wait in it ends before and says what it waited for."""

LOOK_EVERY = 0.01


def eventually(found: Callable[[], T], what: str, *, state: Callable[[], object] = str) -> T:
    """Ask until the answer is truthy, and return it.

    Args:
        found: asked every hundredth of a second.
        what: what is waited for, for the error.
        state: returns how things stand, for the error too.

    Raises:
        AssertionError: it was not, within `DEADLINE`.
    """
    end = time.monotonic() + DEADLINE
    while not (answer := found()):
        assert time.monotonic() < end, f"waited {DEADLINE:.0f} s in vain for {what}. {state()}"
        time.sleep(LOOK_EVERY)
    return answer
