"""Draw crowds at random, and look for one in which a promise is broken."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from proof.crowds.crowd import Crowd, outcome_of
from proof.crowds.invariants import broken

LADDERS = ((0, 0), (0, 1), (0, 3), (1, 0), (1, 1), (2, 0), (2, 2), (5, 0), (5, 3))
SIZES = (1, 2, 3, 5, 10, 10, 10, 30)


def crowd_of(seed: int) -> Crowd:
    """Return the crowd that a seed draws."""
    draw = Random(seed)
    immediate, delayed = draw.choice(LADDERS)
    kinds = ["ok"] * 4 + ["kills", "too long", "fails", "fails 1", "takes 0.1", "takes 3", "takes 9"]
    bodies = [draw.choice(kinds) for _ in range(draw.choice((3, 8, 12, 20, 40)))]
    later = [
        (draw.uniform(0, 300), draw.choice(["kills", "ok", "ok", "too long"]))
        for _ in range(draw.choice((0, 0, 5, 20)))
    ]
    return Crowd(
        bodies=bodies, immediate=immediate, delayed=delayed, batch_size=draw.choice(SIZES), later=later,
        concurrency=draw.choice((1, 1, 2, 5)), counter=draw.choice(("native", "native", "header")),
        visibility=draw.choice((30, 180)), seed=seed,
    )  # fmt: skip


def search(seeds: range) -> Iterator[tuple[Crowd, list[str]]]:
    """Yield the crowds in which a promise is broken, and which."""
    for seed in seeds:
        crowd = crowd_of(seed)
        if problems := list(broken(crowd, outcome_of(crowd))):
            yield crowd, problems
