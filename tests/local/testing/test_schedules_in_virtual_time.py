"""Check that a function is invoked at each interval in virtual time, and that the dispatcher of timeouts runs by it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from local.testing.ladders import endpoint, seconds
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.timeouts import Dispatcher, Timeouts
from recoverable_local.testing import EndlessRun, SqsWorld, Throttled
from recoverable_local.timeouts import SqliteStore

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def test_a_function_is_invoked_at_each_interval_with_the_event_of_eventbridge(sqs_world: SqsWorld) -> None:
    events: list[dict[str, Any]] = []

    def tick(event: dict[str, Any], _context: Any) -> None:
        events.append(event)

    sqs_world.serve_schedule(tick, every=MINUTE)
    sqs_world.run(for_=150)

    assert [event["time"] for event in events] == ["2026-01-01T00:01:00Z", "2026-01-01T00:02:00Z"]
    assert events[0] == {
        "version": "0",
        "id": "00000000-0000-0000-0000-000000000001",
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": "123456789012",
        "time": "2026-01-01T00:01:00Z",
        "region": "eu-central-1",
        "resources": ["arn:aws:events:eu-central-1:123456789012:rule/tick"],
        "detail": {},
    }


def test_time_does_not_advance_for_a_schedule_alone(sqs_world: SqsWorld) -> None:
    began = sqs_world.now
    sqs_world.serve_schedule(lambda _event, _context: None, every=MINUTE)

    sqs_world.run()

    assert sqs_world.now == began


def test_invocations_of_a_schedule_do_not_make_a_run_endless(sqs_world: SqsWorld) -> None:
    count: list[object] = []
    sqs_world.serve_schedule(lambda event, _context: count.append(event), every=MINUTE)

    sqs_world.run(for_=7 * DAY)

    assert len(count) == 10_080


def test_a_throttled_interval_is_left_out(sqs_world: SqsWorld) -> None:
    count: list[object] = []
    sqs_world.fail("invoke", Throttled(), nth=1)
    sqs_world.serve_schedule(lambda event, _context: count.append(event), every=MINUTE)

    sqs_world.run(for_=3 * MINUTE)

    assert len(count) == 2


def test_a_function_that_always_fails_ends_the_run_with_the_reason(sqs_world: SqsWorld) -> None:
    def fail(_event: object, _context: object) -> None:
        raise ValueError("no table")

    sqs_world.serve_schedule(fail, every=MINUTE)

    with pytest.raises(
        EndlessRun, match="50 invocations of 'fail' in a row failed with the same error: ValueError: no table"
    ):
        sqs_world.run(for_=DAY)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"every": 0}, r"serve_schedule\(every\) is 0 s; write more"),
        ({"every": 60, "timeout": 901}, r"serve\(timeout\) is 901 s; write more than 0 and up to 900"),
    ],
)
def test_a_schedule_that_is_none_is_refused(sqs_world: SqsWorld, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        sqs_world.serve_schedule(lambda _event, _context: None, **settings)


def test_the_dispatcher_as_it_is_deployed_sends_what_is_due(sqs_world: SqsWorld) -> None:
    store = SqliteStore(":memory:")
    timeouts, dispatcher, arrived = Timeouts(store), Dispatcher(store), list[datetime]()

    def ask_for_reminder(message: Message) -> None:
        if message.text == "order":
            timeouts.schedule("orders", "reminder", delay=6 * HOUR)
        else:
            arrived.append(sqs_world.now)

    sqs_world.serve("orders", endpoint(ask_for_reminder))
    sqs_world.serve_schedule(dispatcher, every=MINUTE)
    ordered = sqs_world.now
    sqs_world.send("orders", "order")
    sqs_world.run(for_=8 * HOUR)

    assert [moment - ordered for moment in arrived] == [6 * HOUR]


def test_a_delayed_retry_beyond_fifteen_minutes_waits_in_the_store(sqs_world: SqsWorld) -> None:
    store = SqliteStore(":memory:")
    ladder = Recoverability(Immediate(0), Delayed(1, time_increase=timedelta(hours=6)), Failed("orders-error"))

    def decline(_message: Message) -> None:
        raise ValueError("no")

    sqs_world.serve("orders", SqsEndpoint(decline, ladder, timeouts=Timeouts(store)))
    sqs_world.serve_schedule(Dispatcher(store), every=MINUTE)
    sqs_world.send("orders", "x")
    sqs_world.run(for_=DAY)

    attempts = [event.at for event in sqs_world.timeline() if event.what == "attempted"]
    assert attempts == [seconds(0), timedelta(hours=6)]
