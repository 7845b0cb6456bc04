"""What somebody wrote into headers, what the operator typed, and a machine that cannot write."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from operate.aws.failing import send_failed
from operate.conftest import Errors
from operate.failing import fault_headers
from recoverable_operate.errors._aws.session_client import Access, session_for
from recoverable_operate.errors._filter import parse_time
from servers.queues import Queue

DONE, PARTLY, REFUSED = 0, 1, 2
HALF = "\ud800"
"""A half of a character, which JSON can hold and UTF-8 cannot."""


def test_without_boto3_a_name_is_told_how_a_queue_on_service_bus_is_named(
    errors: Errors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)

    assert errors("list", "--queue", "orders-error") == (
        REFUSED,
        "",
        "recoverable errors: SQS needs boto3: pip install 'recoverable-operate[aws]';"
        " a queue on Service Bus is sb://NAMESPACE/QUEUE\n",
    )


@pytest.mark.parametrize("option", ["--to", "--allow"])
@pytest.mark.parametrize("queue", ["", "a b", "https://[", "arn:aws:sqs", "arn:aws:sns:eu-west-1:123456789012:orders"])
def test_a_target_that_is_no_queue_is_refused_before_anything_is_looked_at(
    errors: Errors, error: Queue, option: str, queue: str
) -> None:
    send_failed(error)

    ran = errors("retry", "--queue", error.name, "--yes", option, queue)

    assert (ran.status, ran.out, f"recoverable errors: {queue!r} is no " in ran.err) == (REFUSED, "", True)


@pytest.mark.parametrize("address", ["arn:aws:sqs", "https://[", "a b", HALF, "\x1b[2J", "x" * 10_000])
def test_an_address_that_is_no_queue_holds_up_nobody_else(
    errors: Errors, error: Queue, orders: Queue, address: str
) -> None:
    send_failed(error, headers=fault_headers(orders.name, **{"Recoverable.FailedQueue": address}))
    send_failed(error, headers=fault_headers(orders.name))

    ran = errors("retry", "--queue", error.name, "--yes")

    assert (ran.status, orders.count(), error.visible(), len(ran.out) < 2_000) == (PARTLY, 1, 1, True)
    assert "which is no queue; name one with --to" in ran.out or "x" * 400 in ran.out


@pytest.mark.parametrize("headers", [{"id": HALF}, {"trace": HALF}, {"Recoverable.Attempts": HALF}])
def test_half_a_character_is_sent_back_like_any_other(
    errors: Errors, error: Queue, orders: Queue, headers: dict[str, str | None]
) -> None:
    send_failed(error, headers=fault_headers(orders.name, **headers))

    ran = errors("retry", "--queue", error.name, "--to", orders.name, "--yes")

    assert (ran.status, orders.count(), error.count()) == (DONE, 1, 0)


def test_an_unreadable_message_is_not_said_to_be_dead_lettered(errors: Errors, error: Queue) -> None:
    error.send('{"Headers":{"NServiceBus.MessageId": ')

    ran = errors("show", "--queue", error.name)

    assert ("its wrapper cannot be read" in ran.out, "the broker dead-lettered it" in ran.out) == (True, False)


def test_an_edited_body_that_is_no_text_stays(
    errors: Errors, error: Queue, orders: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_failed(error, headers=fault_headers(orders.name))
    monkeypatch.setenv("VISUAL", r"sh -c 'printf \\377 > $1' edit")

    ran = errors("retry", "--queue", error.name, "--edit", "--yes")

    assert (ran.status, orders.count(), error.visible()) == (REFUSED, 0, 1)
    assert "its body is no text in UTF-8, and SQS takes nothing else; nothing is sent" in ran.err


@pytest.mark.parametrize("verb", ["export", "list"])
def test_a_full_disk_ends_it_in_one_line_and_gives_back(error: Queue, tmp_path: Path, verb: str) -> None:
    send_failed(error)
    command = [sys.executable, "-m", "recoverable_operate", "errors", verb, "--queue", error.name, "--poll", "0"]
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}

    with open("/dev/full", "w") as full:
        ran = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    last = "recoverable errors: stopped, because nothing more can be written here: [Errno 28] No space left on device"
    assert (ran.returncode, ran.stderr.splitlines()[-1], error.visible()) == (PARTLY, last, 1)


def test_the_region_is_found_where_the_hint_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_REGION", "eu-north-1")

    assert session_for(Access()).region_name == "eu-north-1"


def test_a_time_before_all_dates_is_refused() -> None:
    with pytest.raises(ValueError, match="'999999999d' is no time"):
        parse_time("999999999d", datetime(2026, 11, 22, tzinfo=UTC))
