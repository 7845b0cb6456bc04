"""A Lambda function that notes what it is given and does what its messages say, in a process of its own or in a world."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from local.testing.hosts import script as shared
from local.testing.hosts.script import note

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
    """Follow the script of each message on its first receive; later ones are simply handled."""
    REMEMBERED.append(context.aws_request_id)
    note(
        given={
            "records": event["Records"],
            "process": shared.HERE.process(context),
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
    """Put the ids of messages in place of `<their names>` in an answer."""
    text = json.dumps(answer)
    for name, message_id in names.items():
        text = text.replace(f"<{name}>", message_id)
    return json.loads(text)


def describe_context(context: Any) -> dict[str, Any]:
    """Return what the context has: its texts, what its methods give, and the caller's identity."""
    names = [name for name in dir(context) if not name.startswith("_")]
    caller = {name: getattr(context.identity, name) for name in IDENTITY}
    return {name: getattr(context, name) for name in names} | {
        "get_remaining_time_in_millis": context.get_remaining_time_in_millis(),
        "identity": caller,
        "log": context.log(""),
        "w3c": context.w3c(),
    }


IDENTITY = ("cognito_identity_id", "cognito_identity_pool_id")


DEEDS: dict[str, Callable[[dict[str, Any]], object]] = {**shared.DEEDS, "exit": lambda _: sys.exit(3)}
