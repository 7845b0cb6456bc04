"""Define an outgoing message and the error for one that is refused, and check what a handler sends, as far as all platforms ask the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypedDict

from recoverable._frozen import Frozen, field
from recoverable._limits import MAX_DELAY, checked_delay, checked_queue
from recoverable.headers import CONTENT_TYPE, ENCLOSED_MESSAGE_TYPES, MESSAGE_ID, OWN, RETRY_HEADERS, TIME_SENT

Intent: TypeAlias = Literal["Send", "Publish", "Reply"]
NOTHING: Mapping[str, Any] = MappingProxyType({})


class SendOptions(TypedDict, total=False):
    """Options of `Message.send`, documented there, of `publish` and `reply`."""

    headers: Mapping[str, str] | None
    attributes: Mapping[str, Any] | None
    delay: timedelta | None
    group_id: str | None
    message_id: str | None
    message_type: str | None


class OutgoingRefused(Exception):
    """Raised for an attempt whose outgoing message was refused for good; it is a failed attempt as any other.

    Such as by a queue that does not exist, or one to which the function may not send.
    """

    __module__ = "recoverable"  # the name under which users import it


class Outgoing(Frozen):
    """A message that a handler sends.

    Args:
        intent: "Send" to a queue, "Publish" to a topic, "Reply" to the queue that the sender of a message named.
        destination: the queue or topic, as the handler named it.
        body: text or bytes.
        headers: further headers.
        attributes: message attributes (SQS, SNS) or application properties (Service Bus).
        delay: how long it waits; None for as long as the queue says.
        group_id: its FIFO message group or session.
        message_id: the id that the handler gave; None for one that is derived.
    """

    intent: Intent
    destination: str
    body: str | bytes
    headers: Mapping[str, str] = field(default=NOTHING, kw_only=True)
    attributes: Mapping[str, Any] = field(default=NOTHING, kw_only=True)
    delay: timedelta | None = field(default=None, kw_only=True)
    group_id: str | None = field(default=None, kw_only=True)
    message_id: str | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        return f"Outgoing({self.intent!r}, {self.destination!r}, message_id={self.message_id!r})"  # no body: it may be secret

    def json(self) -> Any:
        """Return the body parsed as JSON."""
        return json.loads(self.body)


LONGEST_ID = 128
"""Characters of an id: SQS takes as many of a MessageDeduplicationId, and Service Bus of a MessageId."""

FAULTS = ("NServiceBus.ExceptionInfo.", "NServiceBus.FailedQ", "NServiceBus.TimeOfFailure")
SET_HERE = {MESSAGE_ID, TIME_SENT, *RETRY_HEADERS}


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
    message_type: str | None = None,
) -> Outgoing:
    """Return a snapshot of what is sent.

    Raises:
        TypeError: a part of another kind; a body that is neither text nor bytes nor JSON.
        ValueError: a blank or empty part, a delay out of range, or a header that is not the handler's to set.
    """
    call = f"Message.{intent.lower()}"
    kind = "topic" if intent == "Publish" else "queue"
    typed = {}
    if message_type is not None:
        wanted = "the full name of a .NET type, such as Shop.PlaceOrder"
        checked_queue(f"{call}(message_type)", message_type, wanted)
        typed = {ENCLOSED_MESSAGE_TYPES: message_type, CONTENT_TYPE: "application/json"}
    for name, value in (("group_id", group_id), ("message_id", message_id)):
        if value is not None:
            checked_queue(f"{call}({name})", value, f"a text of 1 to {LONGEST_ID} characters")
            if len(value) > LONGEST_ID:
                raise ValueError(f"{call}({name}) has {len(value)} characters; write at most {LONGEST_ID}")
    named: Mapping[Any, Any] = headers or {}
    for name, text in named.items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise TypeError(f"{call}(headers) has {name!r} of type {type(text).__name__}; write names and texts")
    return Outgoing(
        intent,
        checked_queue(f"{call}({kind})", destination, f"the name of a {kind}"),
        snapshot(call, body),
        headers=without_own_names(f"{call}(headers)", {**typed, **named}),
        attributes=without_own_names(f"{call}(attributes)", attributes or {}),
        delay=None if delay is None else checked_delay(f"{call}(delay)", delay, MAX_DELAY),
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
            content = json.dumps(body, allow_nan=False)  # else it writes NaN, which is no JSON
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{call}(body) is a {type(body).__name__} that is no JSON ({error}); write text, bytes or JSON"
            ) from error
    if not content:
        raise ValueError(f"{call}(body) is empty; write at least one character")
    return content


def without_own_names(part: str, given: Mapping[Any, Any]) -> Mapping[str, Any]:
    """Return headers or attributes as they are now, unless one would be read as a header that only recovery and this module may write.

    Such as those of an incoming message that is a copy: what is sent would have no retry left, or the identity of another.
    """
    for name in given:
        if isinstance(name, str) and (name in SET_HERE or name.startswith((OWN, *FAULTS))):
            raise ValueError(
                f"{part} has {name!r}, which is set for each message; leave it out, and write an id as message_id="
            )
    return MappingProxyType(dict(given))
