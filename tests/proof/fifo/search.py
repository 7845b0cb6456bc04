"""Draw crowds of message groups at random, and look for one in which a promise is broken."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from proof.fifo.crowd import FifoCrowd, Outage, outcome_of
from proof.fifo.invariants import broken

LADDERS = ((0, 0), (0, 1), (0, 3), (0, 8), (1, 0), (1, 1), (1, 3), (2, 2), (5, 0), (5, 3))
DELAYS = (10.0, 100.0, 400.0, 3_600.0)
"""Seconds of the first delay: shorter than a visibility timeout of 180 s, and longer."""

SHARE_WITH_FAULTS = 0.3
"""Of the crowds in batches of ten; those without faults promise more."""


def crowd_of(seed: int) -> FifoCrowd:
    """Return the crowd that a seed draws."""
    draw = Random(seed)
    immediate, delayed = draw.choice(LADDERS)
    batch_size = draw.choice((1, 1, 10))
    kinds = ["ok"] * 3 + ["fails", "fails 1", "fails 3", "waits 1", "takes 3"]
    some = (
        kinds + draw.choice(([], ["kills", "too long", "takes 20"]))
        if batch_size > 1
        else [*kinds, "kills", "too long"]
    )
    groups = [[draw.choice(some) for _ in range(draw.choice((1, 1, 1, 2)))] for _ in range(draw.choice((1, 3, 9)))]
    for _ in range(draw.choice((0, 1, 1, 1, 2, 3)) if batch_size > 1 else 0):
        groups.insert(draw.randrange(len(groups) + 1), ["kills"])
    later = [(draw.uniform(0, 4_000), draw.choice(kinds[:4])) for _ in range(draw.choice((0, 0, 3)))]
    refused, outages = faults_of(draw) if batch_size == 1 or draw.random() < SHARE_WITH_FAULTS else ((), ())
    return FifoCrowd(
        groups=groups, immediate=immediate, delayed=delayed, delay=draw.choice(DELAYS), batch_size=batch_size, later=later,
        concurrency=draw.choice((1, 1, 2, 5)), refused=refused, outages=outages, seed=seed,
    )  # fmt: skip


def faults_of(draw: Random) -> tuple[tuple[int, ...], tuple[Outage, ...]]:
    """Draw up to two faults: a visibility change refused once or twice, and an outage of Lambda as long as a visibility timeout."""
    start, times = draw.randrange(1, 8), draw.choice((0, 0, 1, 2, 2))
    outages = [Outage(draw.choice((0.0, 10.0, draw.uniform(0, 4_000))), draw.uniform(181, 200))] * draw.choice(
        (0, 0, 1)
    )
    return tuple(range(start, start + times)), tuple(outages)


def search(seeds: range) -> Iterator[tuple[FifoCrowd, list[str]]]:
    """Yield the crowds in which a promise is broken, and which."""
    for seed in seeds:
        crowd = crowd_of(seed)
        if problems := list(broken(crowd, outcome_of(crowd))):
            yield crowd, problems
