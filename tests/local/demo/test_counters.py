"""The demo's counters: from the metrics that Lambda prints, and from the ends of the lines that Functions log."""

from __future__ import annotations

import json
import logging

import pytest

from observe.clouds import climb, failing, settings
from recoverable import Observe
from recoverable_local.demo.counters import counted_by_log, counted_by_metrics, in_words
from recoverable_local.testing import ServiceBusWorld, SqsWorld

TOLD = "Counters of this run: ImmediateRetries 2, DelayedRetries 1, MovedToError 1."


def test_they_are_the_sums_of_the_metrics_that_lambda_prints(
    sqs_world: SqsWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    climb(sqs_world, failing, settings(Observe()))

    lines = ["no JSON", json.dumps({"level": "INFO"}), "[]", *capsys.readouterr().out.splitlines()]
    assert in_words(counted_by_metrics(lines)) == TOLD


def test_they_are_counted_by_the_ends_of_the_lines_that_functions_log(
    service_bus_world: ServiceBusWorld, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="recoverable")

    climb(service_bus_world, failing, settings())

    assert in_words(counted_by_log(caplog.text.splitlines())) == TOLD


def test_what_ended_without_an_outcome_is_counted_too() -> None:
    line = "moving: [action=move_to_error attempt=1 round=0 queue=orders exception=recoverable.UnreportedFailure]"

    assert counted_by_log([line]) == {"MovedToError": 1, "Unreported": 1}


def test_a_run_without_failures_says_so() -> None:
    assert in_words({}) == "Counters of this run: all 0."
