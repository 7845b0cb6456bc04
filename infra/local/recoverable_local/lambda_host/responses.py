"""Decide which messages of a batch are deleted and which come back, from the outcome of the invocation. Pure.

The rules for malformed responses are Lambda's, from "Handling errors for an SQS event source in Lambda": an empty or null response and an
empty or null list are success; a response that cannot be parsed or an identifier of no message of the batch fails the whole batch.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recoverable_local.lambda_host.runtime.outcomes import Outcome, Returned, describe

_KEY = "batchItemFailures"
_IGNORED = (
    "reported as failed and deleted all the same: the mapping has no FunctionResponseTypes: [ReportBatchItemFailures]"
)


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The messages that the mapping deletes and those that come back.

    Args:
        completed: The ids of the messages that are deleted.
        failed: The ids of the messages that come back.
        reason: Why this differs from the function's response; else None.
    """

    completed: tuple[str, ...]
    failed: tuple[str, ...]
    reason: str | None = None

    def named(self, names: Mapping[str, str], gone: Collection[str]) -> BatchResult:
        """Return it with other ids of the messages, and with those completed that the function itself has deleted."""
        completed = (*self.completed, *(each for each in self.failed if each in gone))
        failed = (each for each in self.failed if each not in gone)
        return BatchResult(tuple(names[each] for each in completed), tuple(names[each] for each in failed), self.reason)


def batch_result(outcome: Outcome, message_ids: Sequence[str], *, partial_responses: bool) -> BatchResult:
    """Decide on the messages of a batch as an event source mapping does.

    Args:
        outcome: How the invocation ended.
        message_ids: The messages of the batch, in the event's order.
        partial_responses: True if the mapping has `ReportBatchItemFailures`. Without it the response is ignored.
    """
    everything = tuple(message_ids)
    if not isinstance(outcome, Returned):
        return BatchResult((), everything, describe(outcome))
    reported = _reported(outcome.payload, everything)
    if not partial_responses:
        ignored = reported and not isinstance(reported, str)
        return BatchResult(everything, (), f"{len(reported)} {_IGNORED}" if ignored else None)
    if isinstance(reported, str):
        return BatchResult((), everything, reported)
    return BatchResult(
        tuple(one for one in everything if one not in reported), tuple(one for one in everything if one in reported)
    )


def _reported(payload: str, message_ids: tuple[str, ...]) -> set[str] | str:
    """Return the identifiers in a response, or a text that says why the response fails the whole batch."""
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
