"""Make a copy of a delivery as an entry for SendMessageBatch that SQS takes. Pure functions."""

from __future__ import annotations

from hashlib import sha256
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from recoverable._ladder.faults import CONTENT, FIRST_TO_TRIM, REMOVED_WHOLE, TIME_OF_FAILURE
from recoverable._sqs.batches import MAX_SIZE, size
from recoverable._sqs.wire import Wire, changed, entry_of, plain_entry, wire_of
from recoverable.headers import FAILED_QUEUE_ADDRESS, LOG_GROUP, LOG_STREAM, ORIGIN, REQUEST_ID, VERSION

if TYPE_CHECKING:
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Forward
    from recoverable._sqs.batches import Entry
    from recoverable._sqs.queues import Queue
    from recoverable._sqs.wire import Record


class Copy(NamedTuple):
    """A copy to send.

    Args:
        delivery: its original.
        forward: what was decided about that.
        to: its queue.
        wire: its headers and attributes.
        entry: these as an entry, without its batch's Id.
        weight: the bytes of the entry.
    """

    delivery: Delivery
    forward: Forward
    to: Queue
    wire: Wire
    entry: Entry
    weight: int


def copy_of(delivery: Delivery, forward: Forward, *, source: Queue, to: Queue, context: object = None) -> Copy | None:
    """Return the copy: the same body and attributes, with the headers changed.

    Return None when it is too large even without fault headers.

    Args:
        delivery: the message.
        forward: its queue and its headers.
        source: the queue that the message came from.
        to: the queue of the copy.
        context: Lambda's, which knows the request, the log and the function's version of the last attempt.
    """
    record = delivery.native
    sent = wire_of(record)
    wire = changed(sent, forward.changes)
    if forward.changes.get(TIME_OF_FAILURE):
        wire.headers.update(place_of_failure(record, context))
    wire.headers.setdefault(ORIGIN, record["messageId"])  # so that what its handler sends again has the same identity
    trimmed = (*(name for name in CONTENT if name not in sent.headers), *FIRST_TO_TRIM)
    room = [name for name in trimmed if any(header.startswith(name) for header in wire.headers)]
    while (weight := size(entry := entry_of(wire))) > MAX_SIZE:
        if room:
            trim(wire.headers, room.pop(0), weight - MAX_SIZE)
        elif not wire.headers.pop(ORIGIN, None):
            return None
    return Copy(delivery, forward, to, wire, entry | addressed(delivery, forward, source, to), weight)


def place_of_failure(record: Record, context: object) -> dict[str, str]:
    """Return the headers that say where a message failed: its queue, and the request, log and function version of its last attempt."""
    found = {
        FAILED_QUEUE_ADDRESS: record.get("eventSourceARN"),
        REQUEST_ID: getattr(context, "aws_request_id", None),
        LOG_GROUP: getattr(context, "log_group_name", None),
        LOG_STREAM: getattr(context, "log_stream_name", None),
        VERSION: getattr(context, "function_version", None),
    }
    return {name: text for name, text in found.items() if isinstance(text, str) and text}


def without_faults(copy: Copy) -> Copy | None:
    """Return the copy without the fault headers that may be trimmed; None when it has none of them."""
    faults = [name for name in copy.wire.headers if name.startswith(FIRST_TO_TRIM)]
    if not faults:
        return None
    wire = changed(copy.wire, dict.fromkeys(faults))
    entry = copy.entry | plain_entry(wire)
    return copy._replace(wire=wire, entry=entry, weight=size(entry))


def addressed(delivery: Delivery, forward: Forward, source: Queue, to: Queue) -> Entry:
    """Return delay, group and deduplication id, as far as the kind of queue has them."""
    group = delivery.native["attributes"].get("MessageGroupId")
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


def trim(headers: dict[str, str], beginning: str, excess: int) -> None:
    """Cut as many characters as the excess has bytes from the headers whose names begin so; remove empty ones."""
    for name in [name for name in headers if name.startswith(beginning)]:
        text = headers[name]
        headers[name] = "" if name in REMOVED_WHOLE else text[: max(len(text) - excess, 0)]
        excess -= len(text) - len(headers[name])
        if not headers[name]:
            del headers[name]
