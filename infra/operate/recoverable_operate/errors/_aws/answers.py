"""Turn the answers of SQS into one line that names the queue or the permission that is missing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from recoverable._sqs.answers import call_failure, is_answer
from recoverable._sqs.batches import BatchOperation, Entry, batch_failures, call_batch
from recoverable_operate.errors._queue import one_line

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

HINTS = {
    "NoRegionError": "no region: give --region, or set AWS_REGION",
    "NoCredentialsError": "no credentials: give --profile, or set AWS_PROFILE",
    "PartialCredentialsError": "the credentials are incomplete: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "ParamValidationError": "AWS takes no such name: check --queue, --to and --role",
    "InvalidRegionError": "there is no such region: check --region and AWS_REGION",
    "ProfileNotFound": "there is no such profile: see `aws configure list-profiles`",
    "TokenRetrievalError": "the sign-in is over: run `aws sso login`",
    "UnauthorizedSSOTokenError": "the sign-in is over: run `aws sso login`",
    "SSOTokenLoadError": "there is no sign-in: run `aws sso login`",
}
"""Advice on the errors of botocore that no queue answered."""


def call_error(queue: str) -> AbstractContextManager[None]:
    """Raise what a call raises as one line.

    Raises:
        OperateError: the call failed.
    """
    return one_line(lambda error: describe(error, queue))


def describe(error: Exception, named: str, service: str = "sqs", thing: str = "queue") -> str:
    """Return what is missing, in one line.

    Args:
        error: what a call raised.
        named: the name of what it was about.
        service: whose call it was, as permissions name it.
        thing: what kind of thing that is; "" where the name says it.
    """
    if not is_answer(error):
        name = type(error).__name__
        return HINTS.get(name, f"no answer about {named} ({name}): check --endpoint-url, --region and the network")
    failure, operation = call_failure(error), getattr(error, "operation_name", "the call")
    if failure.concerns_key and failure.kind == "denied":
        return f"the key of {named} refuses: kms:Decrypt is missing, or kms:GenerateDataKey ({failure.code})"
    if failure.concerns_key and failure.kind == "refused":
        return f"the key of {named} is disabled, deleted or of another use ({failure.code})"
    if failure.kind == "denied":
        return f"{permission(operation, service)} is missing for {named}"
    if failure.kind == "missing":
        return f"there is no {thing} {named} in this account and region".replace("  ", " ")
    answer: Any = getattr(error, "response", {})
    return f"{operation} failed for {named}: {failure.code} {answer.get('Error', {}).get('Message', '')}".strip()


def permission(operation: str, service: str) -> str:
    """Return the permission of an operation; a batch has that of the single one (Amazon SQS API permissions)."""
    return f"{'sts' if operation == 'AssumeRole' else service}:{operation.removesuffix('Batch')}"


def failed_entries(
    client: SQSClient, operation: BatchOperation, url: str, entries: Sequence[Entry], ids: Sequence[str]
) -> dict[str, str]:
    """Make a batch call, and return the ids for which it failed, each with the reason.

    Args:
        client: makes it.
        operation: the call.
        url: the queue's.
        entries: the entries, without their Ids.
        ids: what the entries are called in the result.

    Raises:
        OperateError: the whole call failed.
    """
    with call_error(url):
        answer = call_batch(client, operation, url, entries)
    return {ids[n]: failure.reason for n, failure in batch_failures(answer, len(ids)).items()}
