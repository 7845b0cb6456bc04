"""Keep messages in S3 that are too large for a row."""

from __future__ import annotations

import os

from recoverable._sqs.answers import code_of, object_problem
from recoverable.timeouts._stores.dynamodb.errors import unavailable
from recoverable.timeouts._timeout import Unreadable

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mypy_boto3_s3 import S3Client

    from recoverable._sqs.answers import ObjectProblem
    from recoverable.timeouts._stores.dynamodb.keys import Item

PREFIX = "timeouts/"
TOKEN_BYTES = 8

PROBLEMS: Mapping[ObjectProblem, str] = {
    "denied": "S3 denies access to its message, or it is gone and the right s3:ListBucket is missing",
    "archived": "its message is in an archive of S3",
    "no bucket": "the bucket of its message is gone",
    "gone": "its message is gone from S3",
}


def problem_with_object(error: Exception) -> str | None:
    """Return why an object cannot be read, however often it is asked for; None for an error that another call may not have.

    So one object that cannot be read for good does not hold back the timeouts behind it.
    """
    problem = object_problem(error)
    return None if problem is None else PROBLEMS.get(problem, f"S3 does not give its message ({code_of(error)})")


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
