"""How NServiceBus's transports read a message, and what ServiceControl imports of it and sends back: a model of their classes.

That of SQS is held to recordings, that of Service Bus was read. Sources: NServiceBus.AmazonSQS (6e380847, Receiving/TransportMessageExtensions.cs),
NServiceBus.Transport.AzureServiceBus (8baf943), ServiceControl (2ebb08a50, ErrorProcessor, FailedMessageFactory, HeaderFilter, ReturnToSender).
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import md5
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, NamedTuple
from uuid import UUID

HEADERS = "NServiceBus.AmazonSQS.Headers"
ID, TYPES, CONTROL = "NServiceBus.MessageId", "NServiceBus.EnclosedMessageTypes", "NServiceBus.ControlMessage"
UNIQUE_ID = "ServiceControl.Retry.UniqueMessageId"
EMPTY = "empty message"
ALPHABET = ascii_uppercase + ascii_lowercase + digits + "+/"
REMOVED = ("NServiceBus.Retries", "NServiceBus.FailedQ", "NServiceBus.TimeOfFailure", "NServiceBus.ExceptionInfo.")

Attributes = Mapping[str, Mapping[str, Any]]


class Refused(Exception):
    """Raised where .NET throws: the message is poison, or ServiceControl cannot import it."""


class Sent(NamedTuple):
    """A message on SQS, its attributes as boto3 writes them."""

    body: str
    attributes: Attributes


class Read(NamedTuple):
    """A message as NServiceBus's pipeline gets it."""

    headers: dict[str, str | None]
    body: bytes


class Imported(NamedTuple):
    """A failed message as ServiceControl stores it."""

    unique_id: str
    failing_address: str
    text: str | None
    message_type: str | None
    read: Read


def from_base64(text: str) -> bytes | None:
    """Return the bytes if `Convert.TryFromBase64String` takes the text: it skips blanks, and four characters make three bytes."""
    found = [character for character in text if character not in " \t\r\n"]
    if len(found) % 4:
        return None
    pads = 0
    while found and found[-1] == "=" and pads < 2:
        found.pop()
        pads += 1
    if any(character not in ALPHABET for character in found):
        return None
    bits = "".join(format(ALPHABET.index(character), "06b") for character in found)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) // 8 * 8, 8))


def from_json(text: str) -> Any:
    """Return what System.Text.Json reads; it refuses half a surrogate pair.

    Raises:
        Refused: it is no JSON.
    """
    try:
        found = json.loads(text, parse_constant=refuse)
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise Refused("JsonException") from error
    return found


def refuse(name: str) -> None:
    """Refuse NaN and the infinities, which Python reads."""
    raise ValueError(name)


def read(sent: Sent) -> Read:
    """Return the message as the transport reads it.

    Raises:
        Refused: it is poison.
    """
    promoted = {name: value.get("StringValue") for name, value in sent.attributes.items() if name not in (ID, HEADERS)}
    native_id = sent.attributes.get(ID, {}).get("StringValue", "native")
    if (ours := sent.attributes.get(HEADERS)) is not None:
        headers = from_json(ours.get("StringValue", ""))
        if not isinstance(headers, dict) or not all(isinstance(text, str | None) for text in headers.values()):
            raise Refused("JsonException")
        return Read({ID: native_id, **headers, **promoted}, body_of(sent.body))
    if "MessageTypeFullName" not in sent.attributes and (wrapper := wrapper_in(sent.body)) is not None:
        if not isinstance(wrapper.get("Body"), str):
            raise Refused("a wrapper without a body")
        return Read({ID: native_id, **wrapper["Headers"]}, body_of(wrapper["Body"]))
    return Read({ID: "native", **promoted}, body_of(sent.body))


def wrapper_in(body: str) -> dict[str, Any] | None:
    """Return the body as the transport's wrapper; None when it is none."""
    try:
        wrapper = from_json(body)
    except Refused:
        return None
    headers = wrapper.get("Headers") if isinstance(wrapper, dict) else None
    if not isinstance(headers, dict) or not all(isinstance(text, str | None) for text in headers.values()):
        return None
    is_one = headers.get(CONTROL) == "True" or ID in headers or TYPES in headers
    return wrapper if is_one and isinstance(wrapper, dict) else None


def body_of(text: str) -> bytes:
    """Return the body: empty, else base64 decoded, else the text."""
    if text == EMPTY:
        return b""
    decoded = from_base64(text)
    return text.encode() if decoded is None else decoded


NATIVE_FIELDS = {
    "reply_to": "NServiceBus.ReplyToAddress", "correlation_id": "NServiceBus.CorrelationId",
    "content_type": "NServiceBus.ContentType",
}  # fmt: skip
"""The fields of a message of Service Bus that are headers, and win over those; all others are lost."""


