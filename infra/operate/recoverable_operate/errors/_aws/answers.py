"""Turn the answers of SQS into one line that names the queue or the permission that is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from recoverable._sqs.answers import is_answer
from recoverable_operate.errors._queue import one_line

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
"""What to do about the errors of botocore that no queue answered."""


def call_error(queue: str) -> AbstractContextManager[None]:
    """Raise what a call raises as one line.

    Raises:
        OperateError: the call failed.
    """
    return one_line(lambda error: describe(error, queue))


def describe(error: Exception, queue: str) -> str:
    """Return what is missing, in one line."""
    if not is_answer(error):
        name = type(error).__name__
        return HINTS.get(name, f"no answer about {queue} ({name}): check --endpoint-url, --region and the network")
    answer: Any = getattr(error, "response", {})
    code = str(answer.get("Error", {}).get("Code", ""))
    operation = getattr(error, "operation_name", "the call")
    if "AccessDenied" in code or "NotAuthorized" in code:
        return f"{permission(operation)} is missing for {queue}"
    if "NonExistentQueue" in code or "QueueDoesNotExist" in code:
        return f"there is no queue {queue} in this account and region"
    if "KMS" in code.upper():
        return f"the key of {queue} refuses: kms:Decrypt is missing, or kms:GenerateDataKey ({code})"
    return f"{operation} failed for {queue}: {code} {answer.get('Error', {}).get('Message', '')}".strip()


def permission(operation: str) -> str:
    """Return the permission of an operation; a batch has that of the single one (Amazon SQS API permissions)."""
    service = "sts" if operation == "AssumeRole" else "sqs"
    return f"{service}:{operation.removesuffix('Batch')}"


def numbered(entries: Sequence[Mapping[str, Any]]) -> Any:
    """Return the entries of a batch with their Ids."""
    return [{"Id": str(number), **entry} for number, entry in enumerate(entries)]


def failed_entries(call: Callable[[], Any], ids: Sequence[str], queue: str) -> dict[str, str]:
    """Make a batch call, and return the ids for which it failed, each with the reason.

    Raises:
        OperateError: the whole call failed.
    """
    with call_error(queue):
        answer = call()
    whys = {f["Id"]: f"{f.get('Code')} {f.get('Message', '')}".strip() for f in answer.get("Failed", ())}
    done = {each["Id"] for each in answer.get("Successful", ())}
    return {each: whys.get(str(n), "SQS did not say") for n, each in enumerate(ids) if str(n) not in done}
