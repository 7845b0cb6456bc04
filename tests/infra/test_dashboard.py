"""The dashboard of template.yaml: eight widgets, and of our namespace exactly the metrics that the function prints."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from infra.decided import decided
from infra.features import asking_for
from infra.sam_template import template
from observe.clouds import failing
from observe.emf import checked, values
from recoverable import Delayed, Discard, Failed, Immediate, Message, RateLimit, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.extensions import Observe
from recoverable.extensions._metrics import METRICS
from recoverable_local.testing import Refused, SqsWorld

SAM = template()
STACK = decided(SAM, asking_for("metrics"))["Resources"]
BODY, NAMES = STACK["OrdersDashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
WIDGETS: list[dict[str, Any]] = json.loads(re.sub(r"\$\{([\w:]+)\}", r"\1", BODY))["widgets"]


def metrics() -> Iterator[list[Any]]:
    """Yield the metrics of all widgets."""
    for widget in WIDGETS:
        yield from widget["properties"].get("metrics", [])


def test_it_has_eight_widgets_that_do_not_overlap() -> None:
    places = {(widget["x"], widget["y"]) for widget in WIDGETS}

    assert (len(WIDGETS), places) == (8, {(x, y) for x in (0, 12) for y in (0, 6, 12, 18)})
    assert {(widget["width"], widget["height"]) for widget in WIDGETS} == {(12, 6)}


def test_it_shows_each_metric_of_ours_and_no_other_by_the_queue() -> None:
    ours = [(metric[1], *metric[2:4]) for metric in metrics() if metric[0] == "Recoverable"]

    assert sorted(ours) == sorted((metric.name, "Queue", "Orders") for metric in METRICS)


def test_the_function_prints_to_the_namespace_that_it_shows() -> None:
    variables = STACK["OrdersFunction"]["Properties"]["Environment"]["Variables"]

    assert variables["METRICS_NAMESPACE"] == "Recoverable"


def test_without_metrics_there_is_neither() -> None:
    stack = decided(SAM, {})["Resources"]

    assert "OrdersDashboard" not in stack
    assert "METRICS_NAMESPACE" not in stack["OrdersFunction"]["Properties"]["Environment"]["Variables"]


def test_its_queues_are_those_of_the_stack() -> None:
    assert NAMES == {
        "Orders": {"Fn::GetAtt": ["OrdersQueue", "QueueName"]},
        "Errors": {"Fn::GetAtt": ["ErrorQueue", "QueueName"]},
    }


def test_the_metrics_are_those_that_a_function_prints(sqs_world: SqsWorld, capsys: pytest.CaptureFixture[str]) -> None:
    """One run after the other, until each metric was printed once."""

    def discards(settings: Recoverability, context: Any) -> Discard:
        return Discard("out of date")

    failed, later = Failed("error"), Delayed(1, timedelta(seconds=1))
    kinds: dict[str, tuple[Any, Recoverability]] = {
        "retried": (failing, Recoverability(Immediate(1), later, failed)),
        "discarded": (failing, Recoverability(failed=failed, policy=discards)),
        "limited": (failing_twice(), Recoverability(failed=failed, rate_limit=RateLimit(1))),
        "killed": (lambda message: sqs_world.kill(), Recoverability(Immediate(0), later, failed)),
    }
    sqs_world.fail("send_message_batch", Refused("InvalidMessageContents"), queue="error", nth=1)
    for queue, (handler, recoverability) in kinds.items():
        sqs_world.serve(queue, SqsEndpoint(handler, recoverability, extensions=(Observe(),)))
        sqs_world.send(queue, "an order")
    sqs_world.run()

    printed = {name for line in capsys.readouterr().out.splitlines() for name in values(checked(line))}
    assert printed == {metric.name for metric in METRICS}


def failing_twice() -> Any:
    """Return a handler whose first two attempts fail."""
    attempts: list[Message] = []

    def handle(message: Message) -> None:
        attempts.append(message)
        if len(attempts) < 3:
            raise ConnectionError

    return handle
