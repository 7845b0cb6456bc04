"""The lines that both hosts print: one for each decision, each with its time, or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from rich.text import Text

from recoverable import Facts
from recoverable_local.decisions import Decided
from recoverable_local.lambda_host import Died, Ended, Entry, FunctionLog, Invoked, Returned, Started
from recoverable_local.lambda_host.formatting import lines_of
from recoverable_local.printing import Printer, describe_decision, short

AT = datetime(2026, 11, 24, 10, 22, 31)  # noqa: DTZ001  # the time of the machine, as a terminal shows it


def decision(action: Any, text: str = "", *, done: bool | None = True, **more: Any) -> Decided:
    """Return a decision about the third of six attempts of order 1003."""
    return Decided(Facts("1003", "orders", 3, 1, action, attempts=6, **more), text, done)


NO_ANSWER: dict[str, Any] = {"exception_type": "ConnectionError", "text": "no answer"}
DECISIONS: list[tuple[Decided, str]] = [
    (decision("complete"), " → handled"),
    (decision("immediate_retry", **NO_ANSWER), "  ConnectionError: no answer → retry now"),
    (
        decision("delayed_retry", **NO_ANSWER, delay=timedelta(seconds=12.3456)),
        "  ConnectionError: no answer → retry in 12.3 s",
    ),
    (
        decision("move_to_error", **NO_ANSWER, error_queue="orders-error"),
        "  ConnectionError: no answer → move to orders-error",
    ),
    (
        decision("move_to_error", **NO_ANSWER, error_queue="orders-error", done=False),
        "  ConnectionError: no answer → move to orders-error failed",
    ),
    (decision("discard", exception_type="shop.Expired"), "  shop.Expired → discard"),
    (decision("deferral", delay=timedelta(minutes=15)), " → wait 900 s (no attempt)"),
    (
        decision("deferral", delay=timedelta(seconds=5), rate_limited=True),
        " → wait 5 s, the rate is limited (no attempt)",
    ),
    (decision("undecided", done=False), " → a decision failed"),
]


@pytest.mark.parametrize(("decided", "rest"), DECISIONS)
def test_a_decision_is_one_line_with_the_attempt_the_reason_and_what_becomes_of_the_message(
    decided: Decided, rest: str
) -> None:
    assert describe_decision(decided).plain == f"orders 1003 attempt 3/6 round 1{rest}"


def test_a_text_of_several_lines_and_with_control_characters_stays_one_line() -> None:
    hostile = decision("complete", "\x1b[31mred\rover\nsecond", exception_type="E")

    assert describe_decision(hostile).plain == "orders 1003 attempt 3/6 round 1  E: ·[31mred·over → handled"


@pytest.mark.parametrize(
    ("message_id", "shown"),
    [
        ("8a2ebb68-cf0d-4b26-8619-2d25f1d0a351", "8a2ebb68"),
        ("8a2ebb68cf0d4b2686192d25f1d0a351", "8a2ebb68"),
        ("order-1003", "order-1003"),
        ("x" * 50, "x" * 40),
    ],
)
def test_an_id_is_cut_where_its_beginning_says_enough(message_id: str, shown: str) -> None:
    assert short(message_id) == shown


RECORD = {"messageId": "m-1", "body": "a secret"}
ENDED = Ended("Shop", "r2", 7, timedelta(seconds=0.25), Returned("null"), ("m-1",), (), None)


def one_line(_: Entry, _ends: Mapping[str, Decided]) -> Iterator[Text]:
    yield Text("a line", style="red")


def test_each_line_has_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    Printer(one_line, raw=False, clock=lambda: AT)(Started("Shop", 7))

    assert capsys.readouterr().out == "10:22:31 a line\n"


HANDLED = decision("complete", request_id="r2")
LATER = decision("delayed_retry", "", done=None, delay=timedelta(seconds=9), request_id="r2")
WAITS = replace(LATER, done=True, stays=True)
DIED = replace(ENDED, outcome=Died(-9), completed=(), reason="died")
LINE = "orders 1003 attempt 3/6 round 1"


@pytest.mark.parametrize(
    ("decided", "ended", "lines"),
    [
        ([HANDLED], replace(ENDED, completed=("1003",)), [f"{LINE} → handled"]),
        ([LATER, WAITS], replace(ENDED, completed=(), failed=("1003",)), [f"{LINE} → retry in 9 s"]),
        ([LATER, replace(LATER, done=True, stays=False)], replace(DIED, completed=("1003",)), [f"{LINE} → retry in 9 s"]),
        (
            [LATER, replace(LATER, done=False)],
            replace(ENDED, completed=(), failed=("1003",)),
            [f"{LINE} → retry in 9 s", f"{LINE} → retry in 9 s failed", "Shop 1003 → comes back after its visibility timeout"],
        ),
        (
            [LATER],
            replace(DIED, failed=("1003",), after=timedelta(seconds=3)),
            [f"{LINE} → retry in 9 s", "Shop 1003  died → comes back in 3 s"],
        ),
        ([HANDLED], replace(DIED, failed=("1003",)), [f"{LINE} → handled", "Shop 1003  died → comes back after its visibility timeout"]),
        ([WAITS], replace(ENDED, completed=("1003",), reason="no ReportBatchItemFailures"), [f"{LINE} → retry in 9 s", "Shop 1003  no ReportBatchItemFailures → completed"]),
        ([], ENDED, ["Shop m-1 → completed"]),
    ],
    ids=["handled", "waits in place", "deleted before a death", "refused", "undone at a death", "handled in vain", "deleted all the same", "no endpoint"],
)  # fmt: skip
def test_what_a_message_came_to_is_said_once_and_where_the_end_is_another_that_too(
    decided: list[Decided], ended: Ended, lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    printer = Printer[Entry](lines_of, raw=False, clock=lambda: AT)

    entries: list[Entry] = [*decided, ended]
    for entry in entries:
        printer(entry)

    assert [line.removeprefix("10:22:31 ") for line in capsys.readouterr().out.splitlines()] == lines


def test_a_delivery_beyond_the_ladder_is_no_attempt() -> None:
    facts = Facts("1003", "orders", 5, 0, "move_to_error", attempts=2, deliveries=5, error_queue="error")

    assert describe_decision(Decided(facts, "", done=None)).plain == "orders 1003 delivery 5 → move to error"


def test_a_terminal_gets_colours(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    Printer(one_line, raw=False, clock=lambda: AT)(Started("Shop", 7))

    assert "\x1b[31ma line\x1b[0m" in capsys.readouterr().out


RAW: list[tuple[Entry, dict[str, Any]]] = [
    (FunctionLog("Shop", 7, "hello"), {"entry": "FunctionLog", "function": "Shop", "pid": 7, "line": "hello"}),
    (
        Invoked("Shop", "r1", 7, (RECORD,)),
        {"entry": "Invoked", "function": "Shop", "request_id": "r1", "pid": 7, "message_ids": ["m-1"]},
    ),
    (
        ENDED,
        {
            "entry": "Ended", "function": "Shop", "request_id": "r2", "pid": 7, "duration": 0.25,
            "outcome": {"payload": "null"}, "completed": ["m-1"], "failed": [], "reason": None, "after": None,
        },
    ),
    (
        decision("delayed_retry", **NO_ANSWER, delay=timedelta(seconds=10)),
        {
            "entry": "Decided", "message_id": "1003", "queue": "orders", "attempt": 3, "attempts": 6, "deliveries": 1, "round": 1,
            "action": "delayed_retry", "delay": 10.0, "error_queue": "", "exception_type": "ConnectionError",
            "unreported": False, "rate_limited": False, "handler_time": None, "request_id": "",
            "exception": "no answer", "done": True, "stays": None,
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "fields"), RAW)
def test_raw_is_each_entry_as_json_without_the_body(
    entry: Entry, fields: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    Printer(one_line, raw=True, clock=lambda: AT)(entry)

    printed = json.loads(capsys.readouterr().out)
    assert printed.pop("time").startswith("2026-11-24T10:22:31")
    assert printed == fields
