"""Check an outgoing message when the handler sends it, as far as all platforms ask the same, and take a snapshot of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from recoverable._limits import MAX_DELAY, NO_DELAY, checked_delay, checked_queue
from recoverable._outgoing.values import Intent, Outgoing
from recoverable.headers import MESSAGE_ID, RETRY_HEADERS, TIME_SENT

LONGEST_ID = 128
"""Characters of an id: SQS takes as many of a MessageDeduplicationId, and Service Bus of a MessageId."""

OWN = "Recoverable."
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
        attributes=checked_attributes(call, attributes or {}),
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
            content = json.dumps(body, allow_nan=False)  # else it writes NaN, which is no JSON
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
        refuse_own_name(f"{call}(headers)", name)
    return MappingProxyType(dict(headers))


def checked_attributes(call: str, attributes: Mapping[Any, Any]) -> Mapping[str, Any]:
    """Return the attributes, unless one would be read as a header that only recovery and this module may write.

    Such as those of an incoming message that is a copy: what is sent would have no retry left, or the identity of another.
    """
    for name in attributes:
        refuse_own_name(f"{call}(attributes)", name)
    return MappingProxyType(dict(attributes))


def refuse_own_name(part: str, name: object) -> None:
    """Raise ValueError for a name that is set for each message."""
    if isinstance(name, str) and (name in SET_HERE or name.startswith((OWN, *FAULTS))):
        raise ValueError(
            f"{part} has {name!r}, which is set for each message; leave it out, and write an id as message_id="
        )
