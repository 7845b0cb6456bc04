"""The page for those who come from NServiceBus: each block of Python runs, and does what the page says it does."""

from __future__ import annotations

import re
import sys
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from docs.pages import blocks, blocks_of, page, section
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import SqsWorld

PAGE = "peers/coming-from-nservicebus.md"
ERROR_QUEUES = ("error", "orders-error", "custom-error-queue")
FORMULAS = [
    tuple(map(int, row)) for row in re.findall(r"^\| (\d) \| (\d) \| (\d) \| (\d) \|$", page(PAGE), re.MULTILINE)
]


class Shop(ModuleType):
    """The reader's own exceptions, with the names of NServiceBus's documentation."""

    class MyBusinessException(Exception): ...

    class MyOtherBusinessException(Exception): ...

    class MyBusinessTimedOutException(Exception): ...


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """Give what a reader has who has run all the blocks, with the variables that the page sets."""
    monkeypatch.setitem(sys.modules, "shop", Shop("shop"))
    monkeypatch.chdir(tmp_path)
    for name, value in re.findall(r"^(\w+)=(.+)$", blocks(PAGE, "sh")[0], re.MULTILINE):
        monkeypatch.setenv(name, value)
    names: dict[str, Any] = {}
    for block in blocks(PAGE, "python"):
        exec(compile(block, PAGE, "exec"), names)  # our own page
    return names


def climbed(
    world: SqsWorld, recoverability: Recoverability, error: type[Exception]
) -> tuple[int, timedelta, list[str]]:
    """Return how often a message that always fails is attempted, how long that takes, and in which error queues it ends."""
    began = world.now
    order = failed(world, recoverability, error)
    attempts = [event for event in world.timeline(order) if event.what == "attempted"]
    ends = [name for name in ERROR_QUEUES if world.queue(name)]
    return len(attempts), world.now - began, ends


def failed(world: SqsWorld, recoverability: Recoverability, error: type[Exception], **more: Any) -> str:
    """Run a message that fails until nothing is left to do; return its id."""

    def fail(_message: Message) -> None:
        raise error("no")

    for name in ERROR_QUEUES:
        world.create_queue(name)
    world.serve("orders", SqsEndpoint(fail, recoverability, **more), recursive_loop="Allow")
    sent = world.send("orders", {})
    world.run()
    return sent


def test_the_first_block_has_the_settings_of_the_csharp_above_it(reader: dict[str, Any]) -> None:
    assert reader["recoverability"] == Recoverability(
        Immediate(3), Delayed(2, timedelta(minutes=5)), Failed("orders-error")
    )


def test_its_messages_get_the_attempts_and_delays_that_nservicebus_gives(
    reader: dict[str, Any], sqs_world: SqsWorld
) -> None:
    ended = climbed(sqs_world, reader["recoverability"], OSError)

    assert ended == ((3 + 1) * (2 + 1), timedelta(minutes=5 + 10), ["orders-error"])


