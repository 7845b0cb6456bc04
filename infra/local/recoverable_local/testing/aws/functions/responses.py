"""Parse a function's answer into the messages that come back; pure.

The rules are Lambda's, from "Handling errors for an SQS event source in Lambda": an empty or null answer, and an empty or null list,
are success; an answer of another shape, and an identifier that is empty or names no message of the batch, fail the whole batch.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal

KEY = "batchItemFailures"


@dataclass(frozen=True, slots=True)
class ParsedResponse:
    """The messages that come back, and what is wrong with the answer, if anything.

    Args:
        failed: the broker's ids of the messages that are not deleted.
        reason: what is wrong with the answer.
    """

    failed: frozenset[str]
    reason: str = ""


def parse_response(answer: object, message_ids: Collection[str], *, partial_responses: bool) -> ParsedResponse:
    """Read a function's answer as an event source mapping does.

    Args:
        answer: what it returned.
        message_ids: the broker's ids of the batch.
        partial_responses: True if the mapping has ReportBatchItemFailures; without it the answer is not looked at.
    """
    everything = frozenset(message_ids)
    try:
        answer = reread_json(answer)
    except (TypeError, ValueError) as error:
        return ParsedResponse(everything, f"the answer is no JSON: {error}")
    if not partial_responses or answer is None:
        return ParsedResponse(frozenset())
    if not isinstance(answer, dict):
        return ParsedResponse(everything, f'the answer is {answer!r:.200}; write {{"{KEY}": [...]}}')
    failures = answer.get(KEY)
    if failures is not None and not isinstance(failures, list):
        return ParsedResponse(everything, f"{KEY} is {failures!r:.200}; write a list")
    return parse_failures(failures or [], everything)


def reread_json(answer: object) -> object:
    """Return the answer as the runtime client posts it: bytes as they are, all else as JSON (awslambdaric, `LambdaMarshaller`).

    Raises:
        TypeError: a value that JSON cannot hold.
        ValueError: bytes that are not JSON.
    """
    return json.loads(answer if isinstance(answer, bytes) else json.dumps(answer, default=json_default))


def json_default(value: object) -> object:
    """Return what the runtime client writes for a value that Python's JSON does not support.

    Raises:
        TypeError: a value that the runtime client cannot write either.
    """
    match value:
        case Decimal():
            return float(value)
        case bytes():
            return value.decode()
        case _:
            raise TypeError(f"{type(value).__name__} is not JSON serializable")


def parse_failures(failures: list[object], everything: frozenset[str]) -> ParsedResponse:
    """Return the messages that the items name; one item that names none fails them all."""
    failed = set()
    for item in failures:
        name = item.get("itemIdentifier") if isinstance(item, dict) else None
        if not isinstance(name, str) or name not in everything:
            wanted = "{'itemIdentifier': record['messageId']}"
            return ParsedResponse(everything, f"{KEY} names no message of the batch with {item!r:.200}; write {wanted}")
        failed.add(name)
    return ParsedResponse(frozenset(failed))
