"""The headers that a copy sets and takes away, for each reason why a copy is made."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from recoverable import headers
from recoverable.limits import MAX_COUNT
from recoverable.message import Message
from recoverable.recovery import counting
from recoverable.recovery.delivery import Delivery, Platform
from recoverable.recovery.error_context import ErrorContext
from recoverable.recovery.faults import FIRST_TO_TRIM, fault_headers

Changes = dict[str, str | None]

MARKED = "1"
"""What a header says that is only a mark."""


def kept(message: Message) -> Changes:
    """What each copy says so that the message stays the same message: its id, and when it was first sent."""
    sent = {headers.TIME_SENT: headers.write_date(message.sent_at)} if message.sent_at else {}
    return {headers.MESSAGE_ID: message.id, **sent}


def immediate_retry(delivery: Delivery) -> Changes:
    """The headers of an immediate retry that is a copy."""
    return {**kept(delivery.message), headers.PRIOR_ATTEMPTS: count(delivery.prior_attempts + 1), headers.DUE_AT: None}


def delayed_retry(delivery: Delivery, context: ErrorContext) -> Changes:
    """The headers of the next round."""
    now = headers.write_date(context.now)
    first = headers.read_date(delivery.message.headers, headers.FIRST_DELAYED_RETRY_AT)
    return {
        **kept(delivery.message),
        headers.DELAYED_RETRIES: count(delivery.message.round + 1),
        headers.DELAYED_RETRY_AT: now,
        headers.FIRST_DELAYED_RETRY_AT: headers.write_date(first) if first else now,
        headers.PRIOR_ATTEMPTS: None,
        **({headers.UNREPORTED: MARKED} if delivery.unreported else {}),
    }


def deferral(delivery: Delivery, delay: timedelta, now: datetime, *, stopped: bool = False) -> Changes:
    """The headers of a copy that waits: its times move forward, for waiting uses up neither the 24 hours nor the total time."""
    moved = {
        name: moved_date(delivery.message.headers, name, delay)
        for name in (headers.DELAYED_RETRY_AT, headers.FIRST_DELAYED_RETRY_AT)
    }
    return {
        **kept(delivery.message),
        **{name: moment for name, moment in moved.items() if moment},
        headers.PRIOR_ATTEMPTS: count(counting.prior_attempts_of_deferral(delivery)),
        headers.HELD_SINCE: headers.write_date(delivery.held_since or now),
        **({headers.STOPPED: MARKED} if stopped else {}),
    }


def move_to_error(context: ErrorContext, platform: Platform) -> Changes:
    """The headers of a message that leaves the ladder: where it failed and why, and no trace of retries, so that a redrive starts anew.

    Nor of an earlier failure, whose reason a redrive may have left on it: what this exception does not tell would seem to be its own.
    """
    faults = fault_headers(context.exception, queue=context.receive_address, platform=platform, now=context.now)
    earlier = [name for name in context.message.headers if name.startswith(FIRST_TO_TRIM)]
    return {**kept(context.message), **dict.fromkeys((*headers.RETRY_HEADERS, *earlier)), **faults}


def moved_date(message_headers: Mapping[str, str], name: str, delay: timedelta) -> str | None:
    """The date of a header, later by the delay; None when there is none, or when it leaves the calendar."""
    moment = headers.read_date(message_headers, name)
    try:
        return headers.write_date(moment + delay) if moment else None
    except OverflowError:
        return None  # the year 9999: the header stays as it is


def count(number: int) -> str | None:
    """A counter as a header; none at all for 0."""
    return str(min(number, MAX_COUNT)) if number else None
