"""Show a message of an SQS queue as tests see it."""

from __future__ import annotations

from datetime import datetime, timedelta

from recoverable import headers
from recoverable.aws.wire import HEADERS, wire_of
from recoverable_local.testing.aws.broker.queues import Settings
from recoverable_local.testing.aws.broker.stored import Stored
from recoverable_local.testing.aws.functions.records import to_record
from recoverable_local.testing.seen_message import SeenMessage


def to_seen_message(message: Stored, queue: Settings, start: datetime) -> SeenMessage:
    """Return the message as tests see it."""
    wire = wire_of(to_record(message, queue, start))
    return SeenMessage(
        id=wire.headers.get(headers.MESSAGE_ID) or message.id,
        broker_id=message.id,
        queue=queue.name,
        data=message.body.encode(errors="surrogatepass"),
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
