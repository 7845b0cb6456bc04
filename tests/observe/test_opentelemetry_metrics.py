"""OpenTelemetry's metrics: those of the semantic conventions and ours, along a whole ladder, by the application's own provider."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from builders import ERROR_QUEUE, QUEUE, Boom
from observe.clouds import Handler, World, both_kinds_of_handlers, climb, failing, on_both_clouds, serve, settings
from observe.emf import checked, values
from observe.telemetry import Point, Telemetry
from recoverable import Delayed, Failed, Immediate, Message, Observe, RateLimit, Recoverability
from recoverable._observe.metrics import COUNTERS
from recoverable_local.testing import Refused, SqsWorld


def labels(world: type[World], **more: str) -> dict[str, Any]:
    """Return the attributes of a point."""
    system = "aws_sqs" if world is SqsWorld else "servicebus"
    return {"messaging.system": system, "messaging.destination.name": QUEUE, **more}


@on_both_clouds
@both_kinds_of_handlers
def test_the_metrics_along_the_ladder(world: type[World], handler: Handler, telemetry: Telemetry) -> None:
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
        Immediate(1), Delayed(1, timedelta(seconds=1)), Failed(ERROR_QUEUE), rate_limit=RateLimit(3), observe=Observe()
    )
    outage = [True]

    def handle(message: Message) -> None:
        if outage:
            raise Boom

    sqs_world.at(30, outage.clear)
    serve(sqs_world, handle, limited)
    for number in range(4):
        sqs_world.send(QUEUE, number)
    sqs_world.run()

    printed = Counter[str]()
    for line in capsys.readouterr().out.splitlines():
        printed.update({name: int(value) for name, value in values(checked(line)).items() if name != "RateLimited"})
    told = {metric.instrument: printed[metric.name] for metric in COUNTERS if printed[metric.name]}
    assert telemetry.counts() == told
    assert set(told) == {"recoverable.deferred", "recoverable.immediate_retries"}


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
