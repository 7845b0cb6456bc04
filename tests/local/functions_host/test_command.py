"""Test the command `recoverable local azure` as a user types it."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage

from local.functions_host.apps import ORDERS, app
from local.lambda_host.processes import PATIENCE, ends, line_with, typed
from recoverable_operate._cli import main

NAMESPACE = "Endpoint=sb://127.0.0.1:9;SharedAccessKeyName=me;SharedAccessKey=bm8=;UseDevelopmentEmulator=true;"


@pytest.mark.slow
@pytest.mark.xdist_group("functions_host")
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_runs_a_message_and_leaves_nothing_behind_when_stopped(tmp_path: Path, stop: signal.Signals) -> None:
    with typed("local", "azure", str(app(tmp_path)), "--queue", "more") as process:
        line_with(process, r"function orders +reads orders on 127\.0\.0\.1:\d+\n")
        line_with(process, "queue +more")
        connection = line_with(process, "Connect with: (.*)")[1]
        with ServiceBusClient.from_connection_string(connection) as client:
            with client.get_queue_sender("orders") as sender:
                sender.send_messages(ServiceBusMessage("good", message_id="m-1"))
            line_with(process, r"^\d\d:\d\d:\d\d orders m-1 delivery 1 → completed$")
        process.send_signal(stop)
        line_with(process, r"Stopping\.")
        status = process.wait(PATIENCE)

    with socket.socket() as probe:
        port = int(re.findall(r":(\d+);", connection)[0])
        assert (status, probe.connect_ex(("127.0.0.1", port)) == 0) == (0, False)


@pytest.mark.slow
@pytest.mark.xdist_group("functions_host")
def test_the_worker_does_not_outlive_a_host_that_is_killed(tmp_path: Path) -> None:
    with typed("local", "azure", str(app(tmp_path))) as process:
        pid = int(line_with(process, r"worker\[(\d+)\] started: orders")[1])
        process.kill()

    assert ends(pid)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "There is no .*nowhere/function_app.py; give the folder"),
        (["{}", "--lock-duration", "0"], "lock_duration is 0:00:00; write more than nothing"),
        (["{}", "--connection-string", "nonsense"], "recoverable local azure: "),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_the_status_is_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    folder = str(app(tmp_path))

    assert main(["local", "azure", *(word.format(folder) for word in words)]) == 2
    assert re.search(said, capsys.readouterr().err)


@pytest.mark.slow
@pytest.mark.xdist_group("functions_host")
@pytest.mark.parametrize(
    ("words", "namespace", "mixed"),
    [((), r"127\.0\.0\.1:9", True), (("--all-local",), r"127\.0\.0\.1:\d+", False)],
    ids=["as the app settings say", "all local"],
)
def test_each_functions_namespace_is_told_and_one_elsewhere_noted(
    tmp_path: Path, words: tuple[str, ...], namespace: str, *, mixed: bool
) -> None:
    elsewhere = f"Elsewhere={NAMESPACE}"
    bills = ORDERS.replace("orders", "bills").replace('"ServiceBus"', '"Elsewhere"')
    with typed("local", "azure", str(app(tmp_path, ORDERS, bills)), "--setting", elsewhere, *words) as process:
        if mixed:
            line_with(
                process, r"nothing listens at 127\.0\.0\.1:9 .*; check the app setting of the connection 'Elsewhere'"
            )
        line_with(process, f"function bills +reads bills on {namespace}\n")
        if mixed:
            line_with(
                process, "note +bills read messages of a namespace that the app settings name.*; write --all-local"
            )


@pytest.mark.slow
@pytest.mark.xdist_group("functions_host")
def test_a_topic_forwards_to_the_functions_queue(tmp_path: Path) -> None:
    with typed("local", "azure", str(app(tmp_path)), "--topic", "events=orders") as process:
        connection = line_with(process, "Connect with: (.*)")[1]
        with ServiceBusClient.from_connection_string(connection) as client, client.get_topic_sender("events") as sender:
            sender.send_messages(ServiceBusMessage("good", message_id="m-1"))
            line_with(process, "orders m-1 delivery 1 → completed")


def test_an_app_without_a_function_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["local", "azure", str(app(tmp_path, ""))]) == 2
    assert re.search("There is no function in .*function_app.py, so Azure would run none", capsys.readouterr().err)


def test_two_namespaces_are_not_named_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["local", "azure", str(app(tmp_path)), "--all-local", "--connection-string", NAMESPACE]) == 2
    assert "all_local starts a namespace here, and connection_string names another" in capsys.readouterr().err


def test_an_app_that_cannot_be_loaded_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["local", "azure", str(app(tmp_path, "raise ValueError('my own bug')"))]) == 2
    assert "cannot be loaded: ValueError: my own bug" in capsys.readouterr().err


def test_without_the_sdk_it_says_what_to_install(tmp_path: Path) -> None:
    script = "import sys; sys.modules['azure.servicebus'] = None; from recoverable_operate._cli import main; sys.exit(main(['local', 'azure']))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    said = r"`local azure` needs azure\.servicebus\S*: pip install 'recoverable\[local-azure\]'\n"
    assert (done.returncode, bool(re.fullmatch(said, done.stderr))) == (2, True)
