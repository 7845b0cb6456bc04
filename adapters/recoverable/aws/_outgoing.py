"""Take an outgoing message when the handler sends it: make its entry for SendMessageBatch or PublishBatch, and refuse what SQS and SNS do not take."""

from __future__ import annotations

import re
from datetime import datetime
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from recoverable._message import Message, received
from recoverable._outgoing.message import Outgoing
from recoverable._sqs.batches import MAX_SIZE, Entry, size
from recoverable._sqs.names import Destination, Topic, destination, topic_of
from recoverable._sqs.queues import LONGEST_DELAY, Queue
from recoverable._sqs.wire import ATTRIBUTE_NAME, HEADERS, MAX_ATTRIBUTES, TEXT, headers_in_json
from recoverable.headers import ORIGIN

if TYPE_CHECKING:
    from collections.abc import Callable

TOPIC_BATCH = 262_144
"""Bytes of a call to a topic whose MaximumMessageSize was not set, 1,024 to 1,048,576 ("Publishing large messages with Amazon SNS"). A larger
message goes alone, and the topic's answer decides.
"""

ID = r"[A-Za-z0-9!-/:-@\[-`{-~]{1,128}"
"""A MessageGroupId or a MessageDeduplicationId (SendMessage)."""

NUMBER = r"[-+.0-9eE]+"
"""The text of a number that is one, and neither infinite nor NaN (Amazon SQS message attributes)."""


class SqsSender:
    """SQS and SNS, as far as collecting outgoing messages needs them.

    Args:
        queue: the queue that the messages came from.
        clock: returns the time.
        make_client: makes the client for a destination, in the handler's time and not in what is kept for settling.
        stores_delays: True if there is a store for delays that SQS cannot do.
    """

    def __init__(
        self,
        queue: Queue,
        clock: Callable[[], datetime],
        make_client: Callable[[Destination], object],
        *,
        stores_delays: bool,
    ) -> None:
        self._queue, self.now, self._make_client, self._stores_delays = queue, clock, make_client, stores_delays
        self.source = f"{queue.region}/{queue.account}/{queue.name}"

    def origin_of(self, message: Message) -> str:
        """Return the message id that SQS gave to the first original."""
        return message.headers.get(ORIGIN) or str(received(message)["messageId"])

    def entry_of(self, message: Message, outgoing: Outgoing, headers: dict[str, str]) -> Letter:
        """Return the letter.

        Raises:
            TypeError: an attribute of another kind.
            ValueError: SQS or SNS does not take such a message.
        """
        call = f"Message.{outgoing.intent.lower()}"
        find = topic_of if outgoing.intent == "Publish" else destination
        to: Destination = find(outgoing.destination, self._queue)
        entry: Entry = {
            "MessageBody": body_text(call, outgoing.body),
            "MessageAttributes": {
                **attributes_of(call, outgoing),
                HEADERS: {"StringValue": headers_in_json(headers), "DataType": "String"},
            },
        }
        if (weight := size(entry)) > MAX_SIZE:
            raise ValueError(
                f"{call}(body) makes a message of {weight:,} bytes with its headers and attributes; '{to.name}' takes {MAX_SIZE:,}"
            )
        due_at = self._check_delay(call, outgoing, to)
        entry |= addressing_of(call, message, outgoing, to)
        if isinstance(to, Topic):
            entry["Message"] = entry.pop("MessageBody")
        self._make_client(to)
        group = entry.get("MessageGroupId") if to.fifo else None
        stored = (full_name(outgoing.destination, message), due_at) if due_at else None
        return Letter(to, entry, weight, group, stored, outgoing.message_id or "")

    def _check_delay(self, call: str, outgoing: Outgoing, to: Destination) -> datetime | None:
        """Return when a message is due whose delay SQS cannot do; None when it can."""
        if isinstance(to, Topic) and outgoing.delay:
            raise ValueError(f"{call}(delay) is {outgoing.delay}; SNS delays nothing: send to a queue instead")
        if not outgoing.delay or (not to.fifo and outgoing.delay <= LONGEST_DELAY):
            return None
        if not self._stores_delays:
            what = "a FIFO queue delays no single message" if to.fifo else "SQS delays a message by 15 minutes at most"
            raise ValueError(
                f"{call}(delay) is {outgoing.delay}; {what}: write SqsEndpoint(timeouts=Timeouts(store)) for more"
            )
        return self.now() + outgoing.delay


