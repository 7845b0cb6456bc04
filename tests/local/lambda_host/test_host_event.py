"""Test the event, environment and context that a function gets, and where its output goes."""

from __future__ import annotations

import base64
import json
import socket
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from local.lambda_host.conftest import Start
from local.lambda_host.running_lambda import RunningLambda
from local.lambda_host.templates import FUNCTIONS
from recoverable_local.lambda_host import Ended
from recoverable_local.lambda_host.runtime.runtime_api import Invocation, RuntimeApi

pytestmark = pytest.mark.slow


def told_by(running: RunningLambda, folder: Path) -> Any:
    """Return what the function reports that it got."""
    file = folder / "told"
    running.send("tell", file=str(file))
    running.ended(1)
    return json.loads(file.read_text())


def test_the_event_has_the_shape_that_lambda_gives_it(start: Start, tmp_path: Path) -> None:
    running = start()
    told = tmp_path / "told"
    order = running.host.send(
        "orders",
        {"do": "tell", "file": str(told)},
        attributes={"tenant": "blue", "amount": 12.5, "picture": b"\x00\xff"},
    )
    running.ended(1)

    (record,) = json.loads(told.read_text())["records"]

    broker_made = ("receiptHandle", "md5OfBody", "md5OfMessageAttributes")
    assert all(isinstance(record.pop(name), str) for name in broker_made)
    assert sorted(record.pop("attributes")) == [
        "ApproximateFirstReceiveTimestamp",
        "ApproximateReceiveCount",
        "SenderId",
        "SentTimestamp",
    ]
    assert record == {
        "messageId": order,
        "body": json.dumps({"do": "tell", "file": str(told)}),
        "messageAttributes": {
            "tenant": attribute("String", stringValue="blue"),
            "amount": attribute("Number", stringValue="12.5"),
            "picture": attribute("Binary", binaryValue=base64.b64encode(b"\x00\xff").decode()),
        },
        "eventSource": "aws:sqs",
        "eventSourceARN": running.host.queue("orders").arn,
        "awsRegion": "us-east-1",
    }


def attribute(kind: str, **value: str) -> dict[str, Any]:
    return {**value, "stringListValues": [], "binaryListValues": [], "dataType": kind}


def test_the_environment_is_that_of_lambda_and_of_the_template_on_the_local_broker(
    start: Start, tmp_path: Path
) -> None:
    running = start(
        function={
            "MemorySize": 512,
            "Timeout": 60,
            "LoggingConfig": {"LogFormat": "JSON", "ApplicationLogLevel": "INFO"},
        },
        settings={"environment": {"SHOP": "mine"}},
    )

    told = told_by(running, tmp_path)
    environment = told["environment"]

    assert environment["AWS_ENDPOINT_URL_SQS"] == running.host.endpoint_url
    assert environment["ERROR_QUEUE_URL"] == running.host.queue("errors").url
    assert environment["SHOP"] == "mine"
    assert environment["AWS_LAMBDA_FUNCTION_NAME"] == "Shop"
    assert environment["AWS_LAMBDA_LOG_FORMAT"] == "JSON"
    assert environment["_X_AMZN_TRACE_ID"].startswith("Root=1-")
    assert told["folder"] == environment["LAMBDA_TASK_ROOT"] == str(FUNCTIONS)
    assert 0 < told["milliseconds left"] <= 60_000


def test_of_the_hosts_environment_a_function_sees_nothing_that_lambda_would_not_have(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_SECRET", "only here")
    monkeypatch.setenv("AWS_PROFILE", "production")

    environment = told_by(start(), tmp_path)["environment"]

    assert {"SHOP_SECRET", "AWS_PROFILE"} & set(environment) == set()


def test_the_context_names_the_function_and_the_request(start: Start, tmp_path: Path) -> None:
    running = start(function={"MemorySize": 512})

    context = told_by(running, tmp_path)["context"]

    account = running.host.queue("orders").arn.split(":")[4]
    assert context["aws_request_id"] == running.all(Ended)[0].request_id
    assert context["invoked_function_arn"] == f"arn:aws:lambda:us-east-1:{account}:function:Shop"
    assert (context["function_name"], context["memory_limit_in_mb"]) == ("Shop", "512")


def test_the_functions_own_calls_reach_the_local_broker(start: Start) -> None:
    running = start()
    running.send("send")
    running.ended(1)

    assert [message.body for message in running.host.queue("errors").messages()] == ["sent by the function"]


@pytest.mark.parametrize("deed", ["print", "complain"])
def test_what_the_function_prints_is_passed_on_line_by_line(start: Start, deed: str) -> None:
    running = start()
    running.send(deed, text="first\nsecond ✓")
    running.until(lambda: len(running.host.function_log) >= 2)

    assert [entry.line for entry in running.host.function_log] == ["first", "second ✓"]


def test_a_traceback_is_passed_on_as_lines_that_a_person_can_read(start: Start) -> None:
    running = start()
    running.send("raise")
    running.until(lambda: len(running.host.function_log) >= 5)

    lines = [entry.line for entry in running.host.function_log]

    assert lines[:2] == ["[ERROR] ValueError: no such card", "Traceback (most recent call last):"]
    assert lines[-1] == '    raise ValueError("no such card")'


def test_a_function_that_prints_more_than_a_pipe_holds_does_not_hang(start: Start) -> None:
    running = start()
    running.send("print", text="x" * 99 + "\n", copies=2_000)  # a pipe holds 64 KB

    (entry,) = running.ended(1)

    assert entry.reason is None


def test_an_event_does_not_wait_for_the_acknowledgement_of_its_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    """With Nagle's algorithm it would, for 40 ms at each invocation: the answer is sent in two parts."""
    options, set_option = list[tuple[Any, ...]](), socket.socket.setsockopt

    def noting(self: socket.socket, *option: Any) -> None:
        options.append(option)
        set_option(self, *option)

    monkeypatch.setattr(socket.socket, "setsockopt", noting)
    with (
        closing(RuntimeApi()) as api,
        socket.create_connection(("127.0.0.1", int(api.address.rpartition(":")[2]))) as client,
    ):
        api.send(Invocation("id", b"{}", timedelta(seconds=1), "arn", "trace"))
        client.sendall(b"GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\nHost: api\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 200"

    assert (socket.IPPROTO_TCP, socket.TCP_NODELAY, True) in options
