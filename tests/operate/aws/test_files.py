"""Exporting, importing, editing and purging on SQS."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from operate.aws.failing import send_failed
from operate.conftest import Errors, Ran
from operate.failing import fault_headers
from servers.queues import HEADERS, Arrived, Queue, bodies

DONE, PARTLY, REFUSED, NOTHING = 0, 1, 2, 3
BINARY = {"raw": {"DataType": "Binary.png", "BinaryValue": b"\x00\xff"}}


def exported(errors: Errors, error: Queue, folder: Path) -> Path:
    """Export the queue to a file."""
    file = folder / "failed.jsonl"
    assert errors("export", "--queue", error.name, "--file", str(file)).status == DONE
    return file


def imported(errors: Errors, error: Queue, file: Path, *words: str) -> Ran:
    """Import a file."""
    return errors("import", "--queue", error.name, "--file", str(file), *words, "--yes")


def edit(file: Path, number: int = 0, **changes: object) -> None:
    """Change fields of a line; a field of the broker's record by its name there; None removes it."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for name, value in changes.items():
        target = lines[number] if name in lines[number] else lines[number]["message"]
        target[name] = value
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_an_imported_message_is_sent_back_as_it_was_and_deleted(
    errors: Errors, error: Queue, orders: Queue, tmp_path: Path
) -> None:
    types = {"NServiceBus.TimeSent": "2026-11-22 09:00:00:000000 Z"}
    origin = send_failed(error, "hello", headers=fault_headers(orders.name, **types), attributes=BINARY)
    file = exported(errors, error, tmp_path)

    ran = imported(errors, error, file)

    headers = {"NServiceBus.MessageId": "order-1", "Recoverable.Redrives": "1", "Recoverable.Origin": origin, **types}
    assert (ran.status, orders.arrived(), error.count()) == (DONE, [Arrived("hello", headers, BINARY, None, None)], 0)


def test_a_second_import_sends_nothing_and_says_that_all_is_done(
    errors: Errors, error: Queue, orders: Queue, tmp_path: Path
) -> None:
    send_failed(error, headers=fault_headers(orders.name))
    file = exported(errors, error, tmp_path)

    first, second = (imported(errors, error, file) for _ in range(2))

    assert (first.status, second.status, orders.count()) == (DONE, DONE, 1)
    assert "Deleted 1 that an earlier run had sent." in second.out


def test_a_message_that_was_retried_is_not_sent_again_by_its_edited_line(
    errors: Errors, error: Queue, orders: Queue, tmp_path: Path
) -> None:
    send_failed(error, headers=fault_headers(orders.name))
    file = exported(errors, error, tmp_path)
    edit(file, body='{"id": 2}')
    errors("retry", "--queue", error.name, "--yes")

    imported(errors, error, file)

    assert bodies(orders) == ['{"id": 1}']


def test_an_edited_line_is_another_message_in_place_of_the_original(
    errors: Errors, error: Queue, orders: Queue, tmp_path: Path
) -> None:
    send_failed(error, '{"card": "bad"}', headers=fault_headers(orders.name))
    file = exported(errors, error, tmp_path)
    edit(file, body='{"card": "good"}')

    imported(errors, error, file)

    [arrived] = orders.arrived()
    assert (arrived.body, arrived.headers["Recoverable.EditOf"], error.count()) == ('{"card": "good"}', "order-1", 0)
    assert arrived.headers["NServiceBus.MessageId"] != "order-1"


def test_attributes_of_the_sender_may_be_edited(errors: Errors, error: Queue, orders: Queue, tmp_path: Path) -> None:
    shop = {"shop": {"DataType": "String", "StringValue": "north"}}
    send_failed(error, headers=fault_headers(orders.name), attributes=shop)
    file = exported(errors, error, tmp_path)
    file.write_text(file.read_text().replace('"north"', '"south"'))

    imported(errors, error, file)

    assert orders.arrived()[0].attributes == {"shop": {"DataType": "String", "StringValue": "south"}}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"id": "another"}, "line 2 is no exported message: its id was changed from 'order-1' to 'another'"),
        ({"body_sha256": "0" * 64}, "line 2: its body_sha256 is not that of the message in the queue"),
        ({"queue": "arn:aws:sqs:eu-west-1:1:other"}, "line 2 is no exported message: it was exported from arn:aws:"),
        ({"body": {"card": "good"}}, 'line 2 is no exported message: "body" must be a text'),
        (
            {"messageAttributes": {HEADERS: {"dataType": "String", "stringValue": json.dumps(fault_headers(at="never"))}}},
            "line 2: the headers NServiceBus.FailedQ, NServiceBus.ProcessingEndpoint, NServiceBus.TimeOfFailure were changed",
        ),
    ],
)  # fmt: skip
def test_what_an_edit_must_leave_alone_is_refused_before_anything_is_sent(
    errors: Errors, error: Queue, orders: Queue, tmp_path: Path, changes: dict[str, object], problem: str
) -> None:
    for _ in range(2):
        send_failed(error, headers=fault_headers(orders.name))
    file = exported(errors, error, tmp_path)
    edit(file, 1, **changes)

    ran = imported(errors, error, file)

    assert (ran.status, orders.count(), error.visible(), f"{file}, {problem}" in ran.err) == (REFUSED, 0, 2, True)


