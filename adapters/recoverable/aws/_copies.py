"""Make a copy of a delivery as an entry for SendMessageBatch that SQS takes. Pure functions."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Mapping
from hashlib import sha256
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from recoverable._ladder.delivery import Delivery
from recoverable._ladder.faults import FIRST_TO_TRIM, REMOVED_WHOLE, TIME_OF_FAILURE
from recoverable._ladder.settlement import Forward
from recoverable._sqs.queues import Queue
from recoverable._sqs.wire import FOLDED, HEADERS, POINTER_SIZES, S3_BODY_KEY, TEXT, Wire, wire_of
from recoverable.headers import ORIGIN

if TYPE_CHECKING:
    from recoverable._sqs.wire import Attributes

MAX_ATTRIBUTES = 10
"""Attributes a message can have (Amazon SQS message quotas)."""

MAX_SIZE = 1_048_576
"""Bytes a message, and a batch of them, can have, attributes included (Amazon SQS message quotas)."""

MAX_ENTRIES = 10
"""Entries a batch can have (SendMessageBatch)."""

Entry = dict[str, Any]


class Copy(NamedTuple):
    """A copy to send.

    It has its original, its queue, its headers and attributes, and these as an entry without its batch's Id.
    """

    delivery: Delivery
    to: Queue
    wire: Wire
    entry: Entry


def copy_of(
    delivery: Delivery, forward: Forward, *, source: Queue, to: Queue, where: Mapping[str, str] | None = None
) -> Copy | None:
    """Return the copy: the same body and attributes, with the headers changed.

    Return None when it is too large even without fault headers.

    Args:
        delivery: the message.
        forward: its queue and its headers.
        source: the queue that the message came from.
        to: the queue of the copy.
        where: headers of a copy that has fault headers: where it failed.
    """
    record = delivery.native
    wire = changed(wire_of(record), forward)
    if where and TIME_OF_FAILURE in forward.changes:
        wire.headers.update(where)
    wire.headers.setdefault(ORIGIN, record["messageId"])  # so that what its handler sends again has the same identity
    room = [name for name in FIRST_TO_TRIM if any(header.startswith(name) for header in wire.headers)]
    while size(entry := entry_of(record, wire)) > MAX_SIZE:
        if room:
            trim(wire.headers, room.pop(0), size(entry) - MAX_SIZE)
        elif not wire.headers.pop(ORIGIN, None):
            return None
    return Copy(delivery, to, wire, entry | addressed(delivery, forward, source, to))


def without_faults(copy: Copy) -> Copy | None:
    """Return the copy without the fault headers that may be trimmed; None when it has none of them."""
    kept = {name: text for name, text in copy.wire.headers.items() if not name.startswith(FIRST_TO_TRIM)}
    if len(kept) == len(copy.wire.headers):
        return None
    wire = Wire(copy.wire.body, kept, copy.wire.attributes, copy.wire.wrapper)
    return copy._replace(wire=wire, entry=copy.entry | entry_of(copy.delivery.native, wire))


def changed(wire: Wire, forward: Forward) -> Wire:
    """Return the record with the headers changed.

    A changed header replaces an attribute of its name, for it is newer.
    """
    headers = {name: text for name, text in {**wire.headers, **forward.changes}.items() if text is not None}
    attributes = {name: value for name, value in wire.attributes.items() if name not in forward.changes}
    return Wire(wire.body, headers, attributes, wire.wrapper)


def entry_of(record: dict[str, Any], wire: Wire) -> Entry:
    """Return body and attributes; the headers go where they came from, into the wrapper or into the one attribute."""
    if wire.wrapper is not None:
        kept, overflow = folded(wire.attributes, MAX_ATTRIBUTES)
        return {
            "MessageBody": in_json({**wire.wrapper, "Headers": wire.headers | overflow}),
            "MessageAttributes": typed(kept),
        }
    kept, overflow = folded(wire.attributes, MAX_ATTRIBUTES - 1)
    ours = {"stringValue": in_json(wire.headers | overflow), "dataType": "String"}
    return {"MessageBody": record["body"], "MessageAttributes": typed(kept | {HEADERS: ours})}


def in_json(value: object) -> str:
    """Return the value as JSON.

    Its characters are escaped only where SQS does not take one, for that may double the size.
    """
    text = json.dumps(value, ensure_ascii=False)
    return text if re.fullmatch(TEXT, text) else json.dumps(value)


def folded(attributes: Attributes, room: int) -> tuple[Attributes, dict[str, str]]:
    """Return the attributes that there is room for, and the header that carries the others.

    What says where the body is stays an attribute, for other readers of the queue.
    """
    if len(attributes) <= room:
        return attributes, {}
    names = sorted(attributes, key=lambda name: name not in {*POINTER_SIZES, S3_BODY_KEY})
    return {name: attributes[name] for name in names[:room]}, {
        FOLDED: json.dumps({name: attributes[name] for name in names[room:]})
    }


def typed(attributes: Attributes) -> Entry:
    """Return the attributes in boto3's form: types and labels as they came, binary values as bytes."""
    return {name: typed_value(value) for name, value in attributes.items()}


