"""A missing right, a lost answer, a killed command, Ctrl-C, and many messages, on a real SQS server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deadlines import DEADLINE, eventually
from operate.aws.failing import send_failed
from operate.conftest import Errors
from operate.failing import fault_headers
from recoverable_local.testing import AnswerLost, Refused
from servers.faulty_proxy import FaultyProxy, Rule
from servers.queues import Queue

DONE, PARTLY, REFUSED, INTERRUPTED = 0, 1, 2, 130
DENIED = Refused("AccessDenied", status=403)


def fill(error: Queue, orders: Queue, count: int) -> None:
    """Send so many failed messages to the error queue."""
    for number in range(count):
        send_failed(error, headers=fault_headers(orders.name, id=f"m{number}"))


@pytest.mark.parametrize(
    ("operation", "verb"),
    [
        ("GetQueueUrl", "list"),
        ("GetQueueAttributes", "list"),
        ("ReceiveMessage", "list"),
        ("ListDeadLetterSourceQueues", "retry"),
    ],
)
def test_a_missing_permission_is_named_in_one_line(
    errors: Errors, error: Queue, proxy: FaultyProxy, operation: str, verb: str
) -> None:
    proxy.rules.append(Rule(operation, DENIED))

    ran = errors(verb, "--queue", error.name)

    said = [line for line in ran.err.splitlines() if line.startswith("recoverable errors: ")]
    assert (ran.status, [line.partition(" for ")[0] for line in said]) == (
        REFUSED, [f"recoverable errors: sqs:{operation} is missing"]
    )  # fmt: skip


def test_a_role_that_cannot_give_back_is_told_when_messages_come_back(
    errors: Errors, error: Queue, proxy: FaultyProxy
) -> None:
    send_failed(error)
    proxy.rules.append(Rule("ChangeMessageVisibilityBatch", DENIED))

    ran = errors("list", "--queue", error.name)

    assert ran.status == DONE
    assert "1 message will come back at" in ran.err
    assert "sqs:ChangeMessageVisibility is missing" in ran.err


def test_a_role_that_cannot_send_leaves_all_where_it_is(
    errors: Errors, error: Queue, orders: Queue, proxy: FaultyProxy
) -> None:
    fill(error, orders, 3)
    proxy.rules.append(Rule("SendMessageBatch", DENIED))

    ran = errors("retry", "--queue", error.name, "--yes")

    assert (ran.status, error.visible(), orders.count()) == (PARTLY, 3, 0)
    assert "AccessDenied" in ran.out


@pytest.mark.parametrize(
    "busy", [Refused("ServiceUnavailable", status=503), Refused("ThrottlingException", status=400)]
)
def test_a_busy_sqs_is_asked_again_after_pauses(
    errors: Errors, error: Queue, orders: Queue, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch, busy: Refused
) -> None:
    monkeypatch.setattr("recoverable_operate.errors._aws.copies.PAUSES", (0.0, 0.0))
    fill(error, orders, 3)
    proxy.rules.append(Rule("SendMessageBatch", busy, (1, 2)))

    ran = errors("retry", "--queue", error.name, "--yes")

    assert (ran.status, error.count(), orders.count()) == (DONE, 0, 3)


def test_a_role_that_cannot_delete_stops_after_the_first_ten_and_the_next_run_deletes_them(
    errors: Errors, error: Queue, orders: Queue, proxy: FaultyProxy
) -> None:
    fill(error, orders, 15)
    proxy.rules.append(Rule("DeleteMessageBatch", DENIED))
    denied = errors("retry", "--queue", error.name, "--yes", "--rate", "0")
    sent = orders.count()
    proxy.rules.clear()

    again = errors("retry", "--queue", error.name, "--yes", "--rate", "0")

    assert (denied.status, sent, again.status, orders.count(), error.count()) == (PARTLY, 10, DONE, 15, 0)
    assert "Sent, but still here: 10 (sqs:DeleteMessage is missing for" in denied.out
    assert "Deleted 10 that an earlier run had sent." in again.out


def test_a_lost_answer_is_named_now_and_what_it_doubles_later(
    errors: Errors, error: Queue, orders: Queue, proxy: FaultyProxy
) -> None:
    fill(error, orders, 2)
    proxy.rules.append(Rule("SendMessageBatch", AnswerLost(), (1,)))

    lost, again = (errors("retry", "--queue", error.name, "--yes") for _ in range(2))

    assert (lost.status, again.status, orders.count(), error.count()) == (PARTLY, DONE, 4, 0)
    assert "No answer for 2, still here, and perhaps sent." in lost.out
    assert "Sent 2 again that an earlier run may have sent." in again.out
    assert [named_in(lost.err), named_in(again.err)] == [{"m0", "m1"}, {"m0", "m1"}]


def named_in(text: str) -> set[str]:
    """Return the ids of the messages that a run named as doubtful."""
    return {line.split(",")[0].strip() for line in text.splitlines() if line.startswith("  ")}


def started(error: Queue, folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start the command in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "recoverable_operate",
        "errors",
        "retry",
        "--queue",
        error.name,
        "--poll",
        "0",
        "--yes",
        *words,
    ]
    environment = {**os.environ, "XDG_STATE_HOME": str(folder)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_until_some_are_sent(orders: Queue) -> None:
    """Wait until the first ten are sent."""
    eventually(lambda: orders.count() >= 10, "ten messages that are sent back")


def test_ctrl_c_leaves_each_message_sent_or_still_there(error: Queue, orders: Queue, tmp_path: Path) -> None:
    send_failed(error, headers=fault_headers(orders.name, type="CardDeclined"))
    fill(error, orders, 40)
    process = started(error, tmp_path, "--rate", "5", "--type", "BankUnavailable")
    wait_until_some_are_sent(orders)

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE)

    sent = orders.count()
    assert (process.returncode, error.visible()) == (INTERRUPTED, 41 - sent)
    assert (f"Sent back {sent}." in out, "Stopped: interrupted." in out) == (True, True), err
    assert "Gave back " in err


@pytest.mark.slow
def test_a_killed_command_loses_nothing(errors: Errors, error: Queue, orders: Queue, tmp_path: Path) -> None:
    fill(error, orders, 40)
    process = started(error, tmp_path / "state", "--rate", "20")
    wait_until_some_are_sent(orders)
    process.kill()
    process.communicate(timeout=DEADLINE)

    assert 40 <= error.count() + orders.count() <= 50  # at most ten are both sent and not yet deleted


@pytest.mark.slow
def test_a_hundred_and_twenty_are_sent_back(errors: Errors, error: Queue, orders: Queue) -> None:
    fill(error, orders, 120)

    ran = errors("retry", "--queue", error.name, "--yes", "--rate", "0")

    assert (ran.status, orders.count(), error.count()) == (DONE, 120, 0)
    assert "Sent back 120." in ran.out
