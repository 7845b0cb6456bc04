"""Test the command `recoverable local service-bus` as a user types it."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage

from local.service_bus.bus import PATIENCE
from recoverable_operate._cli import main

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links


def test_it_serves_its_queues_until_it_is_stopped() -> None:
    words = [sys.executable, "-m", "recoverable_operate", "local", "service-bus", "--port", "0", "--queue", "jobs"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [next(process.stdout) for _ in range(4)]
        connection = said[2].removeprefix("Connect with: ").strip()
        with ServiceBusClient.from_connection_string(connection) as client:
            with client.get_queue_sender("jobs") as sender:
                sender.send_messages(ServiceBusMessage("hello"))
            with client.get_queue_receiver("jobs") as receiver:
                (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
                receiver.dead_letter_message(message)
            with client.get_queue_receiver("error") as receiver:
                (letter,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
        process.send_signal(signal.SIGTERM)
        status = process.wait(PATIENCE)

    assert (said[:2], str(letter), status) == (["queue    jobs\n", "queue    error\n"], "hello", 0)


def test_a_taken_port_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        status = main(["local", "service-bus", "--port", str(taken.getsockname()[1])])

    assert (status, "address already in use" in capsys.readouterr().err) == (2, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--lock-duration", "301"], "lock_duration is 0:05:01; write more than nothing and up to 0:05:00"),
        (["--max-delivery-count", "0"], "max_delivery_count is 0; write 1 or more"),
        (["--queue", "a/"], "the queue's name is 'a/'; write letters, digits, dots, hyphens and underscores"),
    ],
)
def test_a_wrong_setting_is_said_in_one_line(capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    assert main(["local", "service-bus", "--port", "0", *words]) == 2
    assert said in capsys.readouterr().err
