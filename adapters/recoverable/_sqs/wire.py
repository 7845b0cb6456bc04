"""Read and write the headers of an SQS message: in one attribute, in NServiceBus's wrapper, or none; and find where in S3 its body is.

Nothing that a sender writes raises here.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode

from recoverable._errors import MessageDeserializationError
from recoverable._frozen import Frozen
from recoverable.headers import (
    CONTROL_MESSAGE,
    ENCLOSED_MESSAGE_TYPES,
    MESSAGE_ID,
    in_whole_characters,
    sendable,
    texts,
)

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, NoReturn, TypeAlias

    from recoverable._sqs.batches import Entry

    Body: TypeAlias = str | bytes | Callable[[], str | bytes]
    Record: TypeAlias = dict[str, Any]
    Attributes: TypeAlias = dict[str, dict[str, Any]]

MAX_ATTRIBUTES = 10
"""Attributes a message can have (Amazon SQS message quotas)."""

HEADERS = "NServiceBus.AmazonSQS.Headers"
FOLDED = "Recoverable.Attributes"
UNREADABLE_HEADERS = "Recoverable.UnreadableHeaders"
S3_BODY_KEY = "S3BodyKey"
POINTER_SIZES = ("ExtendedPayloadSize", "SQSLargePayloadSize")
"""Attributes by which AWS's SQS extended client marks a body that is a pointer into S3, now and in its first versions;
they hold its size."""

POINTER_CLASSES = (
    "software.amazon.payloadoffloading.PayloadS3Pointer",
    "com.amazon.sqs.javamessaging.MessageS3Pointer",
)
"""The names with which a pointer begins: that of the extended client, and that of its first versions
(amazon-sqs-java-extended-client-lib)."""

EMPTY_BODY = "empty message"  # NServiceBus.AmazonSQS writes this for no body, which SQS does not take

ATTRIBUTE_NAME = r"(?i:(?!(?:aws|amazon)\.)(?!\.)(?!.*\.\.)(?!.*\.\Z)[A-Za-z0-9_.-]{1,256})"
"""Names that are not reserved (Amazon SQS message attributes)."""

KIND = r"(String|Number|Binary)(\.[A-Za-z0-9_.-]+)?"
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"

LONGEST_KIND = 256
"""Characters of a data type with its label (Amazon SQS message attributes)."""

TEXT = r"[\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+"
"""Characters that a message may hold (SendMessage)."""


class Wire:
    """A record taken apart.

    It has this package's headers, the user's attributes, the body, and the wrapper if there is one.
    """

    __slots__ = ("attributes", "body", "headers", "wrapper")

    def __init__(
        self, body: Body, headers: dict[str, str], attributes: Attributes, wrapper: dict[str, Any] | None = None
    ) -> None:
        self.body, self.headers, self.attributes, self.wrapper = body, headers, attributes, wrapper

    def promoted(self) -> Mapping[str, str]:
        """Return the headers for the handler.

        They are the user's text attributes and, over them, this package's headers, which are newer.
        """
        promoted = {
            name: value["stringValue"]
            for name, value in self.attributes.items()
            if isinstance(value.get("stringValue"), str)
        }
        return promoted | self.headers

    def with_overflow(self, record: Record) -> Record:
        """Return the record with the attributes that were folded into a header.

        So a handler finds in each round what the sender wrote.
        """
        present = record.get("messageAttributes") or {}
        if self.attributes.keys() <= present.keys():
            return record
        return {**record, "messageAttributes": present | self.attributes}


def wire_of(record: Record) -> Wire:
    """Return the record taken apart, in either of the two shapes of NServiceBus.AmazonSQS or in none."""
    attributes = {
        name: value for name, value in (record.get("messageAttributes") or {}).items() if isinstance(value, dict)
    }
    ours = attributes.pop(HEADERS, None)
    if ours is not None:
        headers = headers_from(ours.get("stringValue") or ours.get("binaryValue") or "")
        attributes |= unfolded(headers)
        stored = stored_key(record["body"], attributes, None)
        return Wire(refuse_stored_body if stored else record["body"], headers, attributes)
    if (wrapper := wrapper_in(record["body"])) is not None:
        headers = wrapper["Headers"]
        attributes |= unfolded(headers)
        return Wire(unwrapped(wrapper), headers, attributes, wrapper)
    return Wire(record["body"], {}, attributes)


def headers_from(text: str) -> dict[str, str]:
    """Return the headers in the one attribute.

    A text that holds none is kept under a header of its own, so that nothing is lost.
    """
    try:
        headers = json.loads(text)
        return texts(headers) if isinstance(headers, dict) else {UNREADABLE_HEADERS: text}
    except (ValueError, RecursionError):
        return {UNREADABLE_HEADERS: text}


def unfolded(headers: dict[str, str]) -> Attributes:
    """Take the folded attributes, for which SQS's ten had no room, out of the headers, and return them.

    Return no attributes when they are malformed.
    """
    if FOLDED not in headers:
        return {}
    try:
        folded = json.loads(headers[FOLDED])
    except (ValueError, RecursionError):
        return {}
    if not isinstance(folded, dict) or HEADERS in folded or not all(map(is_attribute, folded, folded.values())):
        return {}
    del headers[FOLDED]
    return folded


def wrapper_in(body: str) -> dict[str, Any] | None:
    """Return the body as NServiceBus.AmazonSQS's wrapper if it names a message and has a body in text; else None."""
    try:
        wrapper = json.loads(body) if '"Headers"' in body else None
        if not isinstance(wrapper, dict) or not isinstance(wrapper.get("Headers"), dict):
            return None
        headers = wrapper["Headers"] = texts(wrapper["Headers"])
    except (ValueError, RecursionError):
        return None
    names_a_message = (
        headers.get(CONTROL_MESSAGE) == "True" or MESSAGE_ID in headers or ENCLOSED_MESSAGE_TYPES in headers
    )
    return wrapper if names_a_message and isinstance(wrapper.get("Body", ""), str) else None


