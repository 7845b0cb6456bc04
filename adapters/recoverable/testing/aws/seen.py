"""A message in a queue as a test sees it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ... import faults, headers
from ...aws.wire import HEADERS, wire_of
from .queues import Settings
from .records import to_record
from .stored import Stored


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenMessage:
    """A message that is in a queue now; looking changes nothing.

    Args:
        id: the message's id, which stays the same over its copies.
        broker_id: the broker's id of this copy.
        queue: the queue's name.
        body: its text.
        attributes: the sender's own attributes: text, numbers as text, or bytes.
        headers: what `recoverable` and NServiceBus have written on it.
        receive_count: how often the broker has handed it out.
        group_id: its message group.
        sent_at: when this copy was sent.
        visible_at: when it can be received.
    """

    id: str
    broker_id: str
    queue: str
    body: str
    attributes: Mapping[str, str | bytes]
    headers: Mapping[str, str]
    receive_count: int
    group_id: str | None
    sent_at: datetime
    visible_at: datetime

    def json(self) -> Any:
        """What the body says as JSON."""
        return json.loads(self.body)

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


def seen(message: Stored, queue: Settings, start: datetime) -> SeenMessage:
    """The message as a test sees it."""
    wire = wire_of(to_record(message, queue, start))
    return SeenMessage(
        id=wire.headers.get(headers.MESSAGE_ID) or message.id,
        broker_id=message.id,
        queue=queue.name,
        body=message.body,
        attributes={
            name: value.get("BinaryValue") or value.get("StringValue") or ""
            for name, value in message.attributes.items()
            if name != HEADERS
        },
        headers=wire.headers,
        receive_count=message.receives,
        group_id=message.group,
        sent_at=start + timedelta(seconds=message.sent_at),
        visible_at=start + timedelta(seconds=message.visible_at),
    )
