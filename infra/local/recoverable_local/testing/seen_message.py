"""Define a message as tests see it, on either cloud."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recoverable import headers
from recoverable._ladder import faults


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenMessage:
    """A message that is in a queue now; reading it changes nothing.

    Args:
        id: the message's id, which stays the same over its copies.
        broker_id: the broker's id of this copy.
        queue: the queue's name.
        data: the bytes of its body.
        attributes: the sender's own attributes or properties; numbers are texts on SQS.
        headers: what `recoverable` and NServiceBus have written on it.
        receive_count: how often the broker has handed it out.
        group_id: its message group or session.
        sent_at: when this copy was sent.
        visible_at: when it can be received.
        fields: what else a sender may set on Service Bus, such as `correlation_id`, by the SDK's names.
    """

    id: str
    broker_id: str
    queue: str
    data: bytes
    attributes: Mapping[str, Any]
    headers: Mapping[str, str]
    receive_count: int
    group_id: str | None
    sent_at: datetime
    visible_at: datetime
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def body(self) -> str:
        """Return the body as text; bytes that are not UTF-8 are replaced."""
        return self.data.decode(errors="replace")

    def json(self) -> Any:
        """Parse the body as JSON."""
        return json.loads(self.data)

    @property
    def exception_type(self) -> str | None:
        """Return the full name of the exception that moved the message to the error queue."""
        return self.headers.get(faults.EXCEPTION_TYPE)

    @property
    def exception_message(self) -> str | None:
        """Return the text of that exception."""
        return self.headers.get(faults.EXCEPTION_MESSAGE)

    @property
    def stack_trace(self) -> str | None:
        """Return the stack trace of that exception."""
        return self.headers.get(faults.STACK_TRACE)

    @property
    def failed_queue(self) -> str | None:
        """Return the queue where the message failed; a redrive sends it back there."""
        return self.headers.get(faults.FAILED_QUEUE)

    @property
    def delayed_retries(self) -> int:
        """Return the number of delayed retries made so far."""
        return headers.read_count(self.headers, headers.DELAYED_RETRIES)