def typed_value(value: dict[str, Any]) -> Entry:
    """Return one attribute in boto3's form."""
    kind = value.get("dataType") or "String"
    if kind.partition(".")[0] == "Binary":
        return {"DataType": kind, "BinaryValue": b64decode(value.get("binaryValue") or "")}
    return {"DataType": kind, "StringValue": value.get("stringValue") or ""}


def addressed(delivery: Delivery, forward: Forward, source: Queue, to: Queue) -> Entry:
    """Return delay, group and deduplication id, as far as the kind of queue has them."""
    group = delivery.message.group_id
    if to.fifo:
        return {
            "MessageGroupId": group or delivery.native["messageId"],
            "MessageDeduplicationId": identity(delivery, source, to),
        }
    seconds = ceil(forward.delay.total_seconds())  # never early; 0 is sent too, for a queue has a default delay
    return {"DelaySeconds": seconds} | ({"MessageGroupId": group} if group else {})


def identity(delivery: Delivery, source: Queue, to: Queue) -> str:
    """Return a copy's own id, without counters.

    So one original makes at most one copy per destination where the broker deduplicates.
    """
    parts = (source.region, source.account, source.name, delivery.native["messageId"], to.account, to.name)
    return sha256("\n".join(parts).encode()).hexdigest()


def size(entry: Entry) -> int:
    """Return the bytes of an entry as SQS counts them: the body, and each attribute's name, type and value."""
    total = len(entry["MessageBody"].encode())
    for name, value in entry["MessageAttributes"].items():
        content = value.get("BinaryValue") or value.get("StringValue", "").encode()
        total += len(name.encode()) + len(value["DataType"].encode()) + len(content)
    return total


def trim(headers: dict[str, str], beginning: str, excess: int) -> None:
    """Cut as many characters as the excess has bytes from the headers whose names begin so; remove empty ones."""
    for name in [name for name in headers if name.startswith(beginning)]:
        text = headers[name]
        headers[name] = "" if name in REMOVED_WHOLE else text[: max(len(text) - excess, 0)]
        excess -= len(text) - len(headers[name])
        if not headers[name]:
            del headers[name]


def batches(copies: list[Copy]) -> list[list[Copy]]:
    """Return the copies in batches that SQS takes: to one queue, ten entries and 1 MiB at most."""
    result: list[list[Copy]] = []
    total = 0
    for copy in sorted(copies, key=lambda copy: (copy.to.region, copy.to.account, copy.to.name)):
        weight = size(copy.entry)
        last = result[-1] if result else []
        if not last or last[0].to != copy.to or len(last) == MAX_ENTRIES or total + weight > MAX_SIZE:
            result.append([])
            total = 0
        result[-1].append(copy)
        total += weight
    return result
