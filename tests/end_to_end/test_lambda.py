"""The ladder in AWS's own runtime client, where processes really die and really run out of time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from local.lambda_host.running_lambda import RunningLambda
from recoverable_local.lambda_host import Died, Ended, Entry, LocalAws, QueuedMessage, TimedOut

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("end_to_end"), pytest.mark.timeout(900)]

LONG = timedelta(minutes=2)  # nothing comes back by itself, on however slow a machine
DEADLINE = 4 * LONG  # time for what a call left to its visibility timeout, for SQS was too slow for it
GOOD = [f"good-{number}" for number in range(9)]
ONCE = dict.fromkeys(GOOD, 1)


@contextmanager
def running(**parameters: str) -> Iterator[RunningLambda]:
    """The template's functions at work."""
    template, seen = Path(__file__).with_name("template.yaml"), list[Entry]()
    settings = {"visibility_timeout": LONG, "parameters": parameters}
    with LocalAws.from_template(template, observe=seen.append, **settings) as host:
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
    found = {message.body: json.loads(message.attributes["NServiceBus.AmazonSQS.Headers"]) for message in messages}
    return {body: headers["NServiceBus.ExceptionInfo.ExceptionType"] for body, headers in found.items()}


def until_empty(world: RunningLambda, queue: str) -> None:
    """Wait for it; what a process had when it died comes back at once, instead of after its visibility timeout."""
    back = set[str]()

    def is_empty() -> bool:
        dead = [entry for entry in world.all(Ended) if isinstance(entry.outcome, Died | TimedOut)]
        for entry in (each for each in dead if each.request_id not in back):
            world.make_visible(entry)
            back.add(entry.request_id)
        return world.host.queue(queue).depth().total == 0

    world.host.run_until(is_empty, deadline=DEADLINE)


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
