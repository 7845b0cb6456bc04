"""Make a copy of a delivery as a message that Service Bus takes. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from math import ceil
from typing import Any

from recoverable._ladder.delivery import Delivery
from recoverable._ladder.faults import CONTENT, FAILED_QUEUE, FIRST_TO_TRIM, TIME_OF_FAILURE
from recoverable._ladder.settlement import Forward
from recoverable._limits import NO_DELAY
from recoverable._service_bus.wire import Copy, add_where_room, changed, fit, in_milliseconds, origin_of
from recoverable.azure._messages import ARRAYS, aware, is_source
from recoverable.headers import FAILED_QUEUE_ADDRESS, FOLDED, ORIGIN, REFUSED_SENDS, sendable
from recoverable.nservicebus.folding import lost_in_header

LEAST_TIME_TO_LIVE = timedelta(seconds=60)
"""The shortest time to live of a copy after its delay."""

LONGEST_TIME_TO_LIVE = timedelta(days=49)
"""A message's time to live is sent as milliseconds in 32 bits. A copy that lives longer gets none: the queue's own then
counts."""


def copy_of(delivery: Delivery, forward: Forward, *, namespace: str, now: datetime) -> Copy:
    """Return the copy: the same body, properties and fields, with the headers changed.

    Args:
        delivery: the original.
        forward: where the copy goes, when, and which headers change.
        namespace: the Service Bus namespace.
        now: the time from which delays count.

    Raises:
        ValueError: its error queue is the queue it came from: only dead-lettering by the broker can end such a loop.
    """
    native, changes, own = delivery.native, forward.changes, is_source(forward.to, delivery)
    if own and changes.get(FAILED_QUEUE) and not changes.get(REFUSED_SENDS):
        raise ValueError(f"the error queue {forward.to!r} is the queue that the message came from")
    number, texts = broker_id(native), {name: getattr(native, name) for name in ARRAYS}
    # a copy to the error queue, or one that waits to go there, has no time to live
    is_given_up = delivery.given_up or not own or changes.get(FAILED_QUEUE)
    fields = {
        **sendable({name: text for name, text in texts.items() if text}),
        "body": native.get_body(),
        "message_id": identity(delivery, number, namespace, forward.to),
        "application_properties": origin(native, changes)
        | changed(delivery.properties, {**changes, **where(delivery, changes, namespace)}),
        **timed(
            None if is_given_up else native.expires_at_utc, forward, max(now, aware(native.enqueued_time_utc) or now)
        ),
    }
    if "session_id" in fields:
        fields.pop("partition_key", None)  # Service Bus wants both the same, and takes the session's alone
    trims = (FOLDED, *(name for name in CONTENT if name not in delivery.properties), *FIRST_TO_TRIM)
    copy = Copy(delivery.message.id, forward.to, fields, trims=trims)
    others = [text for text in texts.values() if text]
    fit(copy, others)
    if FAILED_QUEUE_ADDRESS in fields["application_properties"]:
        add_where_room(copy, lost_in_header(native, delivery.properties), others)
    return copy


def where(delivery: Delivery, changes: Mapping[str, str | None], namespace: str) -> dict[str, str]:
    """Return the header of a copy with fault headers that says at which queue it failed: the full address, because names repeat."""
    with_faults = changes.get(TIME_OF_FAILURE)  # a bare copy has no room
    return {FAILED_QUEUE_ADDRESS: f"sb://{namespace}/{delivery.message.queue}"} if with_faults and namespace else {}


def identity(delivery: Delivery, number: str, namespace: str, to: str) -> str:
    """Return a copy's own id, without counters.

    So one original makes at most one copy per destination where duplicates are detected.
    """
    parts = (namespace.lower(), delivery.message.queue.lower(), number, to.lower())
    return sha256("\n".join(parts).encode()).hexdigest()


def origin(native: Any, changes: Mapping[str, str | None]) -> dict[str, str]:
    """Return the header by which what the handler sends again has the same identity; none for a copy without headers of ours."""
    which = origin_of(broker_id(native), aware(native.enqueued_time_utc))
    return {ORIGIN: which} if which and changes else {}


def broker_id(native: Any) -> str:
    """Return the id by which the broker knows a message: its sequence number, else its MessageId."""
    return str((native.message_id or "") if native.sequence_number is None else native.sequence_number)


def timed(expires_at: datetime | None, forward: Forward, now: datetime) -> dict[str, Any]:
    """Return the fields for the time when the copy appears, and for its time to live.

    `now` must not be before Service Bus took the message: by a clock that is slow a short delay would be over already.
    """
    fields: dict[str, Any] = {}
    if forward.delay > NO_DELAY:
        fields["scheduled_enqueue_time_utc"] = in_milliseconds(now + forward.delay)
    if (end := aware(expires_at)) is not None:
        remaining = max(end - now, forward.delay + LEAST_TIME_TO_LIVE)
        if remaining <= LONGEST_TIME_TO_LIVE:
            fields["time_to_live"] = timedelta(seconds=ceil(remaining.total_seconds()))
    return fields
