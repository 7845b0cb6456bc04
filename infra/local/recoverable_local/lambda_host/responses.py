"""What an outcome means for the messages of its batch: which are deleted, which come back. Pure.

The rules for malformed answers are Lambda's, from "Handling errors for an SQS event source in Lambda": an empty or null answer and an
empty or null list are success; an answer that cannot be read and an identifier that is no message of the batch fail the whole batch.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recoverable_local.lambda_host.runtime.outcomes import Outcome, Returned, describe

_KEY = "batchItemFailures"
_IGNORED = (
    "reported as failed and deleted all the same: the mapping has no FunctionResponseTypes: [ReportBatchItemFailures]"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which messages the mapping deletes and which it leaves, with the reason when that is not what the answer says."""

    completed: tuple[str, ...]
    failed: tuple[str, ...]
    reason: str | None = None


def judge(outcome: Outcome, message_ids: Sequence[str], *, partial_responses: bool) -> Verdict:
    """Decide on a batch as an event source mapping does.

    Args:
        outcome: How the invocation ended.
        message_ids: The messages of the batch, in the event's order.
        partial_responses: Whether the mapping has `ReportBatchItemFailures`; without it the answer is not looked at.
    """
    everything = tuple(message_ids)
    if not isinstance(outcome, Returned):
        return Verdict((), everything, describe(outcome))
    reported = _reported(outcome.payload, everything)
    if not partial_responses:
        ignored = reported and not isinstance(reported, str)
        return Verdict(everything, (), f"{len(reported)} {_IGNORED}" if ignored else None)
    if isinstance(reported, str):
        return Verdict((), everything, reported)
    return Verdict(
        tuple(one for one in everything if one not in reported), tuple(one for one in everything if one in reported)
    )


def _reported(payload: str, message_ids: tuple[str, ...]) -> set[str] | str:
    """The identifiers in an answer, or why it fails the whole batch."""
    try:
        answer = json.loads(payload or "null")
    except ValueError as error:
        return f"the answer is no JSON ({error}): {payload!r:.200}"
    if answer is not None and not isinstance(answer, dict):
        return f'the answer must be {{"{_KEY}": [...]}}, empty or null; it is {payload!r:.200}'
    failures = (answer or {}).get(_KEY)
    if failures is not None and not isinstance(failures, list):
        return f"{_KEY} must be a list; it is {failures!r:.200}"
    return _identifiers(failures or [], message_ids)


def _identifiers(failures: list[Any], message_ids: tuple[str, ...]) -> set[str] | str:
    found: set[str] = set()
    for item in failures:
        identifier = item.get("itemIdentifier") if isinstance(item, dict) else None
        if identifier not in message_ids:
            return f"{_KEY} names no message of the batch with {item!r:.200}; write {{'itemIdentifier': record['messageId']}}"
        found.add(identifier)
    return found
