"""Draw crowds at random, and look for one in which a promise is broken."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from proof.crowds.crowd import Crowd, outcome_of
from proof.crowds.fronts import FRONTS
from proof.crowds.invariants import broken

LADDERS = ((0, 0), (0, 1), (0, 3), (1, 0), (1, 1), (2, 0), (2, 2), (5, 0), (5, 3))
SIZES = (1, 2, 3, 5, 10, 10, 10, 30)
QUICK = ("ok", "ok", "ok", "ok", "kills", "fails", "fails 1", "fails 3")
SLOW = ("too long", "blocks", "takes 0.1", "takes 3", "takes 9")
FAULTS = (1, 2, 3)
HEARTBEAT = 7.0
"""Seconds: a quarter of the function's time."""


def crowd_of(seed: int, *, faulty: bool = False) -> Crowd:
    """Return the crowd that a seed draws; every second one has no handler that takes time, so that copies can be counted."""
    draw = Random(seed)
    immediate, delayed = draw.choice(LADDERS)
    kinds = QUICK if seed % 2 else (*QUICK, *SLOW)
    bodies = [draw.choice(kinds) for _ in range(draw.choice((3, 8, 12, 20, 40)))]
    later = [
        (draw.uniform(0, 300), draw.choice(["kills", "kills", "ok", "ok", "fails 1", kinds[-1]]))
        for _ in range(draw.choice((0, 0, 5, 20)))
    ]
    return Crowd(
        bodies=bodies, immediate=immediate, delayed=delayed, step=draw.choice((10, 10, 1_000)), batch_size=draw.choice(SIZES),
        later=later, concurrency=draw.choice((1, 1, 2, 5)), counter=draw.choice(("native", "native", "header")),
        front=draw.choice(FRONTS), carried=draw.choice((0, 1, 3)), visibility=draw.choice((30, 180)),
        in_process=seed % 5 == 0, heartbeat=HEARTBEAT if seed % 3 == 0 else 0, managed=seed % 4 == 1, faults=draw.choice(FAULTS) if faulty else 0, seed=seed,
    )  # fmt: skip


def search(seeds: range, *, faulty: bool = False) -> Iterator[tuple[Crowd, list[str]]]:
    """Yield the crowds in which a promise is broken, and which."""
    for seed in seeds:
        crowd = crowd_of(seed, faulty=faulty)
        if problems := list(broken(crowd, outcome_of(crowd))):
            yield crowd, problems
