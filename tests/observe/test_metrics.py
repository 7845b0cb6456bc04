"""The metrics: the lines that Lambda prints as CloudWatch specifies them, and those of OpenTelemetry by the application's own provider."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from typing import Any

import jsonschema
import pytest

from builders import ERROR_QUEUE, QUEUE, Boom
from observe.clouds import (
    Handler,
    World,
    both_kinds_of_handlers,
    climb,
    failing,
    observed,
    on_both_clouds,
    serve,
    settings,
)
from observe.emf import checked, values
from observe.telemetry import Point, Telemetry
from recoverable import Delayed, Discard, Failed, Immediate, Message, RateLimit, Recoverability
from recoverable.extensions import Observe
from recoverable.extensions._metrics import COUNTERS
from recoverable_local.testing import Refused, ServiceBusWorld, SqsWorld


def printed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Return the lines that were printed, each checked against the specification."""
    return [checked(line) for line in capsys.readouterr().out.splitlines()]


def test_the_lines_along_the_ladder(sqs_world: SqsWorld, capsys: pytest.CaptureFixture[str]) -> None:
    climb(sqs_world, failing, settings(Observe()))

    assert [values(line) for line in printed(capsys)] == [
        {"ImmediateRetries": 1},
        {"DelayedRetries": 1},
        {"ImmediateRetries": 1},
        {"MovedToError": 1},
    ]


def test_a_line_in_full(sqs_world: SqsWorld, capsys: pytest.CaptureFixture[str]) -> None:
    climb(sqs_world, failing, settings(Observe(cloudwatch_namespace="Shop"), immediate=0, delayed=0))

    assert printed(capsys) == [
        {
            "_aws": {
                "Timestamp": 1_767_225_600_000,
                "CloudWatchMetrics": [
                    {
                        "Namespace": "Shop",
                        "Dimensions": [["Queue"]],
                        "Metrics": [{"Name": "MovedToError", "Unit": "Count"}],
                    }
                ],
            },
            "level": "ERROR",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "Queue": QUEUE,
            "RequestId": "00000000-0000-0000-0000-000000000001",
            "ExceptionTypes": {"builders.Boom": 1},
            "MovedToError": 1,
        }
    ]


def test_one_line_tells_of_a_whole_batch(sqs_world: SqsWorld, capsys: pytest.CaptureFixture[str]) -> None:
    def handle(message: Message) -> None:
        if message.text == "bad":
            raise Boom
        if message.text == "worse":
            raise ValueError

    serve(sqs_world, handle, settings(Observe(), immediate=0, delayed=0))
    for body in ("good", "bad", "bad", "worse"):
        sqs_world.send(QUEUE, body)
    sqs_world.run()

    (line,) = printed(capsys)
    assert (values(line), line["ExceptionTypes"]) == ({"MovedToError": 3}, {"builders.Boom": 2, "ValueError": 1})


def test_nothing_is_printed_for_what_succeeds(sqs_world: SqsWorld, capsys: pytest.CaptureFixture[str]) -> None:
    climb(sqs_world, lambda message: None, settings(Observe()))

    assert printed(capsys) == []


def test_nothing_is_printed_without_a_namespace(sqs_world: SqsWorld, capsys: pytest.CaptureFixture[str]) -> None:
    climb(sqs_world, failing, settings(Observe(cloudwatch_namespace=None)))

    assert printed(capsys) == []


