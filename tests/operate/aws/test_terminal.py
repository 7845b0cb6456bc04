"""The command on a real terminal: it asks, and goes on with what it holds."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from deadlines import DEADLINE
from operate.aws.failing import send_failed
from operate.failing import fault_headers
from servers.queues import Queue


def typed(error: Queue, folder: Path, answer: str, *words: str) -> tuple[int, str]:
    """Run the command on a terminal, and type an answer; gives the exit status and what the terminal showed."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "recoverable_operate", "errors", *words, "--queue", error.name, "--poll", "0"]
    environment = {**os.environ, "XDG_STATE_HOME": str(folder), "TERM": "dumb", "COLUMNS": "120"}
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=folder)
    os.close(theirs)
    os.write(ours, answer.encode() + b"\n")
    shown = b""
    while True:
        try:
            shown += os.read(ours, 65_536)
        except OSError:  # the command has closed the terminal
            break
    os.close(ours)
    return process.wait(timeout=DEADLINE), shown.decode()


@pytest.mark.parametrize(("answer", "sent"), [("y", 1), ("n", 0)])
def test_it_asks_and_sends_only_what_is_agreed_to(
    error: Queue, orders: Queue, tmp_path: Path, answer: str, sent: int
) -> None:
    send_failed(error, headers=fault_headers(orders.name))

    status, shown = typed(error, tmp_path, answer, "retry")

    assert (status, orders.count(), error.visible()) == (0, sent, 1 - sent), shown
    assert "Send 1 message? [y/N]" in shown


@pytest.mark.parametrize("right", [True, False])
def test_it_purges_only_when_the_queues_name_is_typed(error: Queue, tmp_path: Path, right: bool) -> None:  # noqa: FBT001
    send_failed(error)

    status, shown = typed(error, tmp_path, error.name if right else "yes", "purge")

    assert (status, error.count()) == (0, 0 if right else 1), shown
