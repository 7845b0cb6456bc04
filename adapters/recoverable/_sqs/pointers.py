"""Find in a record where in S3 its body is. Pure functions; nothing that a sender writes raises here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from recoverable._sqs.wire import POINTER_SIZES, stored_key

if TYPE_CHECKING:
    from recoverable._sqs.wire import Record, Wire

POINTER_CLASSES = (
    "software.amazon.payloadoffloading.PayloadS3Pointer",
    "com.amazon.sqs.javamessaging.MessageS3Pointer",
)
"""The names with which a pointer begins: that of the extended client, and that of its first versions (amazon-sqs-java-extended-client-lib)."""


class Pointer(NamedTuple):
    """A place of a body in S3, as a sender wrote it: whether it may be read is for the settings to say.

    Args:
        bucket: its bucket; None where the receiver has to know it (NServiceBus).
        key: its key.
    """

    bucket: str | None
    key: str


def pointer_of(record: Record, wire: Wire) -> Pointer | None:
    """Return where the body is; None when it is with the message.

    Args:
        record: the record.
        wire: the record taken apart.
    """
    if key := stored_key(record["body"], wire.attributes, wire.wrapper):
        return Pointer(None, key)
    if wire.wrapper is None and any(name in wire.attributes for name in POINTER_SIZES):
        return extended_pointer(record["body"])
    return None


def extended_pointer(body: str) -> Pointer | None:
    """Return the pointer that a body is as AWS's extended client writes it: `["…PayloadS3Pointer", {"s3BucketName": …, "s3Key": …}]`."""
    try:
        match json.loads(body):
            case [str(name), {"s3BucketName": str(bucket), "s3Key": str(key)}] if (
                name in POINTER_CLASSES and bucket and key
            ):
                return Pointer(bucket, key)
            case _:
                return None
    except (ValueError, RecursionError):
        return None
