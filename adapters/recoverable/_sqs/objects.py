"""Call S3 for bodies: get and delete objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recoverable._sqs.clients import client

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mypy_boto3_s3 import S3Client

MAX_KEYS = 1_000
"""Objects that one call deletes (Amazon S3 API reference, DeleteObjects)."""

TIMEOUT, ATTEMPTS = 20.0, 3
"""Seconds for one attempt to get or to delete, and how often it is tried: both calls may be repeated."""


def get(given: S3Client | None, region: str, bucket: str, key: str) -> bytes:
    """Return an object's content; errors of the call are raised as they are.

    Args:
        given: the user's client; None for the process's own.
        region: the region of that.
        bucket: the bucket.
        key: the key.
    """
    return s3_client(given, region).get_object(Bucket=bucket, Key=key)["Body"].read()


def delete(given: S3Client | None, region: str, bucket: str, keys: Sequence[str]) -> list[str]:
    """Delete as many objects as one call takes, and return the codes of those that stay; errors of the call are raised as they are."""
    answer = s3_client(given, region).delete_objects(
        Bucket=bucket, Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True}
    )
    return [str(each.get("Code")) for each in answer.get("Errors", [])]


def s3_client(given: S3Client | None, region: str) -> S3Client:
    """Return the user's client, or else the process's own."""
    own: S3Client = client("s3", region, TIMEOUT, ATTEMPTS) if given is None else given
    return own
