"""Read and write the headers of an SQS message: in one attribute, in NServiceBus's wrapper, or none; and find where in S3 its body is.

Nothing that a sender writes raises here.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode

from recoverable._errors import MessageDeserializationError
from recoverable._frozen import Frozen
from recoverable._sqs.batches import MAX_SIZE, size
from recoverable.headers import (
    CONTROL_MESSAGE,
    ENCLOSED_MESSAGE_TYPES,
    FAILED_QUEUE_ADDRESS,
    FOLDED,
    MESSAGE_ID,
    SENT_NATIVE,
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
UNREADABLE_HEADERS = "Recoverable.UnreadableHeaders"
S3_BODY_KEY = "S3BodyKey"
SERVICE_CONTROL = "ServiceControl."
"""With this begin the headers of a message that ServiceControl sent back."""

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

BASE64 = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
"""Texts without blanks that .NET's `Convert.TryFromBase64String` takes, and with which NServiceBus.AmazonSQS decodes each body."""

BLANKS = str.maketrans("", "", " \t\r\n")
"""The characters that it skips."""

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

    It has the record as its sender wrote it, this package's headers, the user's attributes, the body, and the wrapper if
    there is one.
    """

    __slots__ = ("attributes", "body", "headers", "record", "wrapper")

    def __init__(
        self,
        record: Record,
        body: Body,
        headers: dict[str, str],
        attributes: Attributes,
        wrapper: dict[str, Any] | None = None,
    ) -> None:
        self.record, self.body, self.headers, self.attributes, self.wrapper = record, body, headers, attributes, wrapper

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

    def with_overflow(self) -> Record:
        """Return the record with the attributes that were folded into a header.

        So a handler finds in each round what the sender wrote.
        """
        present = self.record.get("messageAttributes") or {}
        if self.attributes.keys() <= present.keys():
            return self.record
        return {**self.record, "messageAttributes": present | self.attributes}


def wire_of(record: Record) -> Wire:
    """Return the record taken apart, in either of the two shapes of NServiceBus.AmazonSQS or in none."""
    attributes = {
        name: value for name, value in (record.get("messageAttributes") or {}).items() if isinstance(value, dict)
    }
    ours = attributes.pop(HEADERS, None)
    if ours is not None:
        headers = headers_from(ours.get("stringValue") or ours.get("binaryValue") or "")
        attributes, body = restored(attributes, headers), record["body"]
        is_text = headers.pop(SENT_NATIVE, None) or body != EMPTY_BODY
        stored = stored_key(body, attributes, None)
        return Wire(record, refuse_stored_body if stored else body if is_text else b"", headers, attributes)
    if (wrapper := wrapper_in(record["body"])) is not None:
        if SENT_NATIVE in wrapper["Headers"] and (native := as_sent(record, wrapper)) is not None:
            return wire_of(native)
        headers = wrapper["Headers"]
        return Wire(record, unwrapped(wrapper), headers, restored(attributes, headers), wrapper)
    return Wire(record, record["body"], {}, attributes)


def as_sent(record: Record, wrapper: dict[str, Any]) -> Record | None:
    """Return the record of a native message that was put into the wrapper for .NET, without it; None if it holds no text."""
    body = unwrapped(wrapper)
    try:
        text = body.decode() if isinstance(body, bytes) else ""
    except UnicodeDecodeError:
        return None
    ours = {"stringValue": json.dumps(wrapper["Headers"]), "dataType": "String"}
    attributes = {**(record.get("messageAttributes") or {}), HEADERS: ours}
    return {**record, "body": text, "messageAttributes": attributes} if text else None


def restored(attributes: Attributes, headers: dict[str, str]) -> Attributes:
    """Return the attributes with those that a header has; what is there wins.

    ServiceControl makes a text header of an attribute. That one is taken out, unless its text was edited there.
    """
    lost = {name: value for name, value in unfolded(headers).items() if name not in attributes}
    if any(name.startswith(SERVICE_CONTROL) for name in headers):
        lost = {name: value for name, value in lost.items() if headers.get(name) in (None, value.get("stringValue"))}
        for name in lost:
            headers.pop(name, None)
    return attributes | lost


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
        return b64decode(text) if passes_for_base64(text) else str(text)  # the former skips blanks


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
    return Wire(wire.record, wire.body, headers, attributes, wire.wrapper)


def entry_of(wire: Wire) -> Entry:
    """Return body and attributes; the headers go where they came from, into the wrapper or into the one attribute.

    An error copy is written so that .NET reads it and ServiceControl can send it back as it was, if it then fits.
    """
    is_error_copy = FAILED_QUEUE_ADDRESS in wire.headers and wire.wrapper is None
    return (entry_for_dotnet(wire) if is_error_copy else None) or plain_entry(wire)


def plain_entry(wire: Wire) -> Entry:
    """Return body and attributes, without regard to what ServiceControl sends back."""
    if wire.wrapper is not None:
        kept, overflow = folded(wire.attributes, MAX_ATTRIBUTES)
        return {"MessageBody": wrapped(wire.wrapper, wire.headers | overflow), "MessageAttributes": typed(kept)}
    kept, overflow = folded(wire.attributes, MAX_ATTRIBUTES - 1)
    return native_entry(wire, kept, overflow)


def control_entry(wire: Wire, headers: dict[str, str]) -> Entry:
    """Return a control message of NServiceBus, which has no body, in the shape of a message that came."""
    wrapper = None if wire.wrapper is None else {"Body": EMPTY_BODY, S3_BODY_KEY: None}
    return plain_entry(Wire({"body": EMPTY_BODY}, b"", headers, {}, wrapper))


def entry_for_dotnet(wire: Wire) -> Entry | None:
    """Return an error copy that comes back from ServiceControl as it was; None if it would be too large.

    NServiceBus.AmazonSQS decodes a native body that passes for base64, so that one goes into its wrapper, where no
    attribute is read and `MessageTypeFullName` would hide the headers. Elsewhere it reads attributes as texts.
    """
    mark = {SENT_NATIVE: "1"} if isinstance(wire.body, str) else {}
    if isinstance(wire.body, str) and passes_for_base64(wire.body):
        body = {"Body": b64encode(wire.body.encode()).decode(), S3_BODY_KEY: None}
        headers = wire.headers | mark | in_header(wire.attributes)
        entry: Entry = {"MessageBody": wrapped(body, headers), "MessageAttributes": {}}
    else:
        kept, _ = folded(wire.attributes, MAX_ATTRIBUTES - 1)
        texts_kept = [name for name, value in kept.items() if value.get("dataType") == "String"]
        lost = {name: value for name, value in wire.attributes.items() if name not in texts_kept}
        entry = native_entry(wire, kept, mark | in_header(lost))
    return entry if size(entry) <= MAX_SIZE else None


def native_entry(wire: Wire, attributes: Attributes, more: dict[str, str]) -> Entry:
    """Return the body as its sender wrote it, and the headers with some more in the one attribute beside the sender's."""
    mark = {SENT_NATIVE: "1"} if wire.body == EMPTY_BODY else {}  # else it would be read as no body
    ours = {"stringValue": headers_in_json(wire.headers | more | mark), "dataType": "String"}
    return {"MessageBody": wire.record["body"], "MessageAttributes": typed(attributes | {HEADERS: ours})}


