"""Collect what a handler sends: snapshots, checks and identities. Nothing here does I/O; an adapter sends once the handler has returned."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from threading import Lock
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeAlias

from recoverable.frozen import Frozen, field
from recoverable.headers import (
    CONVERSATION_ID,
    CORRELATION_ID,
    MESSAGE_ID,
    MESSAGE_INTENT,
    ORIGINATING_ENDPOINT,
    RELATED_TO,
    RETRY_HEADERS,
    TIME_SENT,
    TRACE_PARENT,
    TRACE_STATE,
    write_date,
)
from recoverable.limits import MAX_DELAY, NO_DELAY, checked_delay, checked_queue

Intent: TypeAlias = Literal["Send", "Publish"]

LONGEST_ID = 128
"""Characters of an id: SQS takes as many of a MessageDeduplicationId, and Service Bus of a MessageId."""

OWN = "Recoverable."
FAULTS = ("NServiceBus.ExceptionInfo.", "NServiceBus.FailedQ", "NServiceBus.TimeOfFailure")
SET_HERE = {MESSAGE_ID, TIME_SENT, *RETRY_HEADERS}
NO_ATTRIBUTES: Mapping[str, Any] = MappingProxyType({})


class OutgoingRefused(Exception):
    """Raised for an attempt whose outgoing message was refused for good; it is a failed attempt as any other.

    Such as by a queue that does not exist, or one to which the function may not send.
    """


OutgoingRefused.__module__ = "recoverable"  # the name under which users import it is the one that operators read


class Outgoing(Frozen):
    """A message that a handler sends.

    Args:
        intent: "Send" to a queue, "Publish" to a topic.
        destination: the queue or topic, as the handler named it.
        body: text or bytes.
        headers: further headers.
        attributes: message attributes (SQS, SNS) or application properties (Service Bus).
        delay: how long it waits.
        group_id: its FIFO message group or session.
        message_id: the id that the handler gave; None for one that is derived.
    """

    intent: Intent
    destination: str
    body: str | bytes
    headers: Mapping[str, str] = field(default=NO_ATTRIBUTES, kw_only=True)
    attributes: Mapping[str, Any] = field(default=NO_ATTRIBUTES, kw_only=True)
    delay: timedelta = field(default=NO_DELAY, kw_only=True)
    group_id: str | None = field(default=None, kw_only=True)
    message_id: str | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        return f"Outgoing({self.intent!r}, {self.destination!r}, message_id={self.message_id!r})"  # no body: it may be secret

    def json(self) -> Any:
        """Return the body parsed as JSON."""
        return json.loads(self.body)


class Received(Protocol):
    """The message that the handler works on; `Message` is one."""

    @property
    def id(self) -> str:
        """Return its id."""

    @property
    def queue(self) -> str:
        """Return the queue it came from."""

    @property
    def group_id(self) -> str | None:
        """Return its FIFO message group or session."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Return its headers."""


class Sender(Protocol):
    """A platform, as far as collecting needs it.

    `source` is the receiving queue's full address.
    """

    source: str

    def origin_of(self, message: Any) -> str:
        """Return the broker's id of the first original of the message."""

    def entry_of(self, message: Any, outgoing: Outgoing, headers: dict[str, str]) -> Any:
        """Return what is sent; raise ValueError for what the platform does not take."""

    def now(self) -> datetime:
        """Return the time."""


class InMemory:
    """A platform that takes everything: for a message that no endpoint runs, as in a unit test."""

    source = ""

    def origin_of(self, message: Received) -> str:
        """Return the message's id."""
        return message.id

    def entry_of(self, _message: Received, outgoing: Outgoing, _headers: dict[str, str]) -> Outgoing:
        """Return the outgoing message itself."""
        return outgoing

    def now(self) -> datetime:
        """Return the time."""
        return datetime.now(UTC)


class Outbox:
    """What one attempt has sent so far.

    Args:
        message: the message that the handler works on.
        sender: the platform.
    """

    def __init__(self, message: Any, sender: Sender) -> None:
        self._message, self._sender = message, sender
        self._lock, self._ended = Lock(), False
        self._equal: dict[str, int] = {}
        self.collected: list[Outgoing] = []
        self.entries: list[Any] = []

    def add(self, outgoing: Outgoing) -> None:
        """Add one message, with its identity and headers.

        Raises:
            RuntimeError: the attempt has ended.
            ValueError: the platform does not take such a message.
        """
        with self._lock:
            if self._ended:
                raise ended(self._message)
            content = content_of(outgoing)
            number = self._equal.get(content, 0)
            named = outgoing
            if outgoing.message_id is None:
                parts = [self._sender.source, self._sender.origin_of(self._message), content, number]
                named = outgoing.__replace__(message_id=sha256(json.dumps(parts).encode()).hexdigest())
            headers = headers_of(self._message, named, self._sender.now())
            entry = self._sender.entry_of(self._message, named, headers)
            self._equal[content] = number + 1
            self.collected.append(named.__replace__(headers=MappingProxyType(headers)))
            self.entries.append(entry)

    def close(self) -> list[Any]:
        """Return the entries to send; from now on nothing is added."""
        with self._lock:
            self._ended = True
            return self.entries


