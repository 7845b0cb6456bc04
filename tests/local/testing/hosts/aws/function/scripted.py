"""Define a Lambda function that records what it is given and does what its messages say, in a process of its own or in a world."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

PATIENCE = 90  # seconds; nobody waits longer for others
A_WHILE = 0.2  # seconds in which one too many would begin


class Unusual(BaseException):
    """An exception that is no `Exception`."""


@dataclass
class Ways:
    """Functions that differ between a process and a world.

    Args:
        notes: the file of notes.
        die: ends the process.
        spend: takes so many seconds.
        process: names the process, given the context.
        meet: stays until so many are at work, and for a while.
    """

    notes: Path
    die: Callable[[], object]
    spend: Callable[[float], object]
    process: Callable[[Any], object]
    meet: Callable[[int], object]


def note(**said: Any) -> None:
    """Write a whole line."""
    with HERE.notes.open("a") as file:
        file.write(json.dumps(said) + "\n")


def meet(count: int) -> None:
    """Wait until so many invocations have begun."""
    end = time.monotonic() + PATIENCE
    while HERE.notes.read_text().count('"began"') < count and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(A_WHILE)


HERE = Ways(
    notes=Path(os.environ.get("NOTES", os.devnull)),
    die=lambda: os._exit(4),
    spend=time.sleep,
    process=lambda _context: os.getpid(),
    meet=meet,
)

REMEMBERED: list[str] = []
"""The invocations that this module has seen."""

ODD: dict[str, Any] = {
    "an object": object(),
    "bytes of JSON": b'{"batchItemFailures": []}',
    "other bytes": b"\xff",
    "a Decimal": {"batchItemFailures": [], "total": Decimal("1.5")},
    "a set": {1},
}
"""Answers that JSON cannot say."""


def handler(event: dict[str, Any], context: Any) -> Any:
    """Follow the script of each message on its first receive; handle later receives without one."""
    REMEMBERED.append(context.aws_request_id)
    note(
        given={
            "records": event["Records"],
            "process": HERE.process(context),
            "remembers": len(REMEMBERED),
            "context": describe_context(context),
        }
    )
    answer: Any = {"batchItemFailures": []}
    names = {json.loads(record["body"])["name"]: record["messageId"] for record in event["Records"]}
    for record in event["Records"]:
        script = json.loads(record["body"])
        if int(record["attributes"]["ApproximateReceiveCount"]) > script.get("times", 1):
            continue
        match script.get("does"):
            case "fail":
                answer["batchItemFailures"].append({"itemIdentifier": record["messageId"]})
            case "answer":
                answer = with_ids(script["answer"], names)
            case "answer oddly":
                answer = ODD[script["answer"]]
            case str(deed):
                DEEDS[deed](script)
            case _:
                pass  # it is simply handled
    note(remaining=context.get_remaining_time_in_millis())
    return answer


def with_ids(answer: Any, names: dict[str, str]) -> Any:
    """Return the answer with the ids of messages in place of `<their names>`."""
    text = json.dumps(answer)
    for name, message_id in names.items():
        text = text.replace(f"<{name}>", message_id)
    return json.loads(text)


def describe_context(context: Any) -> dict[str, Any]:
    """Return what the context has: its texts, what its methods return, and the caller."""
    names = [name for name in dir(context) if not name.startswith("_")]
    caller = {name: getattr(context.identity, name) for name in IDENTITY}
    return {name: getattr(context, name) for name in names} | {
        "get_remaining_time_in_millis": context.get_remaining_time_in_millis(),
        "identity": caller,
        "log": context.log(""),
        "w3c": context.w3c(),
    }


IDENTITY = ("cognito_identity_id", "cognito_identity_pool_id")


def refuse(_script: object) -> None:
    raise ValueError("no such card")


def refuse_unusually(_script: object) -> None:
    raise Unusual("no such card")


def work(script: dict[str, Any]) -> None:
    note(work="began")
    HERE.meet(script["together"])
    note(work="ended")


DEEDS: dict[str, Callable[[dict[str, Any]], object]] = {
    "raise": refuse,
    "raise unusually": refuse_unusually,
    "exit": lambda _: sys.exit(3),
    "die": lambda _: HERE.die(),
    "spend": lambda script: HERE.spend(script["seconds"]),
    "work": work,
}
