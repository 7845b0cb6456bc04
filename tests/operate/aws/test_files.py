"""Exporting, importing, editing and purging on SQS."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from operate.aws.failing import send_failed
from operate.conftest import Errors
from operate.failing import fault_headers
from servers.queues import Arrived, Queue, bodies

DONE, PARTLY, REFUSED, NOTHING = 0, 1, 2, 3
BINARY = {"raw": {"DataType": "Binary.png", "BinaryValue": b"\x00\xff"}}


def exported(errors: Errors, error: Queue, folder: Path) -> Path:
    """Export the queue to a file."""
    file = folder / "failed.jsonl"
    assert errors("export", "--queue", error.name, "--file", str(file)).status == DONE
    return file


def test_an_exported_message_is_sent_back_as_it_was(
    errors: Errors, error: Queue, orders: Queue, tmp_path: Path
) -> None:
    types = {"NServiceBus.TimeSent": "2026-11-22 09:00:00:000000 Z"}
    origin = send_failed(error, "hello", headers=fault_headers(orders.name, **types), attributes=BINARY)
    file = exported(errors, error, tmp_path)

    ran = errors("import", "--queue", error.name, "--file", str(file), "--yes")

    headers = {"NServiceBus.MessageId": "order-1", "Recoverable.Redrives": "1", "Recoverable.Origin": origin, **types}
    assert (ran.status, orders.arrived(), error.count()) == (DONE, [Arrived("hello", headers, BINARY, None, None)], 1)


def test_each_line_is_sent_once(errors: Errors, error: Queue, orders: Queue, tmp_path: Path) -> None:
    send_failed(error, headers=fault_headers(orders.name))
    file = exported(errors, error, tmp_path)
    file.write_text(file.read_text() * 2)

    for _ in range(2):
        errors("import", "--queue", error.name, "--file", str(file), "--yes")

    assert orders.count() == 1


def test_a_message_that_was_sent_back_is_not_imported_again(
    errors: Errors, error: Queue, orders: Queue, tmp_path: Path
) -> None:
    send_failed(error, headers=fault_headers(orders.name))
    file = exported(errors, error, tmp_path)
    errors("retry", "--queue", error.name, "--yes")

    errors("import", "--queue", error.name, "--file", str(file), "--yes")

    assert orders.count() == 1


def test_an_edited_line_is_another_message(errors: Errors, error: Queue, orders: Queue, tmp_path: Path) -> None:
    send_failed(error, '{"card": "bad"}', headers=fault_headers(orders.name))
    file = exported(errors, error, tmp_path)
    file.write_text(file.read_text().replace('\\"bad\\"', '\\"good\\"'))

    errors("import", "--queue", error.name, "--file", str(file), "--yes")

    [arrived] = orders.arrived()
    assert (arrived.body, arrived.headers["Recoverable.EditOf"]) == ('{"card": "good"}', "order-1")
    assert arrived.headers["NServiceBus.MessageId"] != "order-1"


@pytest.mark.parametrize("line", ["no JSON", "{}", '{"recoverable": 1, "message": {"body": 1}}', "[]"])
def test_a_line_that_is_no_message_is_named_and_nothing_sent(
    errors: Errors, error: Queue, orders: Queue, tmp_path: Path, line: str
) -> None:
    send_failed(error, headers=fault_headers(orders.name))
    file = exported(errors, error, tmp_path)
    file.write_text(file.read_text() + line + "\n")

    ran = errors("import", "--queue", error.name, "--file", str(file), "--yes")

    assert (ran.status, orders.count()) == (REFUSED, 0)
    assert f"{file}, line 2 is no exported message" in ran.err


def test_only_the_owner_can_read_an_export(errors: Errors, error: Queue, tmp_path: Path) -> None:
    send_failed(error)

    assert stat.S_IMODE(exported(errors, error, tmp_path).stat().st_mode) == 0o600


def test_an_export_is_never_written_over(errors: Errors, error: Queue, tmp_path: Path) -> None:
    send_failed(error)
    file = exported(errors, error, tmp_path)

    ran = errors("export", "--queue", error.name, "--file", str(file))

    assert (ran.status, "name a new file" in ran.err) == (REFUSED, True)


def test_one_body_is_edited_and_sent_as_another_message(
    errors: Errors, error: Queue, orders: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_failed(error, '{"card": "bad"}', headers=fault_headers(orders.name))
    monkeypatch.setenv("VISUAL", "sed -i s/bad/good/")

    ran = errors("retry", "--queue", error.name, "--edit", "--yes")

    [arrived] = orders.arrived()
    assert (ran.status, arrived.body, arrived.headers["Recoverable.EditOf"], error.count()) == (
        DONE, '{"card": "good"}', "order-1", 0
    )  # fmt: skip


def test_two_messages_are_not_edited(errors: Errors, error: Queue, orders: Queue) -> None:
    for number in range(2):
        send_failed(error, headers=fault_headers(orders.name, id=str(number)))

    ran = errors("retry", "--queue", error.name, "--edit", "--yes")

    assert (ran.status, error.visible()) == (REFUSED, 2)
    assert "--edit takes one message, and 2 match; choose it with --id" in ran.err


def test_purging_deletes_what_it_showed_after_it_is_exported(errors: Errors, error: Queue, tmp_path: Path) -> None:
    send_failed(error, "rejected", headers=fault_headers(type="CardDeclined"))
    send_failed(error, "kept")
    file = tmp_path / "purged.jsonl"
    words = ["purge", "--queue", error.name, "--type", "CardDeclined", "--file", str(file)]

    ran = errors(*words, "--confirm", error.name)

    lines = [json.loads(line)["message"]["body"] for line in file.read_text().splitlines()]
    assert (ran.status, lines, bodies(error)) == (DONE, ["rejected"], ["kept"])


@pytest.mark.parametrize(("confirm", "status"), [([], DONE), (["--confirm", "another"], REFUSED)])
def test_purging_without_the_queues_name_deletes_nothing(
    errors: Errors, error: Queue, confirm: list[str], status: int
) -> None:
    send_failed(error)

    ran = errors("purge", "--queue", error.name, *confirm)

    assert (ran.status, error.visible()) == (status, 1)