def read_service_bus(body: bytes, properties: Mapping[str, Any], fields: Mapping[str, Any]) -> Read:
    """Return the message as the transport of Service Bus reads it: each property as a text.

    Args:
        body: its body.
        properties: its application properties.
        fields: its other fields, by the names of azure.servicebus.
    """
    headers = {name: None if value is None else dotnet_text(value) for name, value in properties.items()}
    native = {header: fields[name] for name, header in NATIVE_FIELDS.items() if fields.get(name)}
    return Read({ID: "native", **headers, **native}, body)


def dotnet_text(value: object) -> str:
    """Return the value as `ToString` writes it, without a culture."""
    if isinstance(value, float):
        digits, exponent, power = repr(value).partition("e")
        return f"{digits}E{int(power):+03d}" if exponent else digits.removesuffix(".0")
    return str(value)


def retried_on_service_bus(found: Imported) -> tuple[bytes, dict[str, str | None], dict[str, Any]]:
    """Return body, properties and fields of what a retry sends back on Service Bus."""
    headers = headers_of_retry(found)
    return found.read.body, headers, {name: headers[each] for name, each in NATIVE_FIELDS.items() if each in headers}


def imported(sent: Sent) -> Imported:
    """Return what ServiceControl makes of an error copy on SQS; raise as `imported_of`."""
    return imported_of(read(sent))


def imported_of(found: Read) -> Imported:
    """Return what ServiceControl makes of an error copy that its transport has read.

    Raises:
        Refused: it cannot import it.
    """
    headers = {name: text for name, text in found.headers.items() if text is not None}
    if "NServiceBus.FailedQ" not in headers:
        raise Refused("Missing 'NServiceBus.FailedQ' header.")
    for name in ("$.diagnostics.originating.hostid", UNIQUE_ID):
        if name in headers:
            UUID(headers[name])
    queue = headers["NServiceBus.FailedQ"]
    endpoint = headers.get("NServiceBus.ProcessingEndpoint") or queue.partition("@")[0]
    named = UUID(bytes_le=md5(f"{headers[ID]}{endpoint}".encode(), usedforsecurity=False).digest())
    kind = headers.get("NServiceBus.ContentType", "")
    is_text = kind.startswith("text/") or "json" in kind or "xml" in kind
    return Imported(
        headers.get(UNIQUE_ID) or str(named),
        queue,
        found.body.decode(errors="replace") if is_text else None,
        headers[TYPES].partition(",")[0] if TYPES in headers else None,
        found,
    )


FRAME = re.compile(r"^\s*at (?P<call>[^\s(][^(]*\([^)]*\))(?: in (?:/|[A-Z]:).*:line \d+)\s*$", re.MULTILINE)
"""A line of a stack trace by which ServiceControl groups."""


def group_of(found: Imported) -> str:
    """Return the title of its group by exception: the type, and the first frame after the message's text."""
    headers = found.read.headers
    trace = (headers.get("NServiceBus.ExceptionInfo.StackTrace") or "").replace(
        headers.get("NServiceBus.ExceptionInfo.Message") or "", ""
    )
    frame = FRAME.search(trace)
    call = frame["call"].strip() if frame else "No stacktrace"
    return f"{headers.get('NServiceBus.ExceptionInfo.ExceptionType')}: {call}"


TAKEN = re.compile(r"[\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")
"""Texts that the transport writes as they are; others it writes in base64."""


def headers_of_retry(found: Imported) -> dict[str, str | None]:
    """Return the headers with which a message is sent back."""
    kept = {name: text for name, text in found.read.headers.items() if not name.startswith(REMOVED)}
    return {**kept, "ServiceControl.Retry.AcknowledgementQueue": "error", UNIQUE_ID: found.unique_id}


def retried(found: Imported, *, wraps: bool) -> Sent:
    """Return what a retry sends back.

    Args:
        found: what was imported.
        wraps: False with DoNotWrapOutgoingMessages.
    """
    headers = headers_of_retry(found)
    attributes = {ID: {"DataType": "String", "StringValue": str(headers[ID])}}
    body = found.read.body
    if wraps:
        text = b64encode(body).decode() if body else EMPTY
        return Sent(json.dumps({"Body": text, "S3BodyKey": None, "Headers": headers}), attributes)
    in_attribute = {HEADERS: {"DataType": "String", "StringValue": json.dumps(headers)}}
    text = body.decode(errors="replace") or EMPTY
    return Sent(text if TAKEN.fullmatch(text) else b64encode(body).decode(), {**attributes, **in_attribute})
