"""Test the command `recoverable local aws` as a user types it."""

from __future__ import annotations

import signal
import socket
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

from local.lambda_host.processes import PATIENCE, ends, is_alive, line_with, typed
from local.lambda_host.templates import document, written
from local.lambda_host.test_host_schedules import template
from recoverable_local.lambda_host.local_queue import LocalQueue
from recoverable_local.lambda_host.services.sqs import Sqs
from recoverable_operate._cli import main

AWS = ("local", "aws", "--template")


def queue_of(process: subprocess.Popen[str], stack_name: str) -> LocalQueue:
    """Return the queue that the command printed."""
    url = line_with(process, rf"queue +{stack_name}-orders +(\S+)")[1]
    endpoint = url.rsplit("/", 2)[0]
    return LocalQueue("orders", url, "", Sqs(endpoint, region="us-east-1"))


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_runs_a_message_and_leaves_nothing_behind_when_stopped(
    tmp_path: Path, stack_name: str, stop: signal.Signals
) -> None:
    with typed(*AWS, str(written(tmp_path, document())), "--stack-name", stack_name, "--concurrency", "1") as process:
        queue = queue_of(process, stack_name)
        queue.send({"do": "print", "text": "it runs"})
        pid = int(line_with(process, r"Shop\[(\d+)\] it runs")[1])
        line_with(process, "Shop [0-9a-f]{8} → completed")
        process.send_signal(stop)
        status = process.wait(PATIENCE)

    port = int(queue.url.split(":")[2].split("/")[0])
    with socket.socket() as probe:
        assert (status, is_alive(pid), probe.connect_ex(("127.0.0.1", port)) == 0) == (0, False, False)


@pytest.mark.slow
def test_it_says_what_runs_how_often_and_runs_it(tmp_path: Path, stack_name: str) -> None:
    options = ("--stack-name", stack_name, "--schedule-interval", "1")
    with typed(*AWS, str(written(tmp_path, template())), *options) as process:
        line_with(process, rf"table +{stack_name}-Events$")
        line_with(process, r"function Clock +runs every 0:00:01$")
        line_with(process, r"Clock by its schedule → done$")


@pytest.mark.slow
def test_an_instance_does_not_outlive_a_host_that_is_killed(tmp_path: Path, stack_name: str) -> None:
    with typed(*AWS, str(written(tmp_path, document())), "--stack-name", stack_name) as process:
        queue_of(process, stack_name).send({"do": "succeed"})
        pid = int(line_with(process, r"Shop\[(\d+)\] started")[1])
        line_with(process, "Shop [0-9a-f]{8} → completed")
        process.kill()

    assert ends(pid)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["local", "aws", "--template", "nowhere.yaml"], "There is no template 'nowhere.yaml'"),
        (["local", "aws", "--concurrency", "0"], "concurrency is 0; write 1 or more"),
        (["local", "aws", "--redeliver-after", "0"], "redeliver_after is 0:00:00; write a second or more"),
        (["local", "aws", "--schedule-interval", "0"], "schedule_interval is 0:00:00; write a second or more"),
        (["local", "gcp"], "recoverable: 'local gcp' is no command"),
        (["local", "gcp", "--help"], "recoverable: 'local gcp --help' is no command"),
        ([], "usage: recoverable COMMAND"),
        (["local"], "usage: recoverable COMMAND"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_the_status_is_2(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_help_for_the_first_word_of_several_commands_names_those(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--help"]) == 0
    assert [line.split("  ")[1] for line in capsys.readouterr().out.splitlines() if line.startswith("  ")] == [
        "demo aws",
        "demo azure",
    ]


def test_it_tells_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"recoverable {version('recoverable')}\n"


def test_a_broker_that_does_not_answer_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = str(written(tmp_path, document()))
    with socket.socket() as deaf:  # bound, so that nobody else gets the port, but not listening
        deaf.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"

        assert main(["local", "aws", "--template", template, "--endpoint-url", url]) == 2
    said = f"nothing listens at {url.removeprefix('http://')} (Connection refused); check --endpoint-url"
    assert capsys.readouterr().err == f"recoverable local aws: {said}\n"


def test_a_service_whose_endpoint_does_not_answer_is_said_with_its_variable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    template = str(written(tmp_path, document()))
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        port = deaf.getsockname()[1]
        given = f"AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:{port}"

        assert main(["local", "aws", "--template", template, "--env", given]) == 2
    assert f"127.0.0.1:{port} (Connection refused); check --env AWS_ENDPOINT_URL_DYNAMODB" in capsys.readouterr().err


@pytest.mark.parametrize("url", ["127.0.0.1:4566", "sqs://host", "http://"])
def test_an_endpoint_that_is_no_url_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], url: str) -> None:
    assert main(["local", "aws", "--template", str(written(tmp_path, document())), "--endpoint-url", url]) == 2
    assert f"--endpoint-url is {url!r}; write a URL such as" in capsys.readouterr().err


def test_an_option_without_its_equals_sign_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["local", "aws", "--env", "STAGE"])

    assert "'STAGE' is no NAME=VALUE" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["aws", "azure", "service-bus"])
@pytest.mark.parametrize("port", ["99999", "-1", "http"])
def test_a_port_that_is_none_is_refused(capsys: pytest.CaptureFixture[str], command: str, port: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["local", command, f"--port={port}"])

    assert f"{port!r} is no port; write 0 (any free one) to 65535" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("aws", "--redeliver-after"),
        ("aws", "--schedule-interval"),
        ("azure", "--lock-duration"),
        ("service-bus", "--lock-duration"),
    ],
)
@pytest.mark.parametrize("text", ["soon", "inf", "99999999999999"])
def test_a_time_that_is_none_is_refused(
    capsys: pytest.CaptureFixture[str], command: str, option: str, text: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["local", command, f"{option}={text}"])

    assert f"{text!r} is no number of seconds" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"), [(["--help"], "local aws  "), (["local", "aws", "--help"], "LocalStack   localstack start")]
)
def test_help_tells_what_there_is(capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    try:
        status: object = main(words)
    except SystemExit as exit_:
        status = exit_.code

    assert status == 0
    assert said in capsys.readouterr().out
