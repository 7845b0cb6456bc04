"""Show a message of an SQS queue as tests see it."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from recoverable import headers
from recoverable._sqs.wire import wire_of
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
        data=wire.record["body"].encode(errors="surrogatepass"),
        attributes={name: value_of(value) for name, value in wire.attributes.items()},
        headers=wire.headers,
        receive_count=message.receives,
        group_id=message.group,
        sent_at=start + timedelta(seconds=message.sent_at),
        visible_at=start + timedelta(seconds=message.visible_at),
    )


def value_of(attribute: Mapping[str, Any]) -> str | bytes:
    """Return the value of an attribute of the sender's, by its type; also of one that is kept in a header, for lack of room among SQS's ten."""
    if str(attribute.get("dataType")).startswith("Binary"):
        return b64decode(attribute.get("binaryValue") or "")
    return str(attribute.get("stringValue") or "")
