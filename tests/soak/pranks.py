"""What goes wrong while a soak runs: one prank after the other, drawn at random."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread

_LOOK = 0.02  # seconds

Prank = Callable[[random.Random], bool]
"""Does one thing; False when there was nothing to do it to."""


def kill_child(pid: int) -> bool:
    """Kill a child of this process, if it is alive; the number of one that is not may be another's by now."""
    try:
        alive = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False
    if alive:
        os.kill(pid, signal.SIGKILL)
    return alive


@contextmanager
def played(
    pranks: Mapping[str, Prank], draw: random.Random, *, progress: Callable[[], int], every: int
) -> Iterator[Counter[str]]:
    """Play pranks from a thread of its own; gives how often each was played.

    The pace is that of the work, so that a slow machine is not stopped by pranks alone.

    Args:
        pranks: what to choose from.
        draw: where choices come from.
        progress: how often handlers ran by now.
        every: so many runs between two pranks, on average.
    """
    counts, over = Counter[str](dict.fromkeys(pranks, 0)), Event()

    def play() -> None:
        due = 0.0
        while not over.wait(_LOOK):
            if progress() >= due:
                name = draw.choice(sorted(pranks))
                counts[name] += pranks[name](draw)
                due = progress() + draw.expovariate(1 / every)

    thread = Thread(target=play, name="pranks")
    thread.start()
    try:
        yield counts
    finally:
        over.set()
        thread.join()
