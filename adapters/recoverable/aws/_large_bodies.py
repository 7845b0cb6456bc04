"""Fetch bodies that were too large for SQS and that their senders put into S3: the setting, and what it does to an invocation's messages."""

from __future__ import annotations

import logging
from functools import partial

from recoverable._frozen import Frozen, field
from recoverable._message import received

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from recoverable._ladder.delivery import Delivery
    from recoverable._message import Message
    from recoverable._sqs.answers import ObjectProblem
    from recoverable._sqs.wire import Pointer, Record
    from recoverable.aws._batch import Batch
else:
    S3Client = object  # the stubs are for type checkers alone

log = logging.getLogger("recoverable.settlement")

SHORTEST_FETCH = 0.2
"""Seconds that a body gets at least: a handler that reads it as its time ends is stopped by its deadline."""


class BodyNotFetched(Exception):
    """Raised where a handler reads a body that is in S3 and cannot be fetched; a failed attempt as any other, so it is fetched again.

    `__cause__` is the error of the call, if one was made.
    """

    __module__ = "recoverable.aws"  # the name under which users import it


class S3Bodies(Frozen):
    """A setting of `SqsEndpoint` and `RecoverableBatchProcessor`: bodies in these buckets are fetched when a handler reads them.

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


def check_bodies(owner: str, bodies: object) -> None:
    """Raise TypeError if an endpoint's setting `large_bodies` is none."""
    if not isinstance(bodies, S3Bodies):
        raise TypeError(f'{owner}(large_bodies) is {bodies!r}; write S3Bodies(buckets=("order-bodies",)), or None')


def attach_bodies(bodies: S3Bodies, batch: Batch) -> None:
    """Have the bodies of a batch's messages that are in S3 fetched when they are first read.

    Args:
        bodies: the setting.
        batch: the messages; a message with a pointer to its body is among the restored ones.
    """
    objects = Objects(bodies, batch)
    for delivery in batch.restored:
        if (pointer := pointer_in(delivery.native)) is not None:
            delivery.message._body = partial(objects.fetch, pointer)  # noqa: SLF001  # see `Message`: a function that returns it
            if bodies.delete:
                batch.invocation.delete_bodies, batch.invocation.completes = objects.delete_bodies_of, True


def record_with_body(message: Message) -> Record:
    """Return the message's record with the body in place of its pointer, for code that reads records.

    Raises:
        BodyNotFetched: the body cannot be fetched.
        MessageDeserializationError: it is no text.
    """
    record: Record = message.native
    return record if pointer_in(received(message)) is None else {**record, "body": message.text}


def pointer_in(record: Record) -> Pointer | None:
    """Return where the body of a record is; None when it is with the message."""
    from recoverable._sqs.wire import pointer_of, wire_of  # noqa: PLC0415  # for messages, not for the setting

    return pointer_of(record, wire_of(record))


class Objects:
    """The objects of an invocation's messages.

    Args:
        bodies: the setting.
        batch: what they came in; the client is of its queue's region, and S3 says where a bucket is.
    """

    def __init__(self, bodies: S3Bodies, batch: Batch) -> None:
        from recoverable._sqs.broker import call_within  # noqa: PLC0415  # for messages, not for the setting

        self._bodies, self._region, self._time = bodies, batch.queue.region, batch.time
        self._call_within, self._redact = batch.environment.call_within or call_within, batch.invocation.redact

    def fetch(self, pointer: Pointer) -> bytes:
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
        from recoverable._sqs.objects import get  # noqa: PLC0415  # for bodies that are read

        seconds = self._time.before_call() - self._time.call_timeout  # what is kept for settling stays
        call = partial(get, self._bodies.client, self._region, bucket, pointer.key)
        try:
            body: bytes = self._call_within(max(seconds, SHORTEST_FETCH), call)
        except Exception as error:
            raise BodyNotFetched(describe_problem(error, bucket, pointer.key)) from error
        return body

    def delete_bodies_of(self, deleted: list[Delivery]) -> None:
        """Delete the bodies of messages whose handlers have succeeded, and which SQS has confirmed to be deleted.

        What fails is logged, and stays: the messages are done with.
        """
        keys: dict[str, list[str]] = {}
        for delivery in deleted:
            pointer = pointer_in(delivery.native) if delivery.error is None else None  # else it was discarded
            bucket = (pointer.bucket or self._bodies.buckets[0]) if pointer is not None else None
            if pointer is not None and bucket in self._bodies.buckets:
                keys.setdefault(bucket, []).append(pointer.key)
        for bucket, found in keys.items():
            self._delete(bucket, sorted(set(found)))

    def _delete(self, bucket: str, keys: list[str]) -> None:
        from recoverable._sqs.answers import describe_error  # noqa: PLC0415  # it was imported to delete the messages
        from recoverable._sqs.objects import MAX_KEYS, delete  # noqa: PLC0415  # for bodies that are deleted

        for start in range(0, len(keys), MAX_KEYS):
            some = keys[start : start + MAX_KEYS]
            call = partial(delete, self._bodies.client, self._region, bucket, some)
            try:
                failed: list[str] = self._call_within(max(self._time.before_call(), SHORTEST_FETCH), call)
            except Exception as error:  # noqa: BLE001  # logged
                self._log_not_deleted(bucket, len(some), describe_error(error))
            else:
                if failed:
                    self._log_not_deleted(bucket, len(failed), ", ".join(sorted(set(failed))))

    def _log_not_deleted(self, bucket: str, number: int, reasons: str) -> None:
        """Log that bodies stay in their bucket."""
        from recoverable._observe.log import log_safely  # noqa: PLC0415  # the failure side

        text = (
            "S3 DeleteObjects failed for %d bodies in '%s' (%s). Their messages are completed; the bodies stay. "
            "Allow the function's role s3:DeleteObject there, or have a lifecycle rule delete them."
        )
        log_safely(log.warning, text, number, bucket, reasons, redact=self._redact)


def describe_problem(error: Exception, bucket: str, key: str) -> str:
    """Return why a body cannot be fetched, and what to do."""
    from recoverable._sqs.answers import describe_error, object_problem  # noqa: PLC0415  # the failure side

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
