"""A message in a queue as a test sees it, on either cloud."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recoverable import headers
from recoverable.recovery import faults


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenMessage:
    """A message that is in a queue now; looking changes nothing.

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
        """Its text; what is no UTF-8 is replaced."""
        return self.data.decode(errors="replace")

    def json(self) -> Any:
        """What the body says as JSON."""
        return json.loads(self.data)

    @property
    def exception_type(self) -> str | None:
        """The full name of the exception for which it was given up."""
        return self.headers.get(faults.EXCEPTION_TYPE)

    @property
    def exception_message(self) -> str | None:
        """What that exception said."""
        return self.headers.get(faults.EXCEPTION_MESSAGE)

    @property
    def stack_trace(self) -> str | None:
        """Where that exception was raised."""
        return self.headers.get(faults.STACK_TRACE)

    @property
    def failed_queue(self) -> str | None:
        """The queue in which it failed, to which a redrive sends it back."""
        return self.headers.get(faults.FAILED_QUEUE)

    @property
    def delayed_retries(self) -> int:
        """How many delayed retries it has behind it."""
        return headers.read_count(self.headers, headers.DELAYED_RETRIES)
