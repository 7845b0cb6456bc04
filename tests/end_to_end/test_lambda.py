"""The ladder in AWS's own runtime client, where processes really die and really run out of time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from deadlines import SLOWNESS
from local.lambda_host.running_lambda import RunningLambda
from recoverable_local.lambda_host import Entry, LocalAws

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("end_to_end")]

TIMEOUT = math.ceil(3 * SLOWNESS)
"""Seconds of an invocation, a third of them kept for settling. Each invocation that hangs takes them."""

GOOD = [f"good-{number}" for number in range(9)]
STEPS = [("a", "1"), ("a", "bad-2"), ("a", "3"), ("b", "1"), ("b", "2")]
"""Groups and bodies on the FIFO queue."""

REASONS = {
    "kill": "recoverable.UnreportedFailure",
    "hang": "recoverable.UnreportedFailure",
    "sleep": "recoverable.HandlerTimeout",
}
"""Why what never ends well is given up. Each has a queue, to which it is sent among nine good ones."""


@pytest.fixture(scope="module")
def ended() -> Iterator[RunningLambda]:
    """Give the template's functions when all is processed or given up."""
    seen = list[Entry]()
    with LocalAws.from_template(
        Path(__file__).with_name("template.yaml"),
        observe=seen.append,
        parameters={"Timeout": f"{TIMEOUT}", "Hidden": f"{2 * TIMEOUT}"},
        environment={"SETTLE_WITHIN": f"{TIMEOUT / 3}"},
        redeliver_after=timedelta(seconds=1),
    ) as host:
        for tenth in REASONS:
            for body in [*GOOD[:5], tenth, *GOOD[5:]]:
                host.send(tenth, f"{tenth} {body}")
        for group, body in STEPS:
            host.send("steps.fifo", body, group_id=group, deduplication_id=f"{group}{body}")
        world = RunningLambda(host, seen)
        world.until(lambda: moved(world) >= 4)  # before the queues are asked, which costs more than all else
        world.until(lambda: not any(host.queue(name).depth().total for name in (*REASONS, "steps.fifo")))
        # the log comes by another way than the answers
        world.until(lambda: all({*GOOD, tenth} <= {body for body, _ in runs(world, tenth)} for tenth in REASONS))
        world.until(lambda: len([*runs(world, "a"), *runs(world, "b")]) >= 8)
        yield world


def runs(world: RunningLambda, of: str) -> list[tuple[str, str]]:
    """Return the bodies with which a handler was called for a queue or a group, each with round and attempt, in order."""
    lines = [line.line.split() for line in world.host.function_log if line.line.startswith(f"RUN {of} ")]
    return [(body, place) for _, _, body, place in lines]


def moved(world: RunningLambda) -> int:
    """Count the messages of which the log says that they are moved to an error queue."""
    return sum("Moving message" in line.line for line in world.host.function_log)


def given_up(world: RunningLambda, error_queue: str) -> dict[str, str]:
    """Return why each message lies in an error queue, by body."""
    messages = world.host.queue(error_queue).messages()
    return {message.body: message.headers["NServiceBus.ExceptionInfo.ExceptionType"] for message in messages}


@pytest.mark.parametrize("tenth", REASONS)
def test_one_that_never_ends_well_climbs_alone(ended: RunningLambda, tenth: str) -> None:
    """Nine good ones beside it are processed; it climbs the ladder."""
    done = runs(ended, tenth)

    assert {body for body, _ in done} == {*GOOD, tenth}
    assert {place.partition(".")[0] for body, place in done if body == tenth} == {"0", "1"}


def test_only_what_never_ends_well_is_given_up(ended: RunningLambda) -> None:
    assert given_up(ended, "error") == {f"{tenth} {tenth}": reason for tenth, reason in REASONS.items()}


def test_a_group_waits_while_its_head_climbs(ended: RunningLambda) -> None:
    """Each group's steps run in order, the failing head's attempts before the next step, while another group goes on."""
    assert [f"{body} {place}" for body, place in runs(ended, "a")] == [
        "1 0.1", "bad-2 0.1", "bad-2 0.2", "bad-2 1.1", "bad-2 1.2", "3 0.1",
    ]  # fmt: skip
    assert runs(ended, "b") == [("1", "0.1"), ("2", "0.1")]  # what is good runs once
    assert given_up(ended, "steps-error.fifo") == {"bad-2": "ValueError"}
