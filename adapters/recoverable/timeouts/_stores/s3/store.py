"""Keep messages in S3 that are too large for a row, and configure the clients of DynamoDB and S3."""

from __future__ import annotations

import os
from functools import cache

from recoverable.timeouts._stores.dynamodb.errors import code_of, http_status_of, unavailable
from recoverable.timeouts._timeout import Unreadable

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from botocore.config import Config
    from mypy_boto3_s3 import S3Client

    from recoverable.timeouts._stores.dynamodb.keys import Item

PREFIX = "timeouts/"
TOKEN_BYTES = 8
CLIENT_ERROR, TOO_MANY_REQUESTS = 4, 429

ABOUT_THE_OBJECT = {
    "AccessDenied": "S3 denies access to its message, or it is gone and the right s3:ListBucket is missing",
    "InvalidObjectState": "its message is in an archive of S3",
    "NoSuchBucket": "the bucket of its message is gone",
    "NoSuchKey": "its message is gone from S3",
}
"""Answers for which there are better words than S3's code (Amazon S3 API reference, GetObject)."""

ABOUT_THE_CALL = ("Throttl", "SlowDown", "TooManyRequests", "LimitExceeded", "Timeout", "TimeTooSkewed", "Expired")
ABOUT_THE_CALLER = ("InvalidToken", "TokenRefreshRequired", "InvalidAccessKeyId", "SignatureDoesNotMatch")
"""Parts of the codes of answers of the class 4xx that say nothing about the object: the next call may succeed (Amazon S3 API reference, Error responses)."""


def problem_with_object(error: Exception) -> str | None:
    """Return why an object cannot be read, however often it is asked for; None for an error that another call may not have.

    Any 4xx is about the object, its key or its bucket, but for throttling and credentials. So one object that cannot be
    read for good does not hold back the timeouts behind it.
    """
    code, status = code_of(error), http_status_of(error)
    if code in ABOUT_THE_OBJECT:
        return ABOUT_THE_OBJECT[code]
    if any(part in code for part in (*ABOUT_THE_CALL, *ABOUT_THE_CALLER)) or status == TOO_MANY_REQUESTS:
        return None
    return f"S3 does not give its message ({code})" if status // 100 == CLIENT_ERROR else None


class Bodies:
    """The messages in a bucket.

    Args:
        bucket: its name; None when there is none.
        client: gives a boto3 S3 client.
    """

    __slots__ = ("_bucket", "_client")

    def __init__(self, bucket: str | None, client: Callable[[], S3Client]) -> None:
        self._bucket, self._client = bucket, client

    @property
    def is_configured(self) -> bool:
        """True if there is a bucket."""
        return self._bucket is not None

    def put(self, timeout_id: str, message: str) -> str:
        """Write a message and return its key. Each write has its own key: a timeout may be in two tables, and be stored again while its message is deleted."""
        key = f"{PREFIX}{timeout_id}-{os.urandom(TOKEN_BYTES).hex()}"
        try:
            self._client().put_object(Bucket=self._bucket or "", Key=key, Body=message.encode())
        except Exception as error:
            raise unavailable(error, "S3") from error
        return key

    def read_message(self, item: Item) -> str | Unreadable:
        """Return the message of an item, from the item or from S3; or why it cannot be read."""
        if "s3" not in item:
            found: str | None = item.get("message", {}).get("S")
            return Unreadable("it has no message") if found is None else found
        if self._bucket is None:
            return Unreadable("its message is in S3, and this store was given no bucket")
        if not (key := item["s3"].get("S")):
            return Unreadable("it does not say where in S3 its message is")
        try:
            return self._client().get_object(Bucket=self._bucket, Key=key)["Body"].read().decode()
        except UnicodeDecodeError:
            return Unreadable(f"its message in S3, '{key}', is no text")
        except Exception as error:
            if (why := problem_with_object(error)) is not None:
                return Unreadable(f"{why}, where it was '{key}'")
            raise unavailable(error, "S3") from error

    def delete(self, keys: Sequence[str]) -> None:
        """Delete messages."""
        for key in keys:
            try:
                self._client().delete_object(Bucket=self._bucket or "", Key=key)
            except Exception as error:
                raise unavailable(error, "S3") from error


@cache
def s3_client(timeout: float) -> S3Client:
    """Return the process's client, made when it is first needed.

    Args:
        timeout: seconds for one call.
    """
    import boto3

    client: S3Client = boto3.client("s3", config=client_config(timeout))
    return client


def client_config(timeout: float) -> Config:
    """Return a configuration that ends a call soon and makes it twice at most. Each call that is made twice has the same effect as once.

    Args:
        timeout: seconds for one call.
    """
    from botocore.config import Config

    return Config(
        connect_timeout=timeout / 2, read_timeout=timeout / 2, retries={"total_max_attempts": 2, "mode": "standard"}
    )
