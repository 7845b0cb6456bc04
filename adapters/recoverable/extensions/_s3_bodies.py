"""Fetch bodies that were too large for SQS and that their senders put into S3."""

from __future__ import annotations

import logging
from functools import partial

from recoverable._frozen import Frozen, field
from recoverable._sqs.answers import describe_error, object_problem
from recoverable._sqs.clients import client
from recoverable._sqs.queues import queue_from_arn
from recoverable._sqs.wire import pointer_of, wire_of
from recoverable.hosting import log_safely

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mypy_boto3_s3 import S3Client

    from recoverable import Message
    from recoverable._sqs.answers import ObjectProblem
    from recoverable._sqs.wire import Pointer
    from recoverable.hosting import Batch, Outcome, Setup
else:
    S3Client = object  # the stubs are for type checkers alone

log = logging.getLogger("recoverable.settlement")

NOT_DELETED = (
    "S3 DeleteObjects failed for %d bodies in '%s' (%s). Their messages are completed; the bodies stay. "
    "Allow the function's role s3:DeleteObject there, or have a lifecycle rule delete them."
)

MAX_KEYS = 1_000
"""Objects that one call deletes (Amazon S3 API reference, DeleteObjects)."""

TIMEOUT, ATTEMPTS = 20.0, 3
"""Seconds for one attempt to get or to delete, and how often it is tried: both calls may be repeated."""

SHORTEST_FETCH = 0.2
"""Seconds that a body gets at least: a handler that reads it as its time ends is stopped by its deadline."""


class BodyNotFetched(Exception):
    """Raised where a handler reads a body that is in S3 and cannot be fetched; a failed attempt as any other, so it is fetched again.

    `__cause__` is the error of the call, if one was made.
    """

    __module__ = "recoverable.extensions"  # the name under which users import it


class S3Bodies(Frozen):
    """An extension of SQS endpoints: bodies in these buckets are fetched when a handler reads them.

    Read are the pointers of AWS's SQS extended client and of NServiceBus. Whoever may send to the queue can have any
    object in these buckets read as a body, and with `delete` deleted: name buckets that hold nothing but bodies.

    Args:
        buckets: the names of the buckets that may be read. NServiceBus's pointers name none, and are of the first.
        delete: True to delete a body once its handler has succeeded and its message is deleted; else a lifecycle rule
            of the bucket has to. A message that SQS delivers a second time then finds no body, and fails; so does
            another queue's copy of it.
        client: a boto3 S3 client, instead of the one that is made when the first body is read.

    Raises:
        TypeError: the buckets are no tuple of texts.
        ValueError: no bucket, or one that is no name.
    """

    buckets: tuple[str, ...]
    delete: bool = field(default=False, kw_only=True)
    client: S3Client | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the buckets."""
        named: object = self.buckets
        if not isinstance(named, tuple) or not all(isinstance(bucket, str) for bucket in named):
            raise TypeError(f'S3Bodies(buckets) is {named!r}; write a tuple of names, such as ("order-bodies",)')
        if not self.buckets:
            raise ValueError(
                'S3Bodies(buckets) names no bucket; write those that may be read, such as ("order-bodies",)'
            )
        for bucket in self.buckets:
            if not bucket.strip() or ("/" in bucket and not bucket.startswith("arn:")):
                raise ValueError(
                    f'S3Bodies(buckets) has {bucket!r}; write the name of a bucket alone, such as "order-bodies", or an access point\'s ARN'
                )

    def prepare(self, setup: Setup) -> None:
        """Check that it can serve an endpoint.

        Raises:
            TypeError: the endpoint reads no SQS queue.
            ValueError: it has another `S3Bodies`.
        """
        if setup.cloud != "aws":
            raise TypeError(f"{setup.owner}(extensions) has S3Bodies, which are for SQS; leave them out")
        if sum(isinstance(each, S3Bodies) for each in setup.extensions) > 1:
            raise ValueError(f"{setup.owner}(extensions) has S3Bodies twice; name all buckets in one")

    def open(self, batch: Batch) -> Objects:
        """Fetch the bodies of an invocation's messages."""
        return Objects(self, batch)


