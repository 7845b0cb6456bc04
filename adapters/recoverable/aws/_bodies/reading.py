"""Give messages whose bodies are in S3 a function that fetches them when a handler reads them, and delete what has been handled."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from recoverable._message import received
from recoverable._sqs import calls
from recoverable._sqs import objects as objects_client
from recoverable._sqs.pointers import Pointer, pointer_of
from recoverable._sqs.wire import wire_of
from recoverable.aws._bodies.settings import BodyNotFetched, S3Bodies

if TYPE_CHECKING:
    from recoverable._ladder.delivery import Delivery
    from recoverable._message import Message
    from recoverable._sqs.queues import Queue
    from recoverable._sqs.wire import Record
    from recoverable.aws._time_budget import TimeBudget
    from recoverable.hosting import Environment

SHORTEST_FETCH = 0.2
"""Seconds that a body gets at least: a handler that reads it as its time ends is stopped by its deadline."""


def attach_bodies(
    deliveries: list[Delivery], bodies: S3Bodies, queue: Queue, environment: Environment, time: TimeBudget
) -> None:
    """Have the bodies of an invocation's messages that are in S3 fetched when they are first read.

    Args:
        deliveries: the messages, those among them that have a pointer and others.
        bodies: the setting.
        queue: where they came from; the client is of its region, and S3 says where a bucket is.
        environment: has what bounds a call.
        time: the invocation's.
    """
    objects = Objects(bodies, queue.region, environment, time)
    for delivery in deliveries:
        if (pointer := pointer_in(delivery.native)) is not None:
            delivery.message._body = partial(objects.fetch, pointer)  # noqa: SLF001  # see `Message`: a function that returns it
            if bodies.delete and time.invocation is not None:
                time.invocation.delete_bodies = objects.delete_bodies_of


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
    return pointer_of(record, wire_of(record))


class Objects:
    """The objects of an invocation's messages.

    Args:
        bodies: the setting.
        region: the region of the client.
        environment: has what bounds a call.
        time: the invocation's.
    """

    def __init__(self, bodies: S3Bodies, region: str, environment: Environment, time: TimeBudget) -> None:
        self._bodies, self._region, self._time = bodies, region, time
        self._call_within = environment.call_within or calls.call_within

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
        seconds = self._time.before_call() - self._time.call_timeout  # what is kept for settling stays
        get = partial(objects_client.get, self._bodies.client, self._region, bucket, pointer.key)
        try:
            body: bytes = self._call_within(max(seconds, SHORTEST_FETCH), get)
        except Exception as error:
            raise BodyNotFetched(objects_client.problem(error, bucket, pointer.key)) from error
        return body

    def delete_bodies_of(self, deleted: list[Delivery]) -> None:
        """Delete the bodies of messages whose handlers have succeeded, and which SQS has confirmed to be deleted.

        What fails is logged, and stays: the messages are done with.
        """
        from recoverable._sqs.broker import redactor_in  # noqa: PLC0415  # it was imported to delete the messages

        keys: dict[str, list[str]] = {}
        for delivery in deleted:
            pointer = pointer_in(delivery.native) if delivery.error is None else None  # else it was discarded
            bucket = (pointer.bucket or self._bodies.buckets[0]) if pointer is not None else None
            if pointer is not None and bucket in self._bodies.buckets:
                keys.setdefault(bucket, []).append(pointer.key)
        for bucket, found in keys.items():
            objects_client.delete(
                lambda call: self._call_within(max(self._time.before_call(), SHORTEST_FETCH), call),
                self._bodies.client, self._region, bucket, found, redactor_in(self._time),
            )  # fmt: skip
