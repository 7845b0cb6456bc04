"""Name the headers, and read and write their counters and dates.

What cannot be read counts as absent: headers are untrusted.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from recoverable._limits import MAX_COUNT

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from opentelemetry.trace import SpanContext

__all__ = [
    "ACKNOWLEDGEMENT_QUEUE", "ATTEMPTS", "CLEAR_TIMEOUTS", "CONTENT_TYPE", "CONTROL_MESSAGE", "CONVERSATION_ID",
    "CORRELATION_ID", "DELAYED_RETRIES", "DELAYED_RETRY_AT", "DUE_AT", "ENCLOSED_MESSAGE_TYPES", "FAILED_QUEUE_ADDRESS",
    "FIRST_DELAYED_RETRY_AT", "FIRST_FAILED_AT", "FOLDED", "GRANTED", "HELD_SINCE", "LOG_GROUP", "LOG_STREAM", "MESSAGE_ID",
    "MESSAGE_INTENT", "ORIGIN", "ORIGINATING_ENDPOINT", "OWN", "PRIOR_ATTEMPTS", "REDRIVES", "REFUSED_SENDS",
    "REFUSED_SINCE", "RELATED_TO", "REPORTED", "REQUEST_ID", "RETRY_HEADERS", "RETRY_SUCCESSFUL", "SENT_NATIVE",
    "STOPPED", "TIMEOUT_EXPIRE", "TIME_SENT", "TRACE_PARENT", "TRACE_STATE", "UNIQUE_MESSAGE_ID", "UNREPORTED",
    "VERSION", "in_whole_characters", "read_count", "read_date", "sendable", "texts", "write_date",
]  # fmt: skip

MESSAGE_ID = "NServiceBus.MessageId"
TIME_SENT = "NServiceBus.TimeSent"
CONTROL_MESSAGE = "NServiceBus.ControlMessage"
CLEAR_TIMEOUTS, TIMEOUT_EXPIRE = "NServiceBus.ClearTimeouts", "NServiceBus.Timeout.Expire"
ENCLOSED_MESSAGE_TYPES = "NServiceBus.EnclosedMessageTypes"
CONTENT_TYPE = "NServiceBus.ContentType"

MESSAGE_INTENT = "NServiceBus.MessageIntent"
ORIGINATING_ENDPOINT = "NServiceBus.OriginatingEndpoint"
CONVERSATION_ID = "NServiceBus.ConversationId"
CORRELATION_ID = "NServiceBus.CorrelationId"
RELATED_TO = "NServiceBus.RelatedTo"
TRACE_PARENT, TRACE_STATE = "traceparent", "tracestate"
OWN = "Recoverable."
"""With this begin the headers of this package's own."""

UNIQUE_MESSAGE_ID, ACKNOWLEDGEMENT_QUEUE, RETRY_SUCCESSFUL = (
    "ServiceControl.Retry.UniqueMessageId", "ServiceControl.Retry.AcknowledgementQueue", "ServiceControl.Retry.Successful",
)  # fmt: skip
"""With the first two ServiceControl sends a failed message back, and with the third an endpoint says that it was handled."""

MADE_BY = "Recoverable.TraceParent"
"""The header of a copy that names the attempt which it was made by; extensions that trace write it."""

AWS_TRACE_HEADER = "Recoverable.AwsTraceHeader"
"""The header of a copy that keeps X-Ray's header of the sender; extensions that trace write it."""


def is_reserved(name: str) -> bool:
    """True if no extension may give a copy a header of this name, because this package writes it."""
    return name.startswith(("NServiceBus.", "ServiceControl.", OWN)) and name not in (MADE_BY, AWS_TRACE_HEADER)


ORIGIN = "Recoverable.Origin"
"""The broker's id of the first original of a message: what its handler sends is named after it."""

