"""One cell of the tables: a subject, so many messages, a share of them that fails, so many instances."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from time import perf_counter
from typing import NamedTuple

from recoverable_local.testing import SqsWorld
from simulation.meter import BATCH, Meter
from simulation.subjects import ERROR_QUEUE, QUEUE, SUBJECTS, Subject
from simulation.work import Work, body_of, number_of

TIMEOUT = 30
"""Seconds of the function."""

VISIBILITY_TIMEOUT = 240
"""Seconds: what template.yaml gives a queue whose function has 30 s."""

PLENTY = 10**9


class Cell(NamedTuple):
    """The settings of one simulation.

    Args:
        subject: a name of `SUBJECTS`.
        messages: how many are sent before the function is connected.
        fails_every: 100 lets one in a hundred fail, each time; 1 all.
        instances: the most invocations at a time.
    """

    subject: str
    messages: int
    fails_every: int
    instances: int


class Spread(NamedTuple):
    """The numbers of attempts of messages: least, mean, most."""

    least: int
    mean: float
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The figures of one simulation.

    Args:
        cell: what was simulated.
        failing: attempts of the messages that fail.
        good: attempts of the others; None when there are none.
        failing_set_aside: how many that fail are in the error queue in the end.
        good_set_aside: how many others are.
        calls: that the function made.
        requests: that SQS bills, the mapping's too.
        invocations: of the function.
        lambda_seconds: that Lambda bills.
        most_at_once: the most invocations that ran at a time.
        until_done: the world's time until nothing was left to do.
        took: real seconds.
    """

    cell: Cell
    failing: Spread
    good: Spread | None
    failing_set_aside: int
    good_set_aside: int
    calls: int
    requests: int
    invocations: int
    lambda_seconds: float
    most_at_once: int
    until_done: timedelta
    took: float


def simulate(cell: Cell) -> Result:
    """Send the messages, and let the world go on until nothing is left to do."""
    began = perf_counter()
    subject = SUBJECTS[cell.subject]
    world = SqsWorld(seed=1, most_invocations=PLENTY)
    meter = Meter(world, calls_take_time=not subject.coroutines)
    work = Work(cell.fails_every, meter.take)
    make_queues(world, subject)
    for number in range(cell.messages):
        world.send(QUEUE, body_of(number))
    connect(world, meter, subject, work, cell.instances)
    start = world.now
    world.run()
    return measured(cell, world, work, meter, world.now - start, perf_counter() - began)


def make_queues(world: SqsWorld, subject: Subject) -> None:
    """Create the queue and its dead-letter queue."""
    world.create_queue(
        QUEUE,
        visibility_timeout=VISIBILITY_TIMEOUT,
        dead_letter_queue=ERROR_QUEUE,
        max_receive_count=subject.max_receive_count,
    )


def connect(world: SqsWorld, meter: Meter, subject: Subject, work: Work, instances: int) -> None:
    """Connect the queue to the subject's function by an event source mapping."""
    world.serve(
        QUEUE,
        meter.over(subject.handler(work, meter.client())),
        batch_size=BATCH,
        concurrency=instances,
        timeout=TIMEOUT,
        partial_responses=subject.partial_responses,
        recursive_loop="Allow",
    )


def measured(cell: Cell, world: SqsWorld, work: Work, meter: Meter, until_done: timedelta, took: float) -> Result:
    """Return the result at the end."""
    aside = [number_of(message.body) for message in world.queue(ERROR_QUEUE)]
    failing = [work.attempts[number] for number in range(cell.messages) if work.fails(number)]
    good = [work.attempts[number] for number in range(cell.messages) if not work.fails(number)]
    return Result(
        cell=cell,
        failing=spread(failing),
        good=spread(good) if good else None,
        failing_set_aside=sum(map(work.fails, aside)),
        good_set_aside=sum(not work.fails(number) for number in aside),
        calls=meter.calls.total(),
        requests=meter.requests,
        invocations=meter.invocations,
        lambda_seconds=meter.milliseconds / 1_000,
        most_at_once=meter.most_at_once,
        until_done=until_done,
        took=took,
    )


def spread(counts: Iterable[int]) -> Spread:
    """Return the least, the mean and the most."""
    found = sorted(counts)
    return Spread(found[0], sum(found) / len(found), found[-1])