def test_nothing_is_printed_on_functions(
    service_bus_world: ServiceBusWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    climb(service_bus_world, failing, settings(Observe()))

    assert printed(capsys) == []


def test_a_discard_is_counted(sqs_world: SqsWorld, capsys: pytest.CaptureFixture[str]) -> None:
    climb(sqs_world, failing, settings(Observe(), policy=lambda settings, context: Discard("out of date")))

    assert [values(line) for line in printed(capsys)] == [{"Discarded": 1}]


def test_a_copy_that_is_refused_is_a_settlement_failure(
    sqs_world: SqsWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    sqs_world.fail("send_message_batch", Refused("AccessDenied"), nth=1)

    climb(sqs_world, failing, settings(Observe(), immediate=0, delayed=0))

    first, *_ = printed(capsys)
    assert values(first) == {"SettlementFailures": 1}


def test_what_kills_its_process_is_counted_as_unreported(
    sqs_world: SqsWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    climb(sqs_world, lambda message: sqs_world.kill(), settings(Observe(), immediate=0, delayed=0))

    *_, last = printed(capsys)  # in the test world a process that has ended still prints, that it could settle nothing
    assert values(last) == {"MovedToError": 1, "Unreported": 1}


def test_a_rate_limit_is_a_gauge_and_its_waits_are_deferrals(
    sqs_world: SqsWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    limited = Recoverability(Immediate(0), Delayed(0, timedelta(0)), Failed(ERROR_QUEUE), rate_limit=RateLimit(1))
    outage = [True]

    def handle(message: Message) -> None:
        if outage:
            raise Boom

    sqs_world.at(1, outage.clear)
    serve(sqs_world, handle, observed(limited, Observe()))
    for number in range(3):
        sqs_world.send(QUEUE, number)
    sqs_world.run()

    told = [values(line) for line in printed(capsys)]
    assert told[0] == {"Deferred": 3, "RateLimited": 1}
    assert {line.get("RateLimited") for line in told} <= {0, 1}


def test_a_line_that_cannot_be_printed_harms_nothing(sqs_world: SqsWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        def write(self, text: str) -> None:
            raise OSError("no space left on device")

    monkeypatch.setattr("sys.stdout", Closed())
    climb(sqs_world, failing, settings(Observe()))
    monkeypatch.undo()

    assert len(sqs_world.queue(ERROR_QUEUE)) == 1


WRONG: dict[str, Any] = {
    "no metadata": {},
    "no time": {"_aws": {"CloudWatchMetrics": []}},
    "an unknown unit": {
        "_aws": {
            "Timestamp": 1,
            "CloudWatchMetrics": [{"Namespace": "n", "Dimensions": [[]], "Metrics": [{"Name": "m", "Unit": "Apples"}]}],
        },
        "m": 1,
    },
    "a metric without a value": {
        "_aws": {
            "Timestamp": 1,
            "CloudWatchMetrics": [{"Namespace": "n", "Dimensions": [[]], "Metrics": [{"Name": "m"}]}],
        }
    },
    "a dimension that is a number": {
        "_aws": {"Timestamp": 1, "CloudWatchMetrics": [{"Namespace": "n", "Dimensions": [["d"]], "Metrics": []}]},
        "d": 1,
    },
}


@pytest.mark.parametrize("document", WRONG.values(), ids=WRONG)
def test_the_check_refuses_what_cloudwatch_refuses(document: Any) -> None:
    with pytest.raises((jsonschema.ValidationError, AssertionError, KeyError)):
        checked(json.dumps(document))


def labels(world: type[World], **more: str) -> dict[str, Any]:
    """Return the attributes of a point."""
    system = "aws_sqs" if world is SqsWorld else "servicebus"
    return {"messaging.system": system, "messaging.destination.name": QUEUE, **more}


@on_both_clouds
@both_kinds_of_handlers
def test_opentelemetry_gets_the_metrics_along_the_ladder(
    world: type[World], handler: Handler, telemetry: Telemetry
) -> None:
    climb(world(), handler, settings(Observe()))

    failed = labels(world, **{"error.type": "builders.Boom"})
    processed = {**failed, "messaging.operation.name": "process"}
    expected: list[Point] = [
        ("messaging.client.consumed.messages", 4, processed),
        ("messaging.process.duration", 0.0, processed),
        ("recoverable.delayed_retries", 1, failed),
        ("recoverable.immediate_retries", 2, failed),
        ("recoverable.moved_to_error", 1, failed),
    ]
    assert telemetry.points() == expected


@on_both_clouds
def test_successes_are_not_measured(world: type[World], telemetry: Telemetry) -> None:
    climb(world(), lambda message: None, settings(Observe()))

    assert telemetry.points() == []


@on_both_clouds
def test_successes_are_measured_when_asked_for(world: type[World], telemetry: Telemetry) -> None:
    here = world()

    climb(here, lambda message: here.spend(2.5), settings(Observe(successes=True)))

    processed = labels(world, **{"messaging.operation.name": "process"})
    assert telemetry.points() == [
        ("messaging.client.consumed.messages", 1, processed),
        ("messaging.process.duration", 2.5, processed),
    ]


@on_both_clouds
def test_metrics_can_be_switched_off(world: type[World], telemetry: Telemetry) -> None:
    climb(world(), failing, settings(Observe(metrics=False)))

    assert telemetry.points() == []


def test_the_counts_are_those_that_cloudwatch_gets(
    sqs_world: SqsWorld, telemetry: Telemetry, capsys: pytest.CaptureFixture[str]
) -> None:
    limited = Recoverability(
        Immediate(1), Delayed(1, timedelta(seconds=1)), Failed(ERROR_QUEUE), rate_limit=RateLimit(3)
    )
    outage = [True]

    def handle(message: Message) -> None:
        if outage:
            raise Boom

    sqs_world.at(30, outage.clear)
    serve(sqs_world, handle, observed(limited, Observe()))
    for number in range(4):
        sqs_world.send(QUEUE, number)
    sqs_world.run()

    counted = Counter[str]()
    for line in capsys.readouterr().out.splitlines():
        counted.update({name: int(value) for name, value in values(checked(line)).items() if name != "RateLimited"})
    expected = {metric.instrument: counted[metric.name] for metric in COUNTERS if counted[metric.name]}
    assert telemetry.counts() == expected
    assert set(expected) == {"recoverable.deferred", "recoverable.immediate_retries"}


@on_both_clouds
def test_the_gauge_falls_with_the_success_that_ends_the_limit(world: type[World], telemetry: Telemetry) -> None:
    here, system = world(), labels(world)["messaging.system"]
    attempts: list[Message] = []
    while_limited: list[float] = []

    def handle(message: Message) -> None:
        attempts.append(message)
        if len(attempts) == 1:
            raise Boom
        while_limited.append(telemetry.gauge(system))

    climb(here, handle, settings(Observe(), rate_limit=RateLimit(1)))

    assert (while_limited, telemetry.gauge(system)) == ([1], 0)


TOO_LARGE = "One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes."
"""SQS's answer where a queue's MaximumMessageSize is smaller than a copy."""


def test_an_attempt_that_is_decided_about_twice_is_measured_once(sqs_world: SqsWorld, telemetry: Telemetry) -> None:
    sqs_world.fail("send_message_batch", Refused("InvalidParameterValue", TOO_LARGE), nth=1)

    climb(sqs_world, failing, settings(Observe(), immediate=0))

    counted = {name: value for name, value, _ in telemetry.points()}
    assert counted == {
        "messaging.client.consumed.messages": 1,
        "messaging.process.duration": 0.0,
        "recoverable.settlement_failures": 1,
        "recoverable.moved_to_error": 1,
    }