def unwrapped(wrapper: dict[str, Any]) -> Body:
    """Return the body inside the wrapper, decoded if it is base64; a function that refuses it if it is in S3."""
    if stored_key("", {}, wrapper):
        return refuse_stored_body
    text = wrapper.get("Body", "")
    if text == EMPTY_BODY:
        return b""
    try:
        return b64decode(text, validate=True)
    except ValueError:
        return str(text)


def stored_key(body: str, attributes: Attributes, wrapper: dict[str, Any] | None) -> str | None:
    """Return the key of a body that NServiceBus stored in S3; None when the message has its body, whatever its attributes say."""
    if wrapper is not None:
        key = wrapper.get(S3_BODY_KEY)
    else:
        key = attributes.get(S3_BODY_KEY, {}).get("stringValue") if body == EMPTY_BODY else None
    return str(key) if key else None


def refuse_stored_body() -> NoReturn:
    """Raise the error that says what to do about a body that NServiceBus stored in S3."""
    raise MessageDeserializationError(
        "the body was left in S3, from where it is not read; name its bucket, as SqsEndpoint(large_bodies=S3Bodies(...)) has it, or have the "
        "sender send it with the message, SQS takes 1 MiB"
    )


def is_attribute(name: str, value: object) -> bool:
    """True if SQS takes it as an attribute.

    Args:
        name: its name.
        value: its type and content as Lambda writes them.
    """
    if not re.fullmatch(ATTRIBUTE_NAME, name) or not isinstance(value, dict):
        return False
    kind, text = value.get("dataType"), value.get("stringValue")
    if not isinstance(kind, str) or len(kind) > LONGEST_KIND or not re.fullmatch(KIND, kind):
        return False
    if kind.startswith("Binary"):
        return is_base64(value.get("binaryValue"))
    if not isinstance(text, str) or not re.fullmatch(TEXT, text):
        return False
    return kind.startswith("String") or re.fullmatch(NUMBER, text) is not None


def is_base64(value: object) -> bool:
    """True if the value is one or more bytes in base64."""
    try:
        return isinstance(value, str) and b64decode(value, validate=True) != b""
    except ValueError:
        return False


class Pointer(Frozen):
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


def changed(wire: Wire, changes: Mapping[str, str | None]) -> Wire:
    """Return the record with the headers changed; those that become None are removed.

    A changed header replaces an attribute of its name, because it is newer.
    """
    headers = {name: text for name, text in {**wire.headers, **changes}.items() if text is not None}
    attributes = {name: value for name, value in wire.attributes.items() if name not in changes}
    return Wire(wire.body, headers, attributes, wire.wrapper)


def entry_of(record: Record, wire: Wire) -> Entry:
    """Return body and attributes; the headers go where they came from, into the wrapper or into the one attribute."""
    if wire.wrapper is not None:
        kept, overflow = folded(wire.attributes, MAX_ATTRIBUTES)
        return {
            "MessageBody": in_whole_characters(in_json({**wire.wrapper, "Headers": sendable(wire.headers | overflow)})),
            "MessageAttributes": typed(kept),
        }
    kept, overflow = folded(wire.attributes, MAX_ATTRIBUTES - 1)
    ours = {"stringValue": headers_in_json(wire.headers | overflow), "dataType": "String"}
    return {"MessageBody": record["body"], "MessageAttributes": typed(kept | {HEADERS: ours})}


def headers_in_json(headers: Mapping[str, str]) -> str:
    """Return the headers as JSON that each receiver can read."""
    return in_json(sendable(headers))


def in_json(value: object) -> str:
    """Return the value as JSON; escaped are only the two characters that SQS does not take, because to escape all may double the size."""
    return json.dumps(value, ensure_ascii=False).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


def folded(attributes: Attributes, room: int) -> tuple[Attributes, dict[str, str]]:
    """Return the attributes that there is room for, and the header that carries the others.

    The attributes that say where the body is stay attributes, for other readers of the queue.
    """
    if len(attributes) <= room:
        return attributes, {}
    names = sorted(attributes, key=lambda name: name not in {*POINTER_SIZES, S3_BODY_KEY})
    return {name: attributes[name] for name in names[:room]}, {
        FOLDED: json.dumps({name: attributes[name] for name in names[room:]})
    }


def typed(attributes: Attributes) -> Entry:
    """Return the attributes in boto3's form: types and labels as they came, binary values as bytes."""
    return {name: typed_value(value) for name, value in attributes.items()}


def typed_value(value: dict[str, Any]) -> Entry:
    """Return one attribute in boto3's form."""
    kind = value.get("dataType") or "String"
    if kind.partition(".")[0] == "Binary":
        return {"DataType": kind, "BinaryValue": b64decode(value.get("binaryValue") or "")}
    return {"DataType": kind, "StringValue": value.get("stringValue") or ""}
