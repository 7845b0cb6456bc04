"""A line that Lambda's own log handler cannot write costs no message its settlement, and no neighbour an extra run.

awslambdaric's log handlers let their errors escape: text with half a surrogate pair, which any JSON body can spell, is no UTF-8, and
its JSON format asks an exception for its text without care.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from awslambdaric.bootstrap import FramedTelemetryLogSink, LambdaLoggerHandlerWithFrameType
from awslambdaric.lambda_runtime_log_utils import JsonFormatter

from aws.recording_client import RecordingClient
from aws.records import event, record
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint

HALF_A_PAIR = "\\ud800"
GIVEN_UP_AT_ONCE = Recoverability(Immediate(0), Delayed(0), Failed("orders-error"))


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


def quoted(message: Message) -> None:
    raise ValueError(f"no such card: {message.json()}")


def unspeakable(message: Message) -> None:
    raise Unspeakable


@pytest.fixture(params=[logging.Formatter(), JsonFormatter()], ids=["text", "JSON"], autouse=True)
def _lambda_log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    log = logging.getLogger("recoverable")
    descriptor = os.open(tmp_path / "telemetry", os.O_WRONLY | os.O_CREAT)
    with FramedTelemetryLogSink(descriptor) as sink:
        handler = LambdaLoggerHandlerWithFrameType(sink)
        handler.setFormatter(request.param)
        log.addHandler(handler)
        yield
        log.removeHandler(handler)


@pytest.mark.parametrize("handle", [quoted, unspeakable])
def test_a_failure_that_cannot_be_logged_is_settled_all_the_same(handle: Any) -> None:
    client = RecordingClient()
    endpoint = SqsEndpoint(handle, GIVEN_UP_AT_ONCE, client=client.as_client())

    response = endpoint(event(record(f'"{HALF_A_PAIR}"')))

    assert (response, client.deleted) == ({"batchItemFailures": []}, ["handle-of-native-1"])


def test_an_id_that_cannot_be_logged_is_named_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = {"NServiceBus.MessageId": "\ud800"}
    refused = RecordingClient(takes=lambda: False)
    endpoint = SqsEndpoint(quoted, GIVEN_UP_AT_ONCE, client=refused.as_client())

    response = endpoint(event(record('"x"', headers=hostile), record('"y"', message_id="native-2")))

    assert response == {"batchItemFailures": [{"itemIdentifier": "native-1"}, {"itemIdentifier": "native-2"}]}
    assert r"Moving message '\ud800' to the error queue" in capsys.readouterr().err