def passes_for_base64(text: str) -> bool:
    """True if .NET would decode the text: `Convert.TryFromBase64String`, to which blanks are nothing; no text is base64 too, and so is `empty message`."""
    return re.fullmatch(BASE64, text.translate(BLANKS)) is not None


def wrapped(wrapper: Mapping[str, object], headers: dict[str, str]) -> str:
    """Return the wrapper with the headers; one without a body gets an empty one, because NServiceBus refuses it else."""
    return in_whole_characters(in_json({"Body": EMPTY_BODY, **wrapper, "Headers": sendable(headers)}))


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
    return {name: attributes[name] for name in names[:room]}, in_header(
        {name: attributes[name] for name in names[room:]}
    )


def in_header(attributes: Attributes) -> dict[str, str]:
    """Return the header that carries attributes; none for none."""
    return {FOLDED: json.dumps(attributes)} if attributes else {}


def typed(attributes: Attributes) -> Entry:
    """Return the attributes in boto3's form: types and labels as they came, binary values as bytes."""
    return {name: typed_value(value) for name, value in attributes.items()}


def typed_value(value: dict[str, Any]) -> Entry:
    """Return one attribute in boto3's form."""
    kind = value.get("dataType") or "String"
    if kind.partition(".")[0] == "Binary":
        return {"DataType": kind, "BinaryValue": b64decode(value.get("binaryValue") or "")}
    return {"DataType": kind, "StringValue": value.get("stringValue") or ""}
