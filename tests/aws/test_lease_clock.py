"""The time at SQS: the date of its last answer and a clock that nobody sets, since the instance's own may be wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from aws.harness import Context
from aws.recording_client import RecordingClient
from aws.records import event, record
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable._sqs.clock import SqsClock
from recoverable.aws import SqsEndpoint
from recoverable.hosting import Deadline, Environment, current_environment
from recoverable_local.testing import ClockSkewed, Fault, Refused, SqsWorld, Unreachable

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)
AN_HOUR = timedelta(hours=1)


class Clocks:
    """The two clocks of a process: the instance's own, and one that nobody sets."""

    def __init__(self) -> None:
        self.wall, self.seconds = NOON, 500.0

    def pass_by(self, seconds: float) -> None:
        """Let both go on."""
        self.wall += timedelta(seconds=seconds)
        self.seconds += seconds

    def environment(self, client: object = None) -> Environment:
        return Environment(client, lambda: self.wall, Deadline, kept={}, seconds=lambda: self.seconds)


def answer(date: object) -> dict[str, Any]:
    return {"ResponseMetadata": {"HTTPHeaders": {"date": date}}}


@pytest.mark.parametrize(
    ("noted", "behind"),
    [
        pytest.param(answer("Tue, 24 Nov 2026 11:59:59 GMT"), 0.0, id="right, but for what a date leaves out"),
        pytest.param(answer("Tue, 24 Nov 2026 11:00:00 GMT"), 3_600.0, id="an hour late"),
        pytest.param(answer("Tue, 24 Nov 2026 12:00:03 GMT"), -3.0, id="three seconds early"),
        pytest.param(answer("noon"), 0.0, id="taken to be right where the answer has no date"),
        pytest.param(answer(None), 0.0, id="and where it has none at all"),
        pytest.param({"Attributes": {}}, 0.0, id="nor says when it was made"),
    ],
)
def test_the_date_of_an_answer_says_how_late_the_clock_of_the_instance_is(noted: object, behind: float) -> None:
    clocks = Clocks()
    clock = SqsClock(clocks.environment())
    clock.note(noted)
    clocks.pass_by(60)

    assert clock.ahead_of_seconds() == (NOON.timestamp() - 500 - behind, True)


@pytest.mark.parametrize("noted", [None, "no answer", 7])
def test_what_is_no_answer_says_nothing(noted: object) -> None:
    clock = SqsClock(Clocks().environment())
    clock.note(noted)

    assert clock.ahead_of_seconds() == (NOON.timestamp() - 500, False)


@pytest.mark.parametrize(
    ("jump", "known"),
    [(timedelta(seconds=2), True), (timedelta(seconds=-2), True), (AN_HOUR, False), (-AN_HOUR, False)],
)
def test_nothing_says_what_time_it_is_once_the_two_clocks_have_gone_apart(jump: timedelta, *, known: bool) -> None:
    clocks = Clocks()
    clock = SqsClock(clocks.environment())
    clock.note(answer("Tue, 24 Nov 2026 12:00:00 GMT"))
    clocks.pass_by(60)
    clocks.wall += jump

    assert clock.ahead_of_seconds() == ((NOON + jump).timestamp() - 500, known)


class Asked(RecordingClient):
    """Counts how often it is asked what the queue is set to."""

    times = 0

    def get_queue_attributes(self, **call: Any) -> dict[str, Any]:
        self.times += 1
        return super().get_queue_attributes(**call)


@pytest.mark.parametrize(("frozen_for", "asked"), [(1.0, 1), (60.0, 2)])
def test_a_process_that_was_frozen_between_two_invocations_asks_sqs_again(frozen_for: float, asked: int) -> None:
    clocks, client = Clocks(), Asked()
    endpoint = SqsEndpoint(fail, Recoverability(Immediate(5), Delayed(0), Failed("errors")))
    environment = clocks.environment(client)
    token = current_environment.set(environment)
    try:
        endpoint(event(record()), Context(30))
        clocks.wall += timedelta(seconds=frozen_for)
        endpoint(event(record()), Context(30))
    finally:
        current_environment.reset(token)

    assert client.times == asked


def fail(_: Message) -> None:
    raise ValueError("no")


@pytest.mark.parametrize("by", [AN_HOUR, -AN_HOUR], ids=["late", "early"])
@pytest.mark.parametrize("problem", [None, Refused("AccessDenied"), Unreachable()], ids=["asked", "denied", "away"])
def test_a_clock_that_is_wrong_from_the_start_loses_no_delivery(
    sqs_world: SqsWorld, problem: Fault | None, by: timedelta
) -> None:
    runs: list[str] = []

    def toil(message: Message) -> None:
        runs.append(message.id)
        sqs_world.spend(1)
        fail(message)

    sqs_world.fail("invoke", ClockSkewed(by))
    if problem is not None:
        sqs_world.fail("get_queue_attributes", problem)
    ladder = Recoverability(Immediate(0), Delayed(0), Failed("errors"))
    sqs_world.serve("jobs", SqsEndpoint(toil, ladder), recursive_loop="Allow")
    sqs_world.send("jobs", "a")
    sqs_world.run()

    assert ([seen.exception_type for seen in sqs_world.queue("errors")], len(runs)) == (["ValueError"], 1)
