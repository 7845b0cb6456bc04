"""Test clocks and times in a local zone: a delay over a change of daylight saving is as long as it says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from aws.harness import ladder
from aws.recording_client import RecordingClient
from aws.records import event, record
from azure.endpoints import endpoint as service_bus_endpoint
from azure.recording import RecordingClient as ServiceBusClient
from azure.triggers import trigger_message
from builders import Boom, recoverability
from recoverable import Message
from recoverable.aws import SqsEndpoint
from recoverable.circuits import DynamoDbCircuit, PauseTrigger
from recoverable.headers import write_date
from recoverable.timeouts import Dispatcher, Report, Timeouts
from recoverable_local.testing import ServiceBusWorld, SqsWorld
from recoverable_local.timeouts import SqliteStore

BERLIN = ZoneInfo("Europe/Berlin")
DAY = timedelta(days=1)
SPRING = datetime(2026, 3, 28, 12, tzinfo=BERLIN)
"""Noon of the day before the one that has 23 hours."""

AUTUMN = datetime(2026, 10, 25, 2, 59, tzinfo=BERLIN)
"""A minute before the clock is put back an hour."""

before_a_change = pytest.mark.parametrize("now", [SPRING, AUTUMN], ids=["spring", "autumn"])


def fail(_message: Message) -> None:
    """Fail."""
    raise Boom("it broke")


@before_a_change
def test_a_delayed_retry_on_sqs_is_due_when_its_delay_is_over(now: datetime) -> None:
    client = RecordingClient()
    settings = ladder("error", delayed=1, delay=DAY.total_seconds())
    SqsEndpoint(fail, settings, client=client.as_client(), clock=lambda: now)(event(record()), None)
    [copy] = client.sent

    assert f'"Recoverable.DueAt": "{write_date(now.astimezone(UTC) + DAY)}"' in str(copy)


@before_a_change
def test_a_delayed_retry_on_service_bus_is_due_when_its_delay_is_over(now: datetime) -> None:
    client = ServiceBusClient()
    settings = recoverability(0, 1, time_increase=DAY)
    service_bus_endpoint(fail, settings, client=client, clock=lambda: now)(trigger_message())
    [(_, copy)] = client.sent

    assert copy.scheduled_enqueue_time_utc == now.astimezone(UTC) + DAY


@before_a_change
@pytest.mark.parametrize("arguments", [{"delay": DAY}, {"at": "a day later"}])
def test_a_timeout_is_due_when_its_delay_is_over(now: datetime, arguments: dict[str, Any]) -> None:
    store, later = SqliteStore(), now.astimezone(UTC) + DAY
    given = {"at": later.astimezone(BERLIN)} if "at" in arguments else arguments
    Timeouts(store, clock=lambda: now).schedule("orders", "hello", **given)
    claim = store.claim(0, "one", now=later, until=later, horizon=later)
    assert claim is not None
    [[row]] = store.due(claim)
    store.close()

    assert row.timeout is not None
    assert row.timeout.due_at == later


def test_a_dispatcher_takes_no_timeout_an_hour_early() -> None:
    store = SqliteStore()
    Timeouts(store, clock=lambda: AUTUMN.astimezone(UTC)).schedule("orders", "hello", delay=timedelta(minutes=30))
    report = Dispatcher(store, clock=lambda: AUTUMN).run()
    store.close()

    assert report == Report(finished=True)


WORLDS: list[Callable[..., SqsWorld | ServiceBusWorld]] = [SqsWorld, ServiceBusWorld]


@before_a_change
@pytest.mark.parametrize("world", WORLDS, ids=["SQS", "Service Bus"])
def test_a_day_in_a_world_has_24_hours(now: datetime, world: Callable[..., SqsWorld | ServiceBusWorld]) -> None:
    begun = world(start=now)
    begun.run(for_=DAY)

    assert begun.now == now.astimezone(UTC) + DAY


def test_the_clock_of_a_paused_trigger_tells_utc() -> None:
    arn = "arn:aws:sqs:eu-west-1:123456789012:orders"
    pause = PauseTrigger(DynamoDbCircuit("circuits", "orders"), queue_arn=arn, function="orders", clock=lambda: SPRING)

    assert (pause.clock(), pause.clock().tzinfo) == (SPRING, UTC)
