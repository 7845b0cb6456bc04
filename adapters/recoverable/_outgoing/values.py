"""Define an outgoing message, and the error for one that is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypedDict

from recoverable._frozen import Frozen, field
from recoverable._limits import NO_DELAY

Intent: TypeAlias = Literal["Send", "Publish"]
NOTHING: Mapping[str, Any] = MappingProxyType({})


class SendOptions(TypedDict, total=False):
    """Options of `Message.send` and `Message.publish`, documented there."""

    headers: Mapping[str, str] | None
    attributes: Mapping[str, Any] | None
    delay: timedelta | None
    group_id: str | None
    message_id: str | None


class OutgoingRefused(Exception):
    """Raised for an attempt whose outgoing message was refused for good; it is a failed attempt as any other.

    Such as by a queue that does not exist, or one to which the function may not send.
    """

    __module__ = "recoverable"  # the name under which users import it


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
    headers: Mapping[str, str] = field(default=NOTHING, kw_only=True)
    attributes: Mapping[str, Any] = field(default=NOTHING, kw_only=True)
    delay: timedelta = field(default=NO_DELAY, kw_only=True)
    group_id: str | None = field(default=None, kw_only=True)
    message_id: str | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        return f"Outgoing({self.intent!r}, {self.destination!r}, message_id={self.message_id!r})"  # no body: it may be secret

    def json(self) -> Any:
        """Return the body parsed as JSON."""
        return json.loads(self.body)
