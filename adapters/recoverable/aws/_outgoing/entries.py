"""Make entries of outgoing messages, for SendMessageBatch and PublishBatch, and refuse what SQS and SNS do not take."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Decimal
from math import ceil
from typing import Any, NamedTuple, TypeAlias

from recoverable._message import Message, received
from recoverable._outgoing.message import Outgoing
from recoverable._sqs.queues import Queue
from recoverable._sqs.topics import Topic
from recoverable._sqs.wire import ATTRIBUTE_NAME, HEADERS, TEXT
from recoverable.aws._copies import MAX_ATTRIBUTES, MAX_SIZE, Entry

LONGEST_DELAY = timedelta(minutes=15)
"""SQS delays a message by 15 minutes at most (Amazon SQS delay queues)."""

MAX_TOPIC_SIZE = 262_144
"""Bytes a message to a topic, and a batch of them, can have (Amazon SNS quotas)."""

ID = r"[A-Za-z0-9!-/:-@\[-`{-~]{1,128}"
"""A MessageGroupId or a MessageDeduplicationId (SendMessage)."""

NUMBER = r"[-+.0-9eE]+"
"""The text of a number that is one, and neither infinite nor NaN (Amazon SQS message attributes)."""

Destination: TypeAlias = Queue | Topic


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


def most_bytes(to: Destination) -> int:
    """Return how many bytes one message to a destination may have, and all messages of one call."""
    return MAX_TOPIC_SIZE if isinstance(to, Topic) else MAX_SIZE


def full_name(queue: str, message: Message) -> str:
    """Return the queue's URL or ARN; a name is of the region and account of the queue that the message came from."""
    if queue.startswith(("arn:", "https://", "http://")):
        return queue
    return f"{received(message)['eventSourceARN'].rpartition(':')[0]}:{queue}"


def text_of(call: str, body: str | bytes) -> str:
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
    return {name: attribute(call, name, value) for name, value in outgoing.attributes.items()}


def attribute(call: str, name: object, value: object) -> Entry:
    """Return one attribute by the type of its value: text, number or bytes."""
    if not isinstance(name, str) or not re.fullmatch(ATTRIBUTE_NAME, name) or name == HEADERS:
        raise ValueError(
            f"{call}(attributes) has {name!r}, which is no name that SQS takes from you; write letters, digits, '-', '_' and '.'"
        )
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


def addressed(call: str, message: Message, outgoing: Outgoing, to: Destination) -> dict[str, Any]:
    """Return delay, group and deduplication id, as far as the kind of destination has them."""
    group = outgoing.group_id or (message.group_id if to.fifo else None)
    if group is not None and not re.fullmatch(ID, group):
        raise ValueError(f"{call}(group_id) is {group!r}; write 1 to 128 letters, digits and punctuation")
    if not to.fifo:
        seconds = {"DelaySeconds": min(ceil(outgoing.delay.total_seconds()), 900)} if isinstance(to, Queue) else {}
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