def test_the_table_of_the_formulas_is_the_one_of_nservicebus() -> None:
    theirs = {(flr, slr): flr * (slr + 1) for flr, slr in [(1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (2, 2)]}

    assert {(flr, slr): attempts for flr, slr, attempts, _ in FORMULAS} == theirs


@pytest.mark.parametrize(("flr", "slr", "before", "_same"), FORMULAS)
def test_translated_numbers_make_as_many_attempts_as_before(
    reader: dict[str, Any], sqs_world: SqsWorld, flr: int, slr: int, before: int, _same: int
) -> None:
    attempts, _, ends = climbed(sqs_world, reader["from_first_and_second_level"](flr, slr), OSError)

    assert (attempts, ends) == (before, ["error"])


@pytest.mark.parametrize(("flr", "slr", "_before", "same"), FORMULAS)
def test_the_same_numbers_make_one_attempt_more_in_each_round(
    sqs_world: SqsWorld, flr: int, slr: int, _before: int, same: int
) -> None:
    attempts, _, _ = climbed(sqs_world, Recoverability(Immediate(flr), Delayed(slr)), OSError)

    assert attempts == same


def test_first_level_retries_that_were_off_stay_off(reader: dict[str, Any]) -> None:
    assert reader["from_first_and_second_level"](0, 3) == Recoverability(Immediate(0), Delayed(3))


def test_the_old_rule_ends_delayed_retries_within_a_day(reader: dict[str, Any], sqs_world: SqsWorld) -> None:
    _, took, _ = climbed(sqs_world, Recoverability(Immediate(0), reader["within_a_day"]), OSError)

    total = timedelta(minutes=5 * sum(range(1, 51)))
    assert timedelta(hours=23) < took < timedelta(hours=26) < total


def test_the_variables_say_what_the_xml_says(reader: dict[str, Any]) -> None:
    [xml] = blocks_of(section(PAGE, "## Settings from outside the code"), "xml")
    said = dict(re.findall(r'(\w+)="([^"]+)"', xml))

    expected = reader["from_first_and_second_level"](int(said["MaxRetries"]), int(said["NumberOfRetries"]))
    assert (reader["from_variables"], said["TimeIncrease"]) == (expected, "00:00:10")


def test_delayed_retries_that_are_off_leave_the_immediate_ones(reader: dict[str, Any], sqs_world: SqsWorld) -> None:
    assert climbed(sqs_world, reader["no_delayed_retries"], OSError) == (6, timedelta(0), ["error"])


def test_a_source_of_ones_own_gives_settings(reader: dict[str, Any]) -> None:
    provided = reader["provided_by"]({"ImmediateRetries": 1, "NumberOfRetries": 2, "TimeIncrease": 3})

    assert provided == Recoverability(Immediate(1), Delayed(2, timedelta(seconds=3)))


ENDS = [
    ("at_once", "MyBusinessException", (1, 0, ["error"])),
    ("at_once", "MyOtherBusinessException", (24, 60, ["error"])),
    ("partly", "MyOtherBusinessException", (16, 15, ["error"])),
    ("partly", "MyBusinessException", (16, 12, ["error"])),
    ("fully", "MyBusinessException", (1, 0, ["custom-error-queue"])),
    ("fully", "MyBusinessTimedOutException", (1, 0, [])),
    ("fully", "MyOtherBusinessException", (4, 15, ["error"])),
    ("three_times", "MyBusinessException", (24, 15, ["error"])),
]


@pytest.mark.parametrize(("settings", "exception", "end"), ENDS)
def test_a_policy_of_the_page_ends_as_nservicebus_s_does(
    reader: dict[str, Any], sqs_world: SqsWorld, settings: str, exception: str, end: tuple[int, int, list[str]]
) -> None:
    attempts, took, queues = climbed(sqs_world, reader[settings], getattr(Shop, exception))

    assert (attempts, took.total_seconds(), queues) == end


def test_the_callbacks_are_called_for_each_step(reader: dict[str, Any], sqs_world: SqsWorld) -> None:
    ladder = Recoverability(Immediate(1), Delayed(1))
    failed(sqs_world, ladder, OSError, extensions=(reader["observe"],))

    assert reader["told"] == [("again", 1), ("later", timedelta(seconds=10)), ("again", 1), ("given up", "error")]


def test_the_rate_is_limited_after_ten_failures(reader: dict[str, Any]) -> None:
    limit = reader["limited"].rate_limit

    assert (limit.consecutive_failures, limit.wait) == (10, timedelta(seconds=1))


def test_a_reminder_that_waits_is_cancelled(reader: dict[str, Any]) -> None:
    assert reader["cancelled"] is True


def test_the_dispatcher_runs_on_the_store(reader: dict[str, Any]) -> None:
    class Context:
        def get_remaining_time_in_millis(self) -> int:
            return 60_000

    assert reader["dispatcher"]({}, Context())["dispatched"] == 0


def test_only_an_attempt_that_succeeds_sends(reader: dict[str, Any], sqs_world: SqsWorld) -> None:
    sqs_world.create_queue("invoices")
    sqs_world.serve("orders", SqsEndpoint(reader["place_order"], Recoverability(Immediate(1), Delayed(0))))
    for order in ({"id": 1}, {"id": 2, "card": "good"}):
        sqs_world.send("orders", order)
    sqs_world.run()

    assert [invoice.json() for invoice in sqs_world.queue("invoices")] == [{"order": 2}]
    assert [order.exception_type for order in sqs_world.queue("error")] == ["KeyError"]


def test_the_texts_of_the_log_are_nservicebus_s(
    reader: dict[str, Any], sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "recoverable")
    order = failed(sqs_world, Recoverability(Immediate(1), Delayed(1)), OSError)

    logged = [(each.name, each.levelname, each.getMessage().splitlines()[0]) for each in caplog.records]
    again = f"Immediate Retry is going to retry message '{order}' because of an exception:"
    later = f"Delayed Retry will reschedule message '{order}' after a delay of 00:00:10 because of an exception:"
    moved = f"Moving message '{order}' to the error queue 'error' because processing failed due to an exception:"
    assert logged == [
        ("recoverable.immediate_retry", "INFO", again),
        ("recoverable.delayed_retry", "WARNING", later),
        ("recoverable.immediate_retry", "INFO", again),
        ("recoverable.move_to_error", "ERROR", moved),
    ]