class Letter(NamedTuple):
    """One outgoing message, ready to be sent.

    Args:
        to: the queue or topic.
        entry: the entry, without its batch's Id.
        weight: its bytes.
        group: its message group where the destination keeps the order of groups; else None.
        stored: its queue's URL or ARN, and when it is due, if it must be stored until then; else None.
        identity: its id.
    """

    to: Destination
    entry: Entry
    weight: int
    group: str | None
    stored: tuple[str, datetime] | None
    identity: str


def batch_bytes(to: Destination) -> int:
    """Return how many bytes the messages of one call to a destination may have."""
    return TOPIC_BATCH if isinstance(to, Topic) else MAX_SIZE


def full_name(queue: str, message: Message) -> str:
    """Return the queue's URL or ARN; a name is of the region and account of the queue that the message came from."""
    if queue.startswith(("arn:", "https://", "http://")):
        return queue
    return f"{received(message)['eventSourceARN'].rpartition(':')[0]}:{queue}"


def body_text(call: str, body: str | bytes) -> str:
    """Return the body as a text that SQS and SNS carry."""
    try:
        text = body if isinstance(body, str) else body.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{call}(body) is bytes that are no UTF-8, which SQS cannot carry; encode them, such as by base64"
        ) from error
    if not re.fullmatch(TEXT, text):
        raise ValueError(f"{call}(body) holds a character that SQS cannot carry; encode it, such as by JSON")
    return text


def attributes_of(call: str, outgoing: Outgoing) -> Entry:
    """Return the handler's attributes in boto3's form, nine at most, for the tenth is this package's."""
    if len(outgoing.attributes) > MAX_ATTRIBUTES - 1:
        raise ValueError(
            f"{call}(attributes) has {len(outgoing.attributes)}; write at most {MAX_ATTRIBUTES - 1}, for SQS takes ten and one holds the headers"
        )
    return {name: attribute_entry(call, name, value) for name, value in outgoing.attributes.items()}


def attribute_entry(call: str, name: object, value: object) -> Entry:
    """Return one attribute by the type of its value: text, number or bytes."""
    if not isinstance(name, str) or not re.fullmatch(ATTRIBUTE_NAME, name) or name == HEADERS:
        raise ValueError(
            f"{call}(attributes) has {name!r}, which is no name that SQS takes from you; write letters, digits, '-', '_' and '.'"
        )
    from decimal import Decimal  # noqa: PLC0415  # dear at cold start

    match value:
        case bytes() if value:
            return {"DataType": "Binary", "BinaryValue": value}
        case str() if re.fullmatch(TEXT, value):
            return {"DataType": "String", "StringValue": value}
        case bool():
            pass
        case int() | float() | Decimal() if re.fullmatch(NUMBER, str(value)):
            return {"DataType": "Number", "StringValue": str(value)}
        case str() | bytes():
            raise ValueError(f"{call}(attributes) has an empty {name!r}, or one with a character that SQS cannot carry")
        case float() | Decimal():
            raise ValueError(f"{call}(attributes) has {name!r} of {value}, which is no number; leave it out")
        case _:
            pass
    raise TypeError(f"{call}(attributes) has {name!r} of type {type(value).__name__}; write text, a number or bytes")


def addressing_of(call: str, message: Message, outgoing: Outgoing, to: Destination) -> dict[str, Any]:
    """Return delay, group and deduplication id, as far as the kind of destination has them."""
    group = outgoing.group_id or (message.group_id if to.fifo else None)
    if group is not None and not re.fullmatch(ID, group):
        raise ValueError(f"{call}(group_id) is {group!r}; write 1 to 128 letters, digits and punctuation")
    if not to.fifo:
        delay = outgoing.delay if isinstance(to, Queue) else None
        seconds = {} if delay is None else {"DelaySeconds": min(ceil(delay.total_seconds()), 900)}
        return seconds | ({"MessageGroupId": group} if group else {})
    if group is None:
        raise ValueError(
            f"{call}(group_id) is missing; '{to.name}' is FIFO and the message came from no group: write one"
        )
    if not re.fullmatch(ID, outgoing.message_id or ""):
        raise ValueError(
            f"{call}(message_id) is {outgoing.message_id!r}; a FIFO queue takes 1 to 128 letters, digits and punctuation"
        )
    return {"MessageGroupId": group, "MessageDeduplicationId": outgoing.message_id}
