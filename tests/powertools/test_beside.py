"""Powertools' Logger, Metrics and Tracer around the endpoint and the processor, and inside their handlers."""

from __future__ import annotations

import io
import json
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.logging import utils
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from aws.harness import Endpoint, ladder
from aws.recording_client import RecordingClient
from aws.records import event, record
from powertools.entry_points import ENDPOINT, ENTRY_POINTS, Context, powertools_function
from recoverable import Message
from recoverable.aws import SqsEndpoint
from recoverable.powertools import RecoverableBatchProcessor

TESTS = Path(__file__).parents[2]
LAMBDA_S_OWN = "53995c3f42cd8ad8"  # the segment that Lambda itself opens


class Shop:
    """A handler that uses what stands around it, behind either entry point."""

    def __init__(self, entry_point: str) -> None:
        self.lines = io.StringIO()
        self.logger = Logger(service=uuid4().hex, logger_handler=logging.StreamHandler(self.lines))
        self.metrics = Metrics(namespace="shop", service="shop")
        self.tracer = Tracer(service="shop", disabled=True)
        self.function = self.decorated(self.entry_point(entry_point))

    def by_message(self, message: Message) -> None:
        """Place an order."""
        self.logger.info("placing %s", message.text)
        self.metrics.add_metric(name="orders", unit=MetricUnit.Count, value=1)
        if message.text == "bad":
            raise ValueError("no")

    def by_record(self, record: SQSRecord, message: Message) -> None:
        self.by_message(message)

    def entry_point(self, entry_point: str) -> Endpoint:
        """Return the bare Lambda handler."""
        settings: Any = {"recoverability": ladder("error"), "client": RecordingClient().as_client()}
        if entry_point == ENDPOINT:
            return SqsEndpoint(self.by_message, **settings)
        return powertools_function(self.by_record, RecoverableBatchProcessor(**settings))

    def decorated(self, handler: Any) -> Any:
        """Return the handler under the three decorators that Powertools' documentation stacks."""
        traced: Any = self.tracer.capture_lambda_handler(handler)
        measured: Any = self.metrics.log_metrics(traced)
        return self.logger.inject_lambda_context(measured)

    def logged(self) -> list[dict[str, Any]]:
        """Return what the logger wrote."""
        return [json.loads(line) for line in self.lines.getvalue().splitlines()]


@pytest.fixture
def our_log() -> Iterator[logging.Logger]:
    """Yield the package's logger, and restore it at the end."""
    ours = logging.getLogger("recoverable")
    before = ours.handlers[:], ours.level, ours.propagate
    yield ours
    ours.handlers, ours.level, ours.propagate = before


@pytest.fixture(params=ENTRY_POINTS)
def shop(request: pytest.FixtureRequest) -> Shop:
    return Shop(request.param)


def test_the_function_under_all_three_decorators_answers_as_it_does_alone(shop: Shop) -> None:
    answer = shop.function(event(record("bad"), record("good", message_id="native-2")), Context())

    assert answer == {"batchItemFailures": []}


def test_a_line_of_a_handler_carries_the_fields_of_lambda_s_context(shop: Shop) -> None:
    shop.function(event(record("good")), Context())

    (line,) = shop.logged()
    assert (line["message"], line["function_request_id"]) == ("placing good", "request-1")


def test_metrics_of_handlers_are_written_at_the_end_of_the_invocation(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    shop.function(event(record("bad"), record("good", message_id="native-2")), Context())

    written = json.loads(capsys.readouterr().out)
    assert (written["service"], written["orders"]) == ("shop", [1.0, 1.0])


def test_the_retry_log_is_part_of_powertools_json_when_its_logger_is_configured(
    shop: Shop, our_log: logging.Logger
) -> None:
    utils.copy_config_to_registered_loggers(source_logger=shop.logger, include={our_log.name})

    shop.function(event(record("bad")), Context())

    moved = shop.logged()[-1]
    names = ("name", "level", "message_id", "attempt", "round", "queue", "error_queue", "exception_name")
    assert [moved[name] for name in (*names, "function_request_id")] == [
        *("recoverable.move_to_error", "ERROR", "native-1", 1, 0, "orders", "error", "ValueError"),
        "request-1",
    ]


def test_an_endpoint_keeps_its_handler_s_name_and_text_under_decorators() -> None:
    def place_order(message: Message) -> None:
        """Place an order."""

    decorated: Any = Tracer(service="shop", disabled=True).capture_lambda_handler(SqsEndpoint(place_order))

    assert (decorated.__name__, decorated.__doc__) == ("place_order", "Place an order.")


@pytest.mark.parametrize(
    ("entry_point", "heard"),
    [
        ("endpoint", ["## __main__.place_order", "## place_order"]),
        ("processor", ["## __main__.place_order", "## __main__.place_record", "## powertools_handler"]),
    ],
)
def test_x_ray_gets_a_segment_for_each_message_and_for_the_function(entry_point: str, heard: list[str]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as daemon:
        daemon.bind(("127.0.0.1", 0))
        daemon.settimeout(60)
        done = subprocess.run(
            [sys.executable, Path(__file__).with_name("traced_shop.py"), entry_point],
            input=json.dumps(event(record("order 1"))),
            env=as_on_lambda(daemon.getsockname()[1]),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stdout) == (0, '{"batchItemFailures": []}'), done.stderr
        segments = [json.loads(daemon.recv(65_535).split(b"\n", 1)[1]) for _ in heard]

    assert [segment["name"] for segment in segments] == heard
    assert [segment["parent_id"] for segment in segments] == [
        *(segment["id"] for segment in segments[1:]),
        LAMBDA_S_OWN,
    ]


def as_on_lambda(port: int) -> dict[str, str]:
    """Return the variables that Lambda sets, and the daemon's address."""
    trace = f"Root=1-5e1b4151-5ac6c58239c1e5b4a1b2c3d4;Parent={LAMBDA_S_OWN};Sampled=1"
    lambda_ = {"LAMBDA_TASK_ROOT": str(TESTS), "_X_AMZN_TRACE_ID": trace}
    return {**os.environ, **lambda_, "AWS_XRAY_DAEMON_ADDRESS": f"127.0.0.1:{port}"}
