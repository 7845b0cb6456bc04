"""Each setting, handler and header makes the attempts here that it made when NServiceBus was run; where not, the reason is written here."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nservicebus.worlds import Serve, World, send, service_bus_world, sqs_world
from recoverable import (
    Action,
    Delayed,
    DelayedRetry,
    Discard,
    ErrorContext,
    Failed,
    Immediate,
    ImmediateRetry,
    Message,
    MoveToError,
    Policy,
    Recoverability,
    default_policy,
)

RECORDED = {
    row["case"]: row for row in json.loads(Path(__file__).with_name("recoverability.json").read_text())["cases"]
}


@pytest.fixture(autouse=True)
def _without_log() -> Iterator[None]:
    """Log nothing: pytest's workers cannot report half a surrogate pair, which the log has of one failure."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


class Boom(Exception):
    """An ordinary failure."""


class Gone(Exception):
    """A failure that is declared unrecoverable."""


class VeryGone(Gone):
    """A subclass of it."""


class BadMessage(Exception):
    """A failure whose text cannot be read."""

    def __str__(self) -> str:
        raise RuntimeError


def caused(error: BaseException, cause: BaseException) -> BaseException:
    """Return an error with its cause."""
    error.__cause__ = cause
    return error


ERRORS: dict[str, BaseException] = {
    "Boom": Boom("no"), "Gone": Gone("gone"), "VeryGone": VeryGone("gone"), "WrapsGone": caused(Boom("outer"), Gone("gone")),
    "Aggregate": ExceptionGroup("some", [Gone("gone"), Boom("x")]), "Cancelled": asyncio.CancelledError(),
    "Timeout": TimeoutError("too slow"), "Long": Boom("x" * 100_000), "NonAscii": Boom("Zürich — 你好 🙂"),
    "Control": Boom("a\0b\x07c\x1bd\u2028e\ud800f"), "Newlines": Boom("first\r\nsecond\n\tthird"), "Empty": Boom(""),
    "Nested": caused(Boom("outer"), caused(ValueError("middle"), KeyError("inner"))), "Data": Boom("data"), "BadMessage": BadMessage(),
}  # fmt: skip


def delayed_twice(seconds: int) -> Policy:
    """Return a policy of two delayed retries after so many seconds."""

    def policy(_settings: Recoverability, context: ErrorContext) -> Action:
        two_made = context.delayed_deliveries_performed >= 2
        return MoveToError() if two_made else DelayedRetry(timedelta(seconds=seconds))

    return policy


POLICIES: dict[str | None, Policy] = {
    None: default_policy,
    "always immediate until 4": lambda _settings, context: (
        ImmediateRetry() if context.immediate_processing_failures < 4 else MoveToError()
    ),
    "delayed 2s twice": delayed_twice(2),
    "delayed zero": delayed_twice(0),
    "move other": lambda _settings, _context: MoveToError("other"),
    "discard": lambda _settings, _context: Discard("not wanted"),
    "by type": lambda _settings, context: MoveToError("boom" if isinstance(context.exception, Boom) else None),
}


class Came(NamedTuple):
    """How often the handler ran, what was decided each time, and how many messages each queue got."""

    runs: int
    actions: list[str]
    queues: dict[str, int]


class Row:
    """A row of the recorded ones, run here.

    Args:
        row: its settings, handler and message.
        serve: makes the queues.
    """

    def __init__(self, row: dict[str, Any], serve: Serve) -> None:
        self._row, self._runs, self._actions = row, 0, list[str]()
        settings = Recoverability(
            Immediate(row["settings"]["immediate"]),
            Delayed(row["settings"]["delayed"], timedelta(seconds=1)),
            Failed("error", (Gone,)),
            policy=self._decide,
        )
        self._world: World = serve(self._handle, settings)

    def run(self) -> Came:
        """Send the message, and run all of its attempts."""
        for name in ("other", "boom", "out"):
            self._world.create_queue(name)
        types = self._row.get("types", "Ping, Shop")
        headers = {
            "NServiceBus.MessageIntent": "Send", "NServiceBus.ContentType": "application/json", "Custom": "kept",
            **({} if types is None else {"NServiceBus.EnclosedMessageTypes": types}),
            **({} if self._row.get("id", "id-1") is None else {"NServiceBus.MessageId": "id-1"}),
            **self._row.get("headers", {}),
        }  # fmt: skip
        send(self._world, headers, self._row.get("body", '{"N": 1}') or "empty message")
        self._world.run()
        arrived = {name: len(self._world.queue(name)) for name in ("error", "other", "boom", "out")}
        return Came(self._runs, self._actions, {name: number for name, number in arrived.items() if number})

    def _handle(self, message: Message) -> None:
        self._runs += 1
        if message.body not in (b"", b"empty message"):
            message.json()
        if self._row.get("send") == "default":
            message.send("out", "sent")
        if self._row.get("send") == "immediate":
            self._world.send("out", "sent by a client of its own")
        if self._runs <= self._row["handler"]["fails_first"]:
            raise ERRORS[self._row["handler"]["with"]]

    def _decide(self, settings: Recoverability, context: ErrorContext) -> Action:
        action = POLICIES[self._row.get("policy")](settings, context)
        match action:
            case ImmediateRetry():
                what = "immediateretry"
            case DelayedRetry(delay):
                what = f"delayedretry {delay.total_seconds():g}"
            case MoveToError(queue):
                what = f"movetoerror {queue or 'error'}"
            case Discard(reason):
                what = f"discard {reason}"
        counts = f"immediate failures {context.immediate_processing_failures}, delayed performed {context.delayed_deliveries_performed}"
        self._actions.append(f"{what} ({counts})")
        return action


ALL_OF_IT = RECORDED["exhaust i1 d1"]["nservicebus"]["actions"]
AT_ONCE = ["movetoerror error (immediate failures 1, delayed performed 0)"]
OTHERS = {
    "malformed json": ("a handler asks for JSON itself, so it runs once", Came(1, AT_ONCE, {"error": 1})),
    "empty body": ("an empty body is handled, and not dropped in silence", Came(4, ALL_OF_IT, {"error": 1})),
    "unknown type": ("types are for handlers to know", Came(4, ALL_OF_IT, {"error": 1})),
    "no type header": ("types are for handlers to know", Came(4, ALL_OF_IT, {"error": 1})),
    "message getter throws": ("there it fails for ever; here the reason says that it cannot be read", Came(1, AT_ONCE, {"error": 1})),
    "retries header '-1'": (
        "a negative count reads as 0, and gains no round", Came(4, RECORDED["exhaust i0 d3"]["nservicebus"]["actions"], {"error": 1}),
    ),
    "retries header '+1'": (
        "a count is digits alone", Came(4, RECORDED["exhaust i0 d3"]["nservicebus"]["actions"], {"error": 1}),
    ),
}  # fmt: skip
"""The rows that differ: why, and how they end here."""


@pytest.mark.parametrize("serve", [sqs_world, service_bus_world], ids=["SQS", "Service Bus"])
@pytest.mark.parametrize("case", RECORDED)
def test_a_row_ends_as_it_was_recorded_or_for_the_reason_here(case: str, serve: Serve) -> None:
    theirs = Came(**RECORDED[case]["nservicebus"])

    ours = Row(RECORDED[case], serve).run()

    assert ours == (OTHERS[case][1] if case in OTHERS else theirs)
    assert (case in OTHERS) == (ours != theirs)


def test_all_rows_but_seven_are_equal() -> None:
    assert (len(RECORDED), len(OTHERS), OTHERS.keys() - RECORDED.keys()) == (62, 7, set())
