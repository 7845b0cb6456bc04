"""Test the result of each function response for the messages of its batch."""

from __future__ import annotations

from datetime import timedelta

import pytest

from recoverable_local.lambda_host.responses import BatchResult, batch_result
from recoverable_local.lambda_host.runtime.outcomes import InitFailed, Outcome, Raised, Returned
from recoverable_local.outcomes import Died, TimedOut

BATCH = ("a", "b", "c")
EVERYTHING = BatchResult(BATCH, ())

SUCCESS = ["null", "", "{}", '{"batchItemFailures": null}', '{"batchItemFailures": []}', '{"statusCode": 200}']

PARTIAL = [
    ('{"batchItemFailures": [{"itemIdentifier": "b"}]}', BatchResult(("a", "c"), ("b",))),
    ('{"batchItemFailures": [{"itemIdentifier": "c"}, {"itemIdentifier": "a"}]}', BatchResult(("b",), ("a", "c"))),
    ('{"batchItemFailures": [{"itemIdentifier": "b"}, {"itemIdentifier": "b"}]}', BatchResult(("a", "c"), ("b",))),
    ('{"batchItemFailures": [{"itemIdentifier": "b", "more": 1}], "more": 1}', BatchResult(("a", "c"), ("b",))),
]

COMPLETE_FAILURE = [
    ("{", "the answer is no JSON"),
    ('"fine"', "the answer must be"),
    ("[]", "the answer must be"),
    ('{"batchItemFailures": "b"}', "batchItemFailures must be a list; it is 'b'"),
    ('{"batchItemFailures": {"itemIdentifier": "b"}}', "batchItemFailures must be a list"),
    ('{"batchItemFailures": [{"itemIdentifier": ""}]}', "names no message of the batch"),
    ('{"batchItemFailures": [{"itemIdentifier": null}]}', "names no message of the batch"),
    ('{"batchItemFailures": [{"itemIdentifier": 1}]}', "names no message of the batch"),
    ('{"batchItemFailures": [{"itemIdentifier": ["b"]}]}', "names no message of the batch"),
    ('{"batchItemFailures": [{"itemIdentifier": "unknown"}]}', "names no message of the batch with {'itemIdentifier': 'unknown'}"),
    ('{"batchItemFailures": [{"messageId": "b"}]}', "names no message of the batch"),
    ('{"batchItemFailures": [{"itemIdentifier": "b"}, {"itemIdentifier": "unknown"}]}', "names no message of the batch"),
    ('{"batchItemFailures": ["b"]}', "names no message of the batch"),
]  # fmt: skip

WORDLESS: list[tuple[Outcome, str]] = [
    (Raised("ValueError", "no such card"), "ValueError: no such card"),
    (TimedOut(timedelta(seconds=3)), "Task timed out after 3.00 seconds"),
    (Died(4), "Runtime.ExitError: the process ended by itself with exit status 4"),
    (Died(-9), "Runtime.ExitError: the process ended by itself with signal 9"),
    (InitFailed("ImportError", "no shop"), "could not be loaded, ImportError: no shop"),
]


@pytest.mark.parametrize("payload", SUCCESS)
def test_an_answer_without_failures_completes_the_batch(payload: str) -> None:
    assert batch_result(Returned(payload), BATCH, partial_responses=True) == EVERYTHING


@pytest.mark.parametrize(("payload", "verdict"), PARTIAL)
def test_what_is_reported_fails_and_the_rest_is_completed(payload: str, verdict: BatchResult) -> None:
    assert batch_result(Returned(payload), BATCH, partial_responses=True) == verdict


@pytest.mark.parametrize(("payload", "said"), COMPLETE_FAILURE)
def test_an_answer_that_cannot_be_followed_fails_the_batch(payload: str, said: str) -> None:
    verdict = batch_result(Returned(payload), BATCH, partial_responses=True)

    assert (verdict.completed, verdict.failed) == ((), BATCH)
    assert said in str(verdict.reason)


@pytest.mark.parametrize(("outcome", "reason"), WORDLESS)
def test_an_invocation_that_does_not_return_fails_the_batch(outcome: Outcome, reason: str) -> None:
    assert batch_result(outcome, BATCH, partial_responses=True) == BatchResult((), BATCH, reason)
    assert batch_result(outcome, BATCH, partial_responses=False) == BatchResult((), BATCH, reason)


@pytest.mark.parametrize("payload", [*SUCCESS, *(row[0] for row in COMPLETE_FAILURE)])
def test_without_partial_responses_whatever_is_returned_completes_the_batch(payload: str) -> None:
    assert batch_result(Returned(payload), BATCH, partial_responses=False) == EVERYTHING


@pytest.mark.parametrize(("payload", "verdict"), PARTIAL)
def test_without_partial_responses_what_was_reported_is_deleted_and_that_is_said(
    payload: str, verdict: BatchResult
) -> None:
    reason = (
        f"{len(verdict.failed)} reported as failed and deleted all the same: the mapping has no"
        " FunctionResponseTypes: [ReportBatchItemFailures]"
    )

    assert batch_result(Returned(payload), BATCH, partial_responses=False) == BatchResult(BATCH, (), reason)