class Objects:
    """The objects of an invocation's messages.

    Args:
        bodies: the setting.
        batch: the messages.
    """

    def __init__(self, bodies: S3Bodies, batch: Batch) -> None:
        self._bodies, self._batch = bodies, batch
        self._pointers: dict[str, Pointer] = {}

    def body(self, message: Message) -> Callable[[], bytes] | None:
        """Return what fetches a message's body; None where it is with the message."""
        if (pointer := pointer_of(record := message.native, wire_of(record))) is None:
            return None
        self._pointers[message.id] = pointer
        return partial(self._fetch, pointer)

    def deletes(self, message: Message) -> bool:
        """True for a message whose body is deleted once its own deletion is confirmed."""
        return self._bodies.delete and message.id in self._pointers

    def settled(self, outcomes: Sequence[Outcome]) -> Iterator[Callable[[], None]]:
        """Delete the bodies of messages whose handlers have succeeded, and which SQS has confirmed to be deleted."""
        keys: dict[str, set[str]] = {}
        for outcome in outcomes:
            pointer = self._pointers.get(outcome.message.id)
            if pointer is None or not (self._bodies.delete and outcome.done and outcome.facts.action == "complete"):
                continue
            bucket = pointer.bucket or self._bodies.buckets[0]
            if bucket in self._bodies.buckets:
                keys.setdefault(bucket, set()).add(pointer.key)
        for bucket, found in keys.items():
            some = sorted(found)
            for start in range(0, len(some), MAX_KEYS):
                yield partial(self._delete, bucket, some[start : start + MAX_KEYS])

    def _fetch(self, pointer: Pointer) -> bytes:
        """Return the body.

        Raises:
            BodyNotFetched: its bucket is not named, or S3 does not give it.
        """
        bucket = pointer.bucket or self._bodies.buckets[0]
        if bucket not in self._bodies.buckets:
            raise BodyNotFetched(
                f"the body is in the bucket {bucket!r}, which S3Bodies(buckets={self._bodies.buckets!r}) does not name, so it is not read; "
                "add the bucket there, if it is one of yours"
            )
        seconds = self._batch.time_left() - self._batch.settle_within
        call = partial(get, self._bodies.client, self._region, bucket, pointer.key)
        try:
            body: bytes = self._batch.call_within(max(seconds, SHORTEST_FETCH), call)
        except Exception as error:
            raise BodyNotFetched(describe_problem(error, bucket, pointer.key)) from error
        return body

    def _delete(self, bucket: str, keys: list[str]) -> None:
        """Delete bodies; what fails is logged, and stays: the messages are done with."""
        call = partial(delete, self._bodies.client, self._region, bucket, keys)
        try:
            failed: list[str] = self._batch.call_within(max(self._batch.time_left() / 2, SHORTEST_FETCH), call)
        except Exception as error:  # noqa: BLE001  # logged
            self._log_not_deleted(bucket, len(keys), describe_error(error))
        else:
            if failed:
                self._log_not_deleted(bucket, len(failed), ", ".join(sorted(set(failed))))

    def _log_not_deleted(self, bucket: str, number: int, reasons: str) -> None:
        log_safely(log.warning, NOT_DELETED, number, bucket, reasons, redact=self._batch.redact)

    @property
    def _region(self) -> str:
        return queue_from_arn(self._batch.messages[0].native["eventSourceARN"]).region


def describe_problem(error: Exception, bucket: str, key: str) -> str:
    """Return why a body cannot be fetched, and what to do."""
    problem = object_problem(error)
    if isinstance(error, TimeoutError):
        why = "S3 gave no answer in the time that the handler had. Raise the function's time-out"
    elif problem is None or problem == "other":
        why = describe_error(error)
    else:
        why = PROBLEMS[problem].format(bucket)
    return f"the body is in S3, in the bucket '{bucket}' under the key {key!r}, and cannot be fetched: {why}"


PROBLEMS: dict[ObjectProblem, str] = {
    "denied": "S3 denies access. Allow the function's role s3:GetObject on arn:aws:s3:::{}/*, and s3:ListBucket on the bucket, without"
    " which S3 says the same of an object that is gone",
    "archived": "the object is in an archive. Restore it",
    "no bucket": "there is no such bucket",
    "gone": "the object is gone: a lifecycle rule, another receiver of the message, or its sender has deleted it",
}


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
