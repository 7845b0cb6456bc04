"""The ladder in AWS's own runtime client, where processes really die and really run out of time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from recoverable.local.aws import LocalAws, QueuedMessage

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("end_to_end")]

GOOD = [f"good-{number}" for number in range(9)]
ONCE = dict.fromkeys(GOOD, 1)


@pytest.fixture
def host() -> Iterator[LocalAws]:
    template = Path(__file__).with_name("template.yaml")
    with LocalAws.from_template(template, visibility_timeout=timedelta(seconds=4)) as host:
        yield host


def runs(host: LocalAws) -> list[str]:
    """What the handlers were called with, in order."""
    return [line.line.removeprefix("RUN ") for line in host.function_log if line.line.startswith("RUN ")]


def exception_types(messages: list[QueuedMessage]) -> dict[str, str]:
    """Why each message lies in the error queue, by body."""
    found = {
        message.body: json.loads(message.attributes["NServiceBus.AmazonSQS.Headers"]) for message in messages
    }
    return {body: headers["NServiceBus.ExceptionInfo.ExceptionType"] for body, headers in found.items()}


def until_empty(host: LocalAws, queue: str, seconds: int) -> None:
    host.run_until(lambda: host.queue(queue).depth().total == 0, deadline=timedelta(seconds=seconds))


@pytest.mark.parametrize(
    ("tenth", "reason", "rounds"),
    [
        ("kill", "recoverable.UnreportedFailure", {"0", "1"}),
        ("compute", "recoverable.UnreportedFailure", {"0", "1"}),
        ("sleep", "recoverable.HandlerTimeout", {"0", "1"}),
    ],
)
def test_one_that_never_ends_well_climbs_alone(
    host: LocalAws, tenth: str, reason: str, rounds: set[str]
) -> None:
    """Nine good ones beside it are processed; it lies in the error queue, having climbed the ladder."""
    for body in [*GOOD[:5], tenth, *GOOD[5:]]:
        host.send("jobs", body)
    until_empty(host, "jobs", 120)

    done = [run.split() for run in runs(host)]
    assert exception_types(host.queue("jobs-error").messages()) == {tenth: reason}
    assert {body for body, _ in done} == {*GOOD, tenth}
    assert {place.partition(".")[0] for body, place in done if body == tenth} == rounds


def test_a_group_waits_while_its_head_climbs(host: LocalAws) -> None:
    """Each group's steps run in order, the failing head's attempts before the next step, while another group goes on."""
    for group, body in [("a", "1"), ("a", "bad-2"), ("a", "3"), ("b", "1"), ("b", "2")]:
        host.send("steps.fifo", body, group_id=group, deduplication_id=f"{group}{body}")
    until_empty(host, "steps.fifo", 60)

    order = [run.split(" ", 1) for run in runs(host)]
    assert {group: [run for owner, run in order if owner == group] for group in "ab"} == {
        "a": ["1 0.1", "bad-2 0.1", "bad-2 0.2", "bad-2 1.1", "bad-2 1.2", "3 0.1"],
        "b": ["1 0.1", "2 0.1"],
    }
    assert exception_types(host.queue("steps-error.fifo").messages()) == {"bad-2": "ValueError"}


def test_good_ones_run_once(host: LocalAws) -> None:
    for body in GOOD:
        host.send("jobs", body)
    until_empty(host, "jobs", 30)

    assert Counter(run.split()[0] for run in runs(host)) == ONCE
