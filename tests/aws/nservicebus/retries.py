"""Error copies on SQS, and what comes back of one through ServiceControl, as the model of .NET's readers sends it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from aws.nservicebus.dotnet import REMOVED, Refused, Sent, imported, retried
from aws.records import ARN, delivered, received_attribute, record
from builders import platform, recoverability
from recoverable._ladder.settlement import Forward
from recoverable._sqs.queues import Queue, queue_from_arn
from recoverable._sqs.wire import Wire, wire_of
from recoverable.aws._copies import copy_of
from recoverable.headers import RETRY_HEADERS

SOURCE, ERROR = queue_from_arn(ARN), Queue("eu-west-1", "123456789012", "error")
FAULTS: dict[str, str | None] = {
    **dict.fromkeys(RETRY_HEADERS),
    "NServiceBus.FailedQ": "orders",
    "NServiceBus.MessageId": "7",
    "NServiceBus.ExceptionInfo.Message": "no",
    "NServiceBus.TimeOfFailure": "2026-03-04 05:06:07:000089 Z",
}


def error_copy(one: dict[str, Any], **more: str | None) -> Sent:
    """Return the error copy of a record."""
    delivery = delivered(one, SOURCE, recoverability(), platform())
    copy = copy_of(delivery, Forward("error", timedelta(0), {**FAULTS, **more}), source=SOURCE, to=ERROR)
    assert copy is not None
    return Sent(copy.entry["MessageBody"], copy.entry["MessageAttributes"])


def as_record(sent: Sent) -> dict[str, Any]:
    """Return the record that a message is, as the broker's own move leaves it."""
    attributes = {name: received_attribute(value) for name, value in sent.attributes.items()}
    return {**record(sent.body, message_id="native-2"), "messageAttributes": attributes}


def retry_problem(sent: Sent) -> str:
    """Return why ServiceControl cannot import an error copy, or how a retry differs from what failed; nothing where all is well."""
    try:
        found = imported(sent)
    except Refused as refused:
        return f"ServiceControl refuses it: {refused}"
    before = wire_of(as_record(sent))
    if callable(before.body):
        return ""  # it is in S3, where .NET finds it too
    for wraps in (True, False):
        after = wire_of(as_record(retried(found, wraps=wraps)))
        if not (wraps or is_text(found.read.body)):
            continue  # as it is, .NET sends a text: bytes that are none it cannot send back
        if body_of(after) != body_of(before):
            return f"its body {body_of(before)!r:.80} comes back as {body_of(after)!r:.80}"
        lost = [name for name in before.attributes if not is_kept(name, before, after)]
        if before.wrapper is None and lost:
            return f"{sorted(lost)!r:.80} are lost"
    return ""


def is_text(body: bytes) -> bool:
    """True if the body is UTF-8."""
    return body.decode(errors="ignore").encode() == body


def body_of(wire: Wire) -> object:
    """Return the body as bytes."""
    return wire.body.encode(errors="surrogatepass") if isinstance(wire.body, str) else wire.body


def is_kept(name: str, before: Wire, after: Wire) -> bool:
    """True if an attribute comes back: with its type, but for a plain text, which may come back as a header.

    One about a failure need not, nor one with the name of a header, over which it wins for .NET alone.
    """
    value = before.attributes[name]
    if name.startswith(REMOVED) or name in before.headers:
        return True
    if value.get("dataType") == "String":
        return before.promoted()[name] == after.promoted().get(name)
    parts = ("dataType", "binaryValue" if str(value.get("dataType")).startswith("Binary") else "stringValue")
    return all(value.get(part) == after.attributes.get(name, {}).get(part) for part in parts)