DELAYED_RETRIES = "NServiceBus.Retries"
DELAYED_RETRY_AT = "NServiceBus.Retries.Timestamp"
PRIOR_ATTEMPTS = "NServiceBus.FLRetries"
FIRST_DELAYED_RETRY_AT = "Recoverable.FirstDelayedRetry"
HELD_SINCE = "Recoverable.HeldSince"
DUE_AT = "Recoverable.DueAt"
STOPPED = "Recoverable.Stopped"
UNREPORTED = "Recoverable.Unreported"
REFUSED_SENDS = "Recoverable.RefusedSends"
REFUSED_SINCE = "Recoverable.RefusedSince"
"""The date of the first unknown answer to what the handler sent, how many there were since, and from which destination."""

REPORTED = "Recoverable.Reported"
GRANTED = "Recoverable.Granted"
"""The number of an immediate retry that a policy granted past `Immediate(max_retries)`."""

FOLDED = "Recoverable.Attributes"
"""The sender's attributes or properties for which SQS has no room, or which ServiceControl would lose, as JSON."""

SENT_NATIVE = "Recoverable.Native"
"""The mark of a message that has no wrapper of NServiceBus's, but for .NET's sake, and whose text is its body."""

FAILED_QUEUE_ADDRESS = "Recoverable.FailedQueue"
REQUEST_ID = "Recoverable.RequestId"
LOG_GROUP = "Recoverable.LogGroup"
LOG_STREAM = "Recoverable.LogStream"
VERSION = "Recoverable.Version"
ATTEMPTS = "Recoverable.Attempts"
FIRST_FAILED_AT = "Recoverable.FirstFailedAt"
REDRIVES = "Recoverable.Redrives"

RETRY_HEADERS = (
    DELAYED_RETRIES, DELAYED_RETRY_AT, PRIOR_ATTEMPTS, FIRST_DELAYED_RETRY_AT, HELD_SINCE, DUE_AT, STOPPED, UNREPORTED,
    REFUSED_SENDS, REPORTED, GRANTED,
)  # fmt: skip
"""Headers that hold the retry state of a message; they are removed when it moves to the error queue."""


def texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers with a text for each value: other values as JSON; a null is no header."""
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in values.items()
        if value is not None
    }


def sendable(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return headers, or properties, whose names and texts each receiver can read; values that are no text stay."""
    return {
        in_whole_characters(name): in_whole_characters(value) if isinstance(value, str) else value
        for name, value in values.items()
    }


def in_whole_characters(text: str) -> str:
    """Return the text with U+FFFD for NUL and for each half of a surrogate pair: .NET refuses all headers for one half in one of them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", "\ufffd")


def read_count(headers: Mapping[str, str], name: str, most: int = MAX_COUNT) -> int:
    """Return the counter of a header; 0 when it is absent, negative, malformed or above 10,000, or above the most that it may be."""
    text = headers.get(name, "").strip()
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MAX_COUNT))):
        return 0
    count = int(text)
    return count if count <= most else 0


def read_date(headers: Mapping[str, str], name: str) -> datetime | None:
    """Return the date of a header; None when it is absent or malformed.

    The form is NServiceBus's, `yyyy-MM-dd HH:mm:ss:ffffff Z`, in UTC; `strptime` is not used because importing its
    locale tables costs a cold start.
    """
    text = headers.get(name, "")
    parts = text[0:4], text[5:7], text[8:10], text[11:13], text[14:16], text[17:19], text[20:26]
    digits = "".join(parts)
    if len(text) != len("2016-08-16 10:06:20:123456 Z") or not (digits.isascii() and digits.isdigit()):
        return None
    try:
        return datetime(*map(int, parts), tzinfo=UTC)  # type: ignore[arg-type,misc]  # seven numbers, then the zone
    except ValueError:
        return None  # such as a 13th month


def write_date(moment: datetime) -> str:
    """Return the moment in NServiceBus's form, to the microsecond.

    It does not use `strftime`, which writes years before 1000 too short.
    """
    text = moment.astimezone(UTC).isoformat(" ", "microseconds")
    return f"{text[:19]}:{text[20:26]} Z"


def write_trace_parent(span: SpanContext) -> str | None:
    """Return OpenTelemetry's context of a span as the header `traceparent` names it; None for a context that is not valid."""
    return f"00-{span.trace_id:032x}-{span.span_id:016x}-{span.trace_flags:02x}" if span.is_valid else None
