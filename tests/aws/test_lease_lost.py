"""A message that was shown to others before it was settled: nothing is done for it but one warning, and its next delivery goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from aws.harness import Context
from aws.recording_client import RecordingClient
from aws.records import event, record
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable._sqs.attributes import QueueAttributes, attributes_in
from recoverable.aws import SqsEndpoint
from recoverable.extensions import Observe
from recoverable.headers import FIRST_FAILED_AT, read_date
from recoverable_local.testing import Refused, SqsWorld

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)
LOST = "1 messages from 'jobs' were shown to others before they were settled."


class Toiling:
    """A handler that takes its time and fails, and which sends before it does where it is told to succeed."""

    def __init__(self, world: SqsWorld, seconds: float, *, fails: bool = True) -> None:
        self._world, self._seconds, self._fails = world, seconds, fails
        self.runs = 0

    def __call__(self, message: Message) -> None:
        self.runs += 1
        if not self._fails:
            message.send("out", "done")
        self._world.spend(self._seconds)
        if self._fails:
            raise ValueError("no")


def serve(
    world: SqsWorld, handler: Toiling, *, visibility: float, receives: int = 20, extensions: Any = (), **settings: Any
) -> None:
    """Serve a queue whose visibility timeout is shorter than a run of its handler, and run."""
    ladder = Recoverability(Immediate(0), Delayed(0), Failed("errors"), **settings)
    world.create_queue("errors")
    world.create_queue("out")
    world.create_queue("jobs", visibility_timeout=30, dead_letter_queue="errors", max_receive_count=receives)
    world.serve(
        "jobs", SqsEndpoint(handler, ladder, extensions=extensions), timeout=30, concurrency=1, recursive_loop="Allow"
    )
    world.create_queue("jobs", visibility_timeout=visibility, dead_letter_queue="errors", max_receive_count=receives)
    world.send("jobs", "a")
    world.run()


def test_a_lost_delivery_leaves_one_warning_and_no_fact(sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture) -> None:
    facts: list[object] = []
    handler = Toiling(sqs_world, 10)

    serve(sqs_world, handler, visibility=5, extensions=(Observe(on_error=lambda each, _: facts.append(each)),))

    (seen,) = sqs_world.queue("errors")
    assert (handler.runs, seen.exception_type, len(facts)) == (2, "ValueError", 1)
    warnings = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert [warning.partition(" Nothing")[0] for warning in warnings] == [LOST]
    assert sum("because processing failed" in record.message for record in caplog.records) == 1


def test_the_warning_names_the_setting_to_raise(sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture) -> None:
    serve(sqs_world, Toiling(sqs_world, 10), visibility=5)

    assert (
        "Raise the queue's VisibilityTimeout to six times the function's time-out and the batching window."
        in caplog.text
    )


def test_a_success_is_completed_all_the_same_and_what_its_handler_sent_is_sent(sqs_world: SqsWorld) -> None:
    handler = Toiling(sqs_world, 10, fails=False)

    serve(sqs_world, handler, visibility=5)

    assert (handler.runs, len(sqs_world.queue("out")), sqs_world.queue("jobs")) == (1, 1, [])


def test_the_last_receive_moves_a_lost_message_to_the_error_queue_with_its_reason(sqs_world: SqsWorld) -> None:
    handler = Toiling(sqs_world, 10)

    serve(sqs_world, handler, visibility=5, receives=1)

    (seen,) = sqs_world.queue("errors")
    assert (handler.runs, seen.exception_type) == (1, "ValueError")


class Patient(RecordingClient):
    """Answers for a queue that hides a message for 30 s, six times; the first calls that send are refused."""

    def __init__(self, refusals: int = 0) -> None:
        super().__init__()
        self._refusals = refusals

    def get_queue_attributes(self, **_: Any) -> dict[str, Any]:
        return {"Attributes": {"VisibilityTimeout": "30", "RedrivePolicy": '{"maxReceiveCount": 6}'}}

    def send_message_batch(self, **call: Any) -> dict[str, Any]:
        if self._refusals:
            self._refusals -= 1
            raise ClientError({"Error": {"Code": "ThrottlingException", "Message": "slow down"}}, "SendMessageBatch")
        return super().send_message_batch(**call)


def delays_of_copies(receives: int, client: Patient) -> list[int]:
    """Return the delays of the copies of a message that was received so often, and fails in a process that begins late; 0 of an error copy."""

    def fail(_: Message) -> None:
        raise ValueError("no")

    def received(count: int) -> dict[str, Any]:
        first = (NOON - timedelta(minutes=count)).timestamp() * 1000
        return event(record(deliveries=count, system={"ApproximateFirstReceiveTimestamp": f"{first:.0f}"}))

    ladder = Recoverability(Immediate(0), Delayed(1), Failed("errors"))
    endpoint = SqsEndpoint(fail, ladder, client=client.as_client(), clock=lambda: NOON)
    endpoint(received(1), Context(30))
    endpoint(received(receives), Context(30))
    return [entry["DelaySeconds"] for entry in client.sent]


@pytest.mark.parametrize(("receives", "delays"), [(4, []), (5, [10]), (6, [0])])
def test_in_a_process_that_begins_late_a_message_that_came_before_goes_on_at_its_last_receive_but_one(
    receives: int, delays: list[int]
) -> None:
    assert delays_of_copies(receives, Patient()) == delays


def test_the_error_copy_at_the_last_receive_is_sent_again_where_its_queue_is_busy_for_a_moment() -> None:
    assert delays_of_copies(6, Patient(refusals=1)) == [0]


def test_where_messages_may_not_be_hidden_anew_an_error_names_the_permission(
    sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture
) -> None:
    sqs_world.fail("change_message_visibility_batch", Refused("AccessDenied"))

    serve(sqs_world, Toiling(sqs_world, 1), visibility=20)

    (error,) = [record for record in caplog.records if "may be shown to others" in record.message]
    assert (error.levelname, error.message.endswith("Check the permission sqs:ChangeMessageVisibility.")) == (
        "ERROR",
        True,
    )
    assert [seen.exception_type for seen in sqs_world.queue("errors")] == ["ValueError"]


def test_the_first_failure_is_dated_by_the_first_receive(sqs_world: SqsWorld) -> None:
    handler = Toiling(sqs_world, 20)
    ladder = Recoverability(Immediate(5), Delayed(1), Failed("errors"))
    sqs_world.serve("jobs", SqsEndpoint(handler, ladder), timeout=60, recursive_loop="Allow")
    sqs_world.send("jobs", "a")
    start = sqs_world.now
    sqs_world.run()

    (seen,) = sqs_world.queue("errors")
    assert (read_date(seen.headers, FIRST_FAILED_AT), handler.runs) == (start, 12)


@pytest.mark.parametrize(
    ("answer", "attributes"),
    [
        ({"Attributes": {"VisibilityTimeout": "30", "MessageRetentionPeriod": "60"}}, QueueAttributes(30, 60)),
        ({"Attributes": {"RedrivePolicy": '{"maxReceiveCount": 7}'}}, QueueAttributes(max_receives=7)),
        ({"Attributes": {"RedrivePolicy": '{"maxReceiveCount": "7"}'}}, QueueAttributes(max_receives=7)),
        ({"Attributes": {"RedrivePolicy": "["}}, QueueAttributes()),
        ({"Attributes": {"RedrivePolicy": "[]", "VisibilityTimeout": "-1"}}, QueueAttributes()),
        ({"Attributes": {"VisibilityTimeout": 30}}, QueueAttributes()),
        ({"Attributes": None}, QueueAttributes()),
        (None, QueueAttributes()),
    ],
)
def test_an_answer_of_sqs_about_a_queue_may_be_anything(answer: object, attributes: QueueAttributes) -> None:
    assert attributes_in(answer) == attributes


def test_a_queue_is_asked_again_after_five_minutes(sqs_world: SqsWorld) -> None:
    asked: list[float] = []
    start = sqs_world.now
    sqs_world.ask_at_each_point(
        lambda point: (
            asked.append((sqs_world.now - start).total_seconds())
            if (point.when, point.what) == ("before", "get_queue_attributes")
            else None
        )
    )
    ladder = Recoverability(Immediate(0), Delayed(6, timedelta(seconds=40)), Failed("errors"))
    sqs_world.serve("jobs", SqsEndpoint(Toiling(sqs_world, 0), ladder), recursive_loop="Allow")
    sqs_world.send("jobs", "a")
    sqs_world.run()

    assert asked == [0, 400, 840]  # at 40, 120, 240 and 600 s the answer is less than five minutes old
