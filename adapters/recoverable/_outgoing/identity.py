"""Name an outgoing message by its origin and content, and write the headers that say what it follows from."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from recoverable._outgoing.message import Outgoing
from recoverable.headers import (
    CONVERSATION_ID,
    CORRELATION_ID,
    MESSAGE_ID,
    MESSAGE_INTENT,
    ORIGINATING_ENDPOINT,
    RELATED_TO,
    TIME_SENT,
    TRACE_PARENT,
    TRACE_STATE,
    write_date,
    write_trace_parent,
)

if TYPE_CHECKING:
    from recoverable._message import Message


def identity(source: str, origin: str, content: str, number: int) -> str:
    """Return the id of an outgoing message: the same each time its handler sends the same again, in whatever order.

    Args:
        source: the address of the queue that the handler's message came from.
        origin: the broker's id of the first original of that message.
        content: see `content_of`.
        number: how many messages of the same content the attempt sent before it.
    """
    return sha256(json.dumps([source, origin, content, number]).encode()).hexdigest()


def content_of(outgoing: Outgoing) -> str:
    """Return a digest of destination and content. A delay is no content: it often depends on the time of the attempt."""
    body = outgoing.body.encode(errors="replace") if isinstance(outgoing.body, str) else outgoing.body
    parts = [
        outgoing.intent,
        outgoing.destination,
        sha256(body).hexdigest(),
        sorted(outgoing.headers.items()),
        sorted((name, repr(value)) for name, value in outgoing.attributes.items()),
        outgoing.group_id,
        outgoing.message_id,
    ]
    return sha256(json.dumps(parts).encode()).hexdigest()


REPLY_TO_ADDRESS = "NServiceBus.ReplyToAddress"
SAGA = {
    "NServiceBus.OriginatingSagaId": "NServiceBus.SagaId",
    "NServiceBus.OriginatingSagaType": "NServiceBus.SagaType",
}
"""Headers by which a reply finds the saga that sent what it replies to (NServiceBus, PopulateAutoCorrelationHeadersForRepliesBehavior)."""


def headers_of(message: Message, outgoing: Outgoing, now: datetime) -> dict[str, str]:
    """Return the headers of an outgoing message, which say what it follows from, as NServiceBus writes them; the handler's own replace them."""
    incoming = message.headers
    trace = current_trace() or {name: incoming[name] for name in (TRACE_PARENT, TRACE_STATE) if name in incoming}
    saga = {own: incoming[theirs] for theirs, own in SAGA.items() if theirs in incoming}
    return {
        MESSAGE_ID: outgoing.message_id or "",
        TIME_SENT: write_date(now),
        MESSAGE_INTENT: outgoing.intent,
        ORIGINATING_ENDPOINT: message.queue,
        REPLY_TO_ADDRESS: message.queue,
        CONVERSATION_ID: incoming.get(CONVERSATION_ID) or message.id,
        CORRELATION_ID: incoming.get(CORRELATION_ID) or message.id,
        RELATED_TO: message.id,
        **trace,
        **(saga if outgoing.intent == "Reply" else {}),
        **outgoing.headers,
    }


def current_trace() -> dict[str, str]:
    """Return the current span as a header, where the application has loaded OpenTelemetry; else none."""
    api = sys.modules.get("opentelemetry.trace")
    name = api and write_trace_parent(api.get_current_span().get_span_context())
    return {TRACE_PARENT: name} if name else {}