def test_two_lines_of_one_message_are_refused(errors: Errors, error: Queue, orders: Queue, tmp_path: Path) -> None:
    send_failed(error, headers=fault_headers(orders.name))
    file = exported(errors, error, tmp_path)
    file.write_text(file.read_text() * 2)

    ran = imported(errors, error, file)

    assert (ran.status, orders.count(), error.visible()) == (REFUSED, 0, 1)
    assert f"{file}, line 2 is the same message as line 1; leave one out" in ran.err


def test_a_line_whose_message_is_gone_is_not_sent_and_is_named(
    errors: Errors, error: Queue, orders: Queue, tmp_path: Path
) -> None:
    send_failed(error, headers=fault_headers(orders.name))
    file = exported(errors, error, tmp_path)
    error.arrived()  # takes it out

    ran = imported(errors, error, file)

    assert (ran.status, orders.count()) == (PARTLY, 0)
    assert "Not sent: line 1, order-1: not in the error queue." in ran.out


def test_a_line_without_its_message_is_sent_once_where_that_is_asked_for(
    errors: Errors, error: Queue, orders: Queue, tmp_path: Path
) -> None:
    send_failed(error, headers=fault_headers(orders.name))
    file = exported(errors, error, tmp_path)
    error.arrived()  # takes it out

    ran = [imported(errors, error, file, "--without-original") for _ in range(2)]

    assert ([each.status for each in ran], orders.count()) == ([DONE, DONE], 1)


def test_a_line_whose_message_another_reader_hides_is_not_sent_without_it(
    errors: Errors, error: Queue, orders: Queue, tmp_path: Path
) -> None:
    send_failed(error, headers=fault_headers(orders.name))
    file = exported(errors, error, tmp_path)
    error.receive()  # and holds it

    imported(errors, error, file, "--without-original")

    assert (orders.count(), error.count()) == (0, 1)


def test_what_was_purged_is_sent_once_by_its_line_alone(
    errors: Errors, error: Queue, orders: Queue, tmp_path: Path
) -> None:
    send_failed(error, headers=fault_headers(orders.name))
    file = tmp_path / "purged.jsonl"
    errors("purge", "--queue", error.name, "--file", str(file), "--confirm", error.name)

    ran = [imported(errors, error, file) for _ in range(2)]

    assert ([each.status for each in ran], orders.count()) == ([DONE, DONE], 1)


def test_a_line_of_the_first_format_is_read(errors: Errors, error: Queue, orders: Queue, tmp_path: Path) -> None:
    send_failed(error, "hello", headers=fault_headers(orders.name))
    file = exported(errors, error, tmp_path)
    line = json.loads(file.read_text())
    first = {
        "recoverable": 1,
        "queue": line["queue"],
        "body": line["body_sha256"],
        "message": {**line["message"], "body": "edited"},
    }
    file.write_text(json.dumps(first) + "\n")

    imported(errors, error, file)

    assert (bodies(orders), error.count()) == (["edited"], 0)


@pytest.mark.parametrize(
    "line", ["no JSON", "{}", '{"recoverable": 1, "message": {"body": 1}}', "[]", '{"recoverable": 3}']
)
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

    lines = [json.loads(line) for line in file.read_text().splitlines()]
    written = [(line["body"], line["deleted"]) for line in lines]
    assert (ran.status, written, bodies(error)) == (DONE, [("rejected", True)], ["kept"])


@pytest.mark.parametrize(("confirm", "status"), [([], DONE), (["--confirm", "another"], REFUSED)])
def test_purging_without_the_queues_name_deletes_nothing(
    errors: Errors, error: Queue, confirm: list[str], status: int
) -> None:
    send_failed(error)

    ran = errors("purge", "--queue", error.name, *confirm)

    assert (ran.status, error.visible()) == (status, 1)
