"""The file of facts that a host names for a function's process: a line for each decision and success, on both clouds."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from builders import ERROR_QUEUE, QUEUE, Boom
from observe.clouds import World, both_kinds_of_handlers, climb, failing, on_both_clouds, serve, settings
from recoverable import ErrorContext, Facts, Message, MoveToError, Recoverability
from recoverable.hosting import FACTS_FILE
from recoverable_local.decisions import Decided, FactsFile
from recoverable_local.testing import Died, Refused, ServiceBusWorld, SqsWorld


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the file that the environment names."""
    path = tmp_path / "facts"
    path.touch()
    monkeypatch.setenv(FACTS_FILE, str(path))
    return path


def rows(file: Path) -> list[dict[str, Any]]:
    """Return the lines of the file about what was done, without what differs from run to run."""
    left_out = {"message_id", "request_id", "handler_time", "stays"}
    return [{key: each[key] for key in each.keys() - left_out} for each in all_lines(file) if each["done"] is not None]


def all_lines(file: Path) -> list[dict[str, Any]]:
    """Return the lines of the file."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def row(action: str, attempt: int, round_: int, *, done: bool = True, **more: Any) -> dict[str, Any]:
    """Return the line of a decision about a failure of one of two attempts."""
    plain = {"delay": None, "error_queue": "", "unreported": False, "rate_limited": False}
    failure = {"exception_type": "builders.Boom", "exception": "it broke"}
    where = {"queue": QUEUE, "attempt": attempt, "attempts": 2, "round": round_, "deliveries": attempt}
    return {**plain, **failure, **where, "action": action, "done": done, **more}


@on_both_clouds
def test_each_decision_along_the_ladder_is_a_line(world: type[World], file: Path) -> None:
    climb(world(), failing, settings())

    assert rows(file) == [
        row("immediate_retry", 1, 0),
        row("delayed_retry", 2, 0, delay=10.0),
        row("immediate_retry", 1, 1),
        row("move_to_error", 2, 1, error_queue=ERROR_QUEUE),
    ]


@on_both_clouds
def test_a_success_is_a_line_too(world: type[World], file: Path) -> None:
    climb(world(), lambda message: None, settings())

    assert rows(file) == [row("complete", 1, 0, exception_type="", exception="")]


@on_both_clouds
def test_a_move_to_the_error_queue_that_failed_is_not_done(world: type[World], file: Path) -> None:
    here = world()
    if world is SqsWorld:
        here.fail("send_message_batch", Refused("InvalidMessageContents"), queue=ERROR_QUEUE, nth=1)
    else:
        here.fail("send_messages", Refused("amqp:not-found"), queue=ERROR_QUEUE, during=timedelta(seconds=1))

    climb(here, failing, settings(immediate=0, delayed=0))

    first, *_, last = rows(file)
    assert [(each["action"], each["done"]) for each in (first, last)] == [
        ("move_to_error", False),
        ("move_to_error", True),
    ]


@on_both_clouds
def test_the_invocation_is_named_by_the_hosts_id(world: type[World], file: Path) -> None:
    climb(world(), failing, settings(immediate=0, delayed=0))

    assert {line["request_id"] for line in all_lines(file)} == {"00000000-0000-0000-0000-000000000001"}


@on_both_clouds
def test_no_text_passes_by_the_redactor_and_no_body_is_there(world: type[World], file: Path) -> None:
    def leaking(message: Message) -> None:
        raise Boom("card 4711")

    climb(world(), leaking, settings(redact=lambda text: text.replace("4711", "…")))

    assert {each["exception"] for each in rows(file)} == {"card …"}
    assert all(word not in file.read_text() for word in ("4711", "an order"))


@pytest.mark.parametrize("world", [SqsWorld, ServiceBusWorld], ids=["SQS", "Service Bus"])
def test_a_file_that_takes_nothing_changes_nothing_and_is_logged(
    world: type[World], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(FACTS_FILE, str(tmp_path / "nowhere" / "facts"))
    here = world()

    climb(here, failing, settings())

    assert len(here.queue(ERROR_QUEUE)) == 1
    assert {each.getMessage()[:42] for each in caplog.records if each.name == "recoverable.observe"} == {
        "Appending facts to the file that RECOVERAB"
    }


@on_both_clouds
@both_kinds_of_handlers
def test_a_host_reads_each_line_once_as_facts(world: type[World], handler: Any, file: Path) -> None:
    reader, read = FactsFile(file), list[Decided]()
    reader.pass_on(read.append)
    climb(world(), handler, settings(immediate=0, delayed=0))
    reader.pass_on(read.append)
    reader.pass_on(read.append)

    decided, done = read
    facts = decided.facts
    expected = Facts(
        facts.message_id, QUEUE, 1, 0, "move_to_error", attempts=1, error_queue=ERROR_QUEUE,
        exception_type="builders.Boom", handler_time=timedelta(0), request_id="00000000-0000-0000-0000-000000000001",
    )  # fmt: skip
    deleted = False if world is SqsWorld else None
    assert (decided, done) == (
        Decided(expected, "it broke", done=None),
        Decided(expected, "it broke", done=True, stays=deleted),
    )


@on_both_clouds
def test_a_decision_is_written_when_it_is_made_and_its_end_when_it_is_carried_out(
    world: type[World], file: Path
) -> None:
    here = world()
    here.fail("send_message_batch" if world is SqsWorld else "send_messages", Died(), nth=1)

    climb(here, failing, settings(immediate=0, delayed=0))

    assert [each["done"] for each in all_lines(file)] == [None, None, True]


def test_what_is_deleted_is_written_before_a_death_in_the_same_invocation(file: Path) -> None:
    def policy(_: Recoverability, context: ErrorContext) -> MoveToError:
        return MoveToError(context.message.text)

    world = SqsWorld()
    world.fail("send_message_batch", Died(), nth=2)
    serve(world, failing, settings(policy=policy), partial_responses=True)
    for name in ("first", "second"):
        world.send(QUEUE, name)
    world.run()

    assert [(each["error_queue"], each["done"], each["stays"]) for each in all_lines(file)][:3] == [
        ("first", None, None),
        ("second", None, None),
        ("first", True, False),
    ]


def test_what_an_endpoint_of_another_version_adds_is_left_out(tmp_path: Path) -> None:
    file, read = tmp_path / "facts", list[Decided]()
    reader = FactsFile(file)
    line = {"message_id": "m-1", "queue": "orders", "attempt": 1, "round": 0, "action": "complete", "new": 1}
    file.write_text(json.dumps({**line, "delay": 2.5, "handler_time": None, "exception": "", "done": True}) + "\n")
    reader.pass_on(read.append)

    assert read == [Decided(Facts("m-1", "orders", 1, 0, "complete", delay=timedelta(seconds=2.5)), "", done=True)]
