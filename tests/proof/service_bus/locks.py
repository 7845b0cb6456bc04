"""Draw worlds of batches in which some handlers outlive the locks, again and again, beside messages that succeed at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from random import Random
from typing import NamedTuple

from proof.ladders import ERRORS
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ServiceBusWorld

QUEUE = "jobs"

GIVEN_UP = {156: ["INNOCENT: 5 was given up after 25 runs", "RUNS: 5 ran 25 times, 1 to 13 are allowed"]}
"""What is broken in which of the worlds from 0 to 199: docs/peers/limits.md has their number."""

MOST_IN_COMPANY = 13
"""Runs of a message in batches that outlived their locks: ten before it counts as failed even so, and three alone."""


class LockWorld(NamedTuple):
    """A world of one queue, served in batches.

    Args:
        lock: the queue's lock, in seconds.
        batch_size: messages of a batch at most.
        instances: how many batches are handled at a time.
        immediate: immediate retries.
        delayed: delayed retries.
        durations: for how many seconds each handler works; one that works for longer than the lock fails then.
        starts: when each message is sent.
    """

    lock: float
    batch_size: int
    instances: int
    immediate: int
    delayed: int
    durations: tuple[float, ...]
    starts: tuple[float, ...]


def world_of(seed: int) -> LockWorld:
    """Draw a world."""
    random = Random(seed)  # no secret depends on it
    lock = random.choice([10, 30, 60, 300])
    slow = [lock * random.uniform(1.05, 3) for _ in range(random.randint(1, 4))]
    quick = [random.choice([0.1, 0.5, lock / 20]) for _ in range(random.randint(1, 8))]
    durations = [*slow, *quick]
    random.shuffle(durations)
    window = random.choice([0, lock, 5 * lock])
    return LockWorld(
        lock, random.randint(2, 12), random.choice([1, 1, 2]), random.randint(0, 5), random.randint(0, 3), tuple(durations),
        tuple(random.uniform(0, window) for _ in durations),
    )  # fmt: skip


class Outcome(NamedTuple):
    """How a world ended: how often each handler ran, and how often each message is in the error queue."""

    runs: Counter[str]
    given_up: Counter[str]


def outcome_of(drawn: LockWorld) -> Outcome:
    """Run a world to its end.

    Raises:
        EndlessRun: it has none.
    """
    world = ServiceBusWorld(most_invocations=3_000)
    world.create_queue(ERRORS)
    world.create_queue(QUEUE, lock=drawn.lock, max_delivery_count=100, dead_letter_queue=ERRORS)
    runs: Counter[str] = Counter()

    def work(message: Message) -> None:
        runs[message.text] += 1
        seconds = drawn.durations[int(message.text)]
        world.spend(seconds)
        if seconds > drawn.lock:
            raise ValueError(message.text)

    settings = Recoverability(Immediate(drawn.immediate), Delayed(drawn.delayed, timedelta(seconds=10)), Failed(ERRORS))
    lock = timedelta(seconds=drawn.lock)
    app = ServiceBusEndpoint(work, settings, queue=QUEUE, connection="ServiceBus", name="jobs", batch=True, lock=lock)
    for _ in range(drawn.instances):
        world.serve(QUEUE, app, batch_size=drawn.batch_size, timeout=3_600)
    for number, start in enumerate(drawn.starts):
        world.at(start, partial(world.send, QUEUE, str(number)))
    world.run()
    return Outcome(runs, Counter(seen.body for seen in world.queue(ERRORS)))


def broken(drawn: LockWorld) -> Iterator[str]:
    """Yield what is wrong after a world has ended: two error copies, an innocent that was given up, too many runs or none."""
    runs, given_up = outcome_of(drawn)
    for number, seconds in enumerate(drawn.durations):
        body, too_long = str(number), seconds > drawn.lock
        a_round = max(MOST_IN_COMPANY, 3 * (drawn.immediate + 1) + 3)
        most = a_round * (drawn.delayed + 1) if too_long else a_round
        if given_up[body] > 1:
            yield f"MULTIPLY: {body} is in the error queue {given_up[body]} times"
        if given_up[body] and not too_long:
            yield f"INNOCENT: {body} was given up after {runs[body]} runs"
        if not 1 <= runs[body] <= most:
            yield f"RUNS: {body} ran {runs[body]} times, 1 to {most} are allowed"
