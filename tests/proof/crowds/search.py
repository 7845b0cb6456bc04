"""Draw crowds at random, and look for one in which a promise is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

from proof.crowds.crowd import CLOCKS, Crowd, outcome_of
from proof.crowds.fronts import FRONTS
from proof.crowds.invariants import broken

LADDERS = ((0, 0), (0, 1), (0, 3), (1, 0), (1, 1), (2, 0), (2, 2), (5, 0), (5, 3))
SIZES = (1, 2, 3, 5, 10, 10, 10, 30)
QUICK = ("ok", "ok", "ok", "ok", "kills", "fails", "fails 1", "fails 3")
SLOW = ("too long", "blocks", "takes 0.1", "takes 3", "takes 9")
FAULTS = (1, 2, 3)
HEARTBEAT = 7.0
"""Seconds: a quarter of the function's time."""

VISIBILITIES = (1, 2, 3, 5, 10, 20, 29, 30, 31, 33, 40, 60, 180)
"""Seconds: less than the function's time, about as long, and longer."""

WINDOWS = (0.0, 0.0, 1.0, 5.0, 20.0, 28.0, 60.0, 160.0, 300.0)
THROTTLED = (0.0, 0.0, 0.0, 1.0, 3.0, 7.0, 15.0, 31.0, 63.0, 123.0)
"""Seconds after which the mapping tries again to start what is throttled."""

RARE = 0.2
"""How likely it is that a crowd has something that most have not."""


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


def faulty_of(seed: int) -> Crowd:
    """Return the same crowd with one to three faults."""
    return crowd_of(seed, faulty=True)


def granting_of(seed: int) -> Crowd:
    """Return the crowd that a seed draws, with a policy that grants more immediate retries; each third has faults."""
    granted = Random(f"granted {seed}").choice((1, 3, 7))
    return replace(crowd_of(seed, faulty=seed % 3 == 0), granted=granted)


def overlapping_of(seed: int) -> Crowd:
    """Return the crowd that a seed draws, of deliveries that outlive their visibility timeout.

    In each eighth, invocations begin after it; in another, it is lowered meanwhile.
    """
    draw = Random(f"overlapping {seed}")
    immediate, delayed = draw.choice(LADDERS)
    visibility, begins_hidden, is_lowered = draw.choice(VISIBILITIES), seed % 8 != 0, seed % 8 == 1
    window, latest = (
        draw.choice(WINDOWS),
        visibility - 1.0,
    )  # what is throttled for as long as it is hidden never starts
    lowered = (draw.uniform(0, 200), draw.choice((1, 5, 20))) if is_lowered else None
    if begins_hidden:
        latest = max((lowered[1] if lowered else visibility) - CLOCKS, 0)
        window = min(window, latest)
    late = draw.choice([each for each in THROTTLED if each == 0 or window + each <= latest])
    managed, front = draw.random() < RARE, draw.choice(FRONTS)
    return Crowd(
        bodies=[draw.choice((*QUICK, *SLOW, "too long")) for _ in range(draw.choice((1, 3, 8, 12)))],
        immediate=immediate, delayed=delayed, batch_size=draw.choice(SIZES), concurrency=draw.choice((1, 2, 5, 10)),
        counter=draw.choice(("native", "native", "header")), front=front,
        visibility=visibility, window=window, late=late,
        lowered=lowered,
        unanswered=draw.choice((0.0, 0.0, 0.3)), heartbeat=draw.choice((0.0, 0.0, HEARTBEAT)), managed=managed,
        in_process=draw.random() < RARE, context=managed or draw.random() > RARE,
        partial=front == "powertools" or draw.random() > RARE, faults=draw.choice((0, 0, 0, 2)), seed=seed,
    )  # fmt: skip


def search(seeds: range, crowd_of: Callable[[int], Crowd] = crowd_of) -> Iterator[tuple[Crowd, list[str]]]:
    """Yield the crowds in which a promise is broken, and which."""
    for crowd in map(crowd_of, seeds):
        if problems := list(broken(crowd, outcome_of(crowd))):
            yield crowd, problems
