"""What goes wrong while a soak runs: one prank after the other, drawn at random."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread

Prank = Callable[[random.Random], bool]
"""Does one thing; False when there was nothing to do it to."""


@contextmanager
def played(pranks: Mapping[str, Prank], draw: random.Random, *, pause: float) -> Iterator[Counter[str]]:
    """Play pranks from a thread of its own; gives how often each was played.

    Args:
        pranks: what to choose from.
        draw: where choices come from.
        pause: seconds between two, on average.
    """
    counts, over = Counter[str](dict.fromkeys(pranks, 0)), Event()

    def play() -> None:
        while not over.wait(draw.expovariate(1 / pause)):
            name = draw.choice(sorted(pranks))
            counts[name] += pranks[name](draw)

    thread = Thread(target=play, name="pranks")
    thread.start()
    try:
        yield counts
    finally:
        over.set()
        thread.join()
