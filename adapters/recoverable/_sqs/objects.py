"""Call S3 for bodies: get and delete objects, and say what is wrong."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from recoverable._observe.log import log_safely
from recoverable._sqs.answers import describe_error, is_answer
from recoverable._sqs.clients import session

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from recoverable._ladder.redaction import Redact

log = logging.getLogger("recoverable.settlement")

MAX_KEYS = 1_000
"""Objects that one call deletes (Amazon S3 API reference, DeleteObjects)."""

PROBLEMS = {
    "AccessDenied": "S3 denies access. Allow the function's role s3:GetObject on arn:aws:s3:::{}/*, and s3:ListBucket on the bucket, without"
    " which S3 says the same of an object that is gone",
    "InvalidObjectState": "the object is in an archive. Restore it",
    "NoSuchBucket": "there is no such bucket",
    "NoSuchKey": "the object is gone: a lifecycle rule, another receiver of the message, or its sender has deleted it",
}
"""Answers for which there are better words than S3's code (Amazon S3 API reference, GetObject)."""


@cache
def s3_client(region: str) -> S3Client:
    """Return the process's client for a region, made for the first body. It tries each call three times: both calls may be repeated."""
    from botocore.config import Config

    config = Config(connect_timeout=5, read_timeout=20, retries={"total_max_attempts": 3, "mode": "standard"})
    client: S3Client = session().client("s3", region_name=region, config=config)
    return client


def get(given: S3Client | None, region: str, bucket: str, key: str) -> bytes:
    """Return an object's content; errors of the call are raised as they are.

    Args:
        given: the user's client; None for the process's own.
        region: the region of that.
        bucket: the bucket.
        key: the key.
    """
    client = s3_client(region) if given is None else given
    return client.get_object(Bucket=bucket, Key=key)["Body"].read()


def delete(
    call: Callable[[Callable[[], Any]], Any],
    given: S3Client | None,
    region: str,
    bucket: str,
    keys: list[str],
    redact: Redact | None,
) -> None:
    """Delete objects, and log what failed.

    Args:
        call: makes a call, within the time that is left.
        given: the user's client; None for the process's own.
        region: the region of that.
        bucket: the bucket.
        keys: the keys.
        redact: the user's redactor.
    """
    for start in range(0, len(keys), MAX_KEYS):
        part = sorted(set(keys[start : start + MAX_KEYS]))
        try:
            answer = call(partial(delete_some, given, region, bucket, part))
        except Exception as error:  # noqa: BLE001  # logged
            log_not_deleted(bucket, len(part), describe_error(error), redact)
        else:
            if failed := answer.get("Errors"):
                log_not_deleted(
                    bucket, len(failed), ", ".join(sorted({str(each.get("Code")) for each in failed})), redact
                )


def delete_some(given: S3Client | None, region: str, bucket: str, keys: list[str]) -> Any:
    """Delete as many objects as one call takes, and return S3's answer."""
    client = s3_client(region) if given is None else given
    return client.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True})


def log_not_deleted(bucket: str, number: int, reasons: str, redact: Redact | None) -> None:
    """Log that bodies stay in their bucket."""
    text = (
        "S3 DeleteObjects failed for %d bodies in '%s' (%s). Their messages are completed; the bodies stay. "
        "Allow the function's role s3:DeleteObject there, or have a lifecycle rule delete them."
    )
    log_safely(log.warning, text, number, bucket, reasons, redact=redact)


def problem(error: Exception, bucket: str, key: str) -> str:
    """Return why a body cannot be fetched, and what to do."""
    place = f"the body is in S3, in the bucket '{bucket}' under the key {key!r}, and cannot be fetched"
    response: Any = getattr(error, "response", {}) if is_answer(error) else {}
    said = str((response.get("Error") or {}).get("Code"))
    code = "AccessDenied" if said == "403" else said  # botocore's code for an answer without a text
    if code in PROBLEMS:
        return f"{place}: {PROBLEMS[code].format(bucket)}"
    if isinstance(error, TimeoutError):
        return f"{place}: S3 gave no answer in the time that the handler had. Raise the function's time-out"
    return f"{place}: {describe_error(error)}"