def collect(message: Any, intent: Intent, destination: str, body: object, **options: Any) -> None:
    """Add a message to what the attempt sends; see `Message.send`."""
    outgoing = checked(intent, destination, body, **options)
    outbox_of(message).add(outgoing)


def collected(message: Any) -> tuple[Outgoing, ...]:
    """Return what the attempt has sent so far; see `Message.outgoing`."""
    outbox = getattr(message, "_outbox", None)
    return tuple(outbox.collected) if isinstance(outbox, Outbox) else ()


_OPENING = Lock()


def outbox_of(message: Any) -> Outbox:
    """Return the outbox of the attempt that works on the message; the first call opens it.

    Raises:
        RuntimeError: the attempt has ended.
    """
    opener = getattr(message, "_outbox", None)
    if isinstance(opener, Outbox):
        return opener
    if opener is False:
        raise ended(message)
    sender: Sender = InMemory() if opener is None else opener.sender()
    with _OPENING:  # other threads of the handler
        current = getattr(message, "_outbox", None)
        if isinstance(current, Outbox):
            return current
        outbox = Outbox(message, sender)
        # no call and no jump back between the look and the assignment, so that no thread ends the attempt between them
        if opener is None or message._outbox is opener:  # noqa: SLF001  # the slot is for this module
            message._outbox = outbox  # noqa: SLF001  # as above
            return outbox
    raise ended(message)


def ended(message: Received) -> RuntimeError:
    """Return the error for a message that is sent too late."""
    return RuntimeError(
        f"the attempt on message '{message.id}' has ended, and nothing more is sent for it; wait in the handler for the threads and tasks that send"
    )


def checked(
    intent: Intent,
    destination: object,
    body: object,
    *,
    headers: Mapping[str, str] | None = None,
    attributes: Mapping[str, Any] | None = None,
    delay: timedelta | None = None,
    group_id: str | None = None,
    message_id: str | None = None,
) -> Outgoing:
    """Return a snapshot of what is sent.

    Raises:
        TypeError: a part of another kind; a body that is neither text nor bytes nor JSON.
        ValueError: a blank or empty part, a delay out of range, or a header that is not the handler's to set.
    """
    call = f"Message.{intent.lower()}"
    wanted = "the name of a queue" if intent == "Send" else "the name of a topic"
    for name, value in (("group_id", group_id), ("message_id", message_id)):
        if value is not None:
            checked_queue(f"{call}({name})", value, f"a text of 1 to {LONGEST_ID} characters")
            if len(value) > LONGEST_ID:
                raise ValueError(f"{call}({name}) has {len(value)} characters; write at most {LONGEST_ID}")
    return Outgoing(
        intent,
        checked_queue(f"{call}({'queue' if intent == 'Send' else 'topic'})", destination, wanted),
        snapshot(call, body),
        headers=checked_headers(call, headers or {}),
        attributes=MappingProxyType(dict(attributes or {})),
        delay=NO_DELAY if delay is None else checked_delay(f"{call}(delay)", delay, MAX_DELAY),
        group_id=group_id,
        message_id=message_id,
    )


def snapshot(call: str, body: object) -> str | bytes:
    """Return the body as text or bytes, as it is at this moment."""
    if isinstance(body, bytes | bytearray | memoryview):
        content: str | bytes = bytes(body)
    elif isinstance(body, str):
        content = body
    else:
        try:
            content = json.dumps(body)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{call}(body) is a {type(body).__name__} that is no JSON ({error}); write text, bytes or JSON"
            ) from error
    if not content:
        raise ValueError(f"{call}(body) is empty; write at least one character")
    return content


def checked_headers(call: str, headers: Mapping[Any, Any]) -> Mapping[str, str]:
    """Return the headers, unless they are no texts or say what only recovery and this module may say."""
    for name, text in headers.items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise TypeError(f"{call}(headers) has {name!r} of type {type(text).__name__}; write names and texts")
        if name in SET_HERE or name.startswith((OWN, *FAULTS)):
            raise ValueError(
                f"{call}(headers) has {name!r}, which is set for each message; leave it out, and write an id as message_id="
            )
    return MappingProxyType(dict(headers))


def content_of(outgoing: Outgoing) -> str:
    """Return a digest of destination and content. A delay is no content: it is often reckoned from the time of the attempt."""
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


def headers_of(message: Received, outgoing: Outgoing, now: datetime) -> dict[str, str]:
    """Return the headers of an outgoing message, which say what it follows from, as NServiceBus writes them; the handler's own are over them."""
    incoming = message.headers
    trace = current_trace() or {name: incoming[name] for name in (TRACE_PARENT, TRACE_STATE) if name in incoming}
    return {
        MESSAGE_ID: outgoing.message_id or "",
        TIME_SENT: write_date(now),
        MESSAGE_INTENT: outgoing.intent,
        ORIGINATING_ENDPOINT: message.queue,
        CONVERSATION_ID: incoming.get(CONVERSATION_ID) or message.id,
        CORRELATION_ID: incoming.get(CORRELATION_ID) or message.id,
        RELATED_TO: message.id,
        **trace,
        **outgoing.headers,
    }


def current_trace() -> dict[str, str]:
    """Return the current span as a header, where the application has loaded OpenTelemetry; else none."""
    api = sys.modules.get("opentelemetry.trace")
    if api is None:
        return {}
    context = api.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {TRACE_PARENT: f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"}
