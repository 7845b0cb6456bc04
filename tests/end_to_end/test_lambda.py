"""The ladder in AWS's own runtime client, where processes really die and really run out of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from local.lambda_host.running_lambda import RunningLambda
from recoverable_local.lambda_host import Entry, LocalAws, QueuedMessage

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("end_to_end")]

DEADLINE = timedelta(minutes=8)  # time for what a call left to its visibility timeout, for SQS was too slow for it
GOOD = [f"good-{number}" for number in range(9)]
ONCE = dict.fromkeys(GOOD, 1)


@contextmanager
def running(**parameters: str) -> Iterator[RunningLambda]:
    """The template's functions at work."""
    template, seen = Path(__file__).with_name("template.yaml"), list[Entry]()
    back = timedelta(seconds=1)
    with LocalAws.from_template(template, observe=seen.append, parameters=parameters, redeliver_after=back) as host:
        yield RunningLambda(host, seen)


def runs(world: RunningLambda) -> list[str]:
    """What the handlers were called with, in order."""
    lines = [line.line for line in world.host.function_log]
    return [line.removeprefix("RUN ") for line in lines if line.startswith("RUN ")]


def awaited_runs(world: RunningLambda, count: int) -> list[str]:
    """The same, when there are so many at least: the log comes by another way than the answer."""
    world.host.run_until(lambda: len(runs(world)) >= count, deadline=DEADLINE)
    return runs(world)


def exception_types(messages: list[QueuedMessage]) -> dict[str, str]:
    """Why each message lies in the error queue, by body."""
    return {message.body: message.headers["NServiceBus.ExceptionInfo.ExceptionType"] for message in messages}


def until_empty(world: RunningLambda, queue: str) -> None:
    """Wait for it."""
    world.host.run_until(lambda: world.host.queue(queue).depth().total == 0, deadline=DEADLINE)


@pytest.mark.parametrize(
    ("tenth", "reason", "parameters"),
    [
        ("kill", "recoverable.UnreportedFailure", {}),
        ("hang", "recoverable.UnreportedFailure", {"JobsTimeout": "5"}),
        ("sleep", "recoverable.HandlerTimeout", {"JobsTimeout": "8"}),
    ],
    ids=["kill", "hang", "sleep"],
)
def test_one_that_never_ends_well_climbs_alone(tenth: str, reason: str, parameters: dict[str, str]) -> None:
    """Nine good ones beside it are processed; it lies in the error queue, having climbed the ladder."""
    with running(**parameters) as world:
        for body in [*GOOD[:5], tenth, *GOOD[5:]]:
            world.host.send("jobs", body)
        until_empty(world, "jobs")
        world.host.run_until(lambda: {run.split()[0] for run in runs(world)} >= {*GOOD}, deadline=DEADLINE)
        given_up = exception_types(world.host.queue("jobs-error").messages())

    done = [run.split() for run in runs(world)]
    assert (given_up, {body for body, _ in done}) == ({tenth: reason}, {*GOOD, tenth})
    assert {place.partition(".")[0] for body, place in done if body == tenth} == {"0", "1"}


def test_a_group_waits_while_its_head_climbs() -> None:
    """Each group's steps run in order, the failing head's attempts before the next step, while another group goes on."""
    with running() as world:
        for group, body in [("a", "1"), ("a", "bad-2"), ("a", "3"), ("b", "1"), ("b", "2")]:
            world.host.send("steps.fifo", body, group_id=group, deduplication_id=f"{group}{body}")
        until_empty(world, "steps.fifo")
        order = [run.split(" ", 1) for run in awaited_runs(world, 8)]
        given_up = exception_types(world.host.queue("steps-error.fifo").messages())

    assert {group: [run for owner, run in order if owner == group] for group in "ab"} == {
        "a": ["1 0.1", "bad-2 0.1", "bad-2 0.2", "bad-2 1.1", "bad-2 1.2", "3 0.1"],
        "b": ["1 0.1", "2 0.1"],
    }
    assert given_up == {"bad-2": "ValueError"}


def test_good_ones_run_once() -> None:
    with running() as world:
        for body in GOOD:
            world.host.send("jobs", body)
        until_empty(world, "jobs")
        done = awaited_runs(world, len(GOOD))

    assert Counter(run.split()[0] for run in done) == ONCE
