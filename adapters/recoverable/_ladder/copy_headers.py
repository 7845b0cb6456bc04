"""Make the headers that a copy sets and removes, for each reason why a copy is made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta

from recoverable import headers
from recoverable._ladder.delivery import Carried, Delivery, prior_attempts_of_deferral
from recoverable._ladder.faults import HANDLER_FAILURE, HANDLER_START, Redact, fault_headers
from recoverable._ladder.policy import ErrorContext
from recoverable._ladder.settlement import Platform
from recoverable._limits import MAX_COUNT
from recoverable._message import Message, received

Changes = dict[str, str | None]
"""Headers to set; None removes one."""

MESSAGE_TYPE_FULL_NAME = "MessageTypeFullName"
"""The attribute by which a native sender names a message's type to NServiceBus.AmazonSQS."""

MARKED = "1"
"""The value of a header that is only a mark."""


def identity_headers(message: Message, carried: Carried) -> Changes:
    """Return the headers of each copy by which the message stays the same message.

    They are its id, and when it was first sent. Of one that was sent back, what is said of its earlier life goes.
    """
    sent_at = message.sent_at
    sent = {headers.TIME_SENT: headers.write_date(sent_at)} if sent_at else {}
    redrives = {headers.REDRIVES: write_count(carried.redrives)} if carried.left_behind else {}
    return {**dict.fromkeys(carried.left_behind), headers.MESSAGE_ID: message.id, **sent, **redrives}


def immediate_retry(delivery: Delivery, context: ErrorContext, platform: Platform, max_immediate: int) -> Changes:
    """Return the headers of an immediate retry that is a copy."""
    count = context.immediate_processing_failures
    return {
        **identity_headers(delivery.message, delivery.carried),
        **counted(delivery, count, platform),
        **({headers.GRANTED: write_count(count)} if count > max_immediate else {}),
        headers.FIRST_FAILED_AT: first_failed_at(context),
        headers.DUE_AT: None,
    }


def delayed_retry(delivery: Delivery, context: ErrorContext) -> Changes:
    """Return the headers of a delayed retry."""
    now = headers.write_date(context.now)
    first = delivery.carried.first_delayed_retry_at
    return {
        **identity_headers(delivery.message, delivery.carried),
        headers.DELAYED_RETRIES: write_count(delivery.message.round + 1),
        headers.DELAYED_RETRY_AT: now,
        headers.FIRST_DELAYED_RETRY_AT: headers.write_date(first) if first else now,
        headers.PRIOR_ATTEMPTS: None,
        headers.ATTEMPTS: attempts_so_far(context),
        headers.FIRST_FAILED_AT: first_failed_at(context),
        headers.REPORTED: None,
        headers.GRANTED: None,
        **({headers.UNREPORTED: MARKED} if delivery.unreported else {}),
    }


def deferral(
    delivery: Delivery, delay: timedelta, platform: Platform, now: datetime, *, stopped: bool = False
) -> Changes:
    """Return the headers of a deferral.

    Its dates move forward, for a deferral uses up neither the 24 hours nor the total time.
    """
    moved = {
        headers.DELAYED_RETRY_AT: moved_date(delivery.carried.delayed_retry_at, delay),
        headers.FIRST_DELAYED_RETRY_AT: moved_date(delivery.carried.first_delayed_retry_at, delay),
    }
    first = delivery.carried.first_failed_at
    return {
        **identity_headers(delivery.message, delivery.carried),
        **({headers.FIRST_FAILED_AT: headers.write_date(first)} if first else {}),
        **{name: moment for name, moment in moved.items() if moment},
        **counted(delivery, prior_attempts_of_deferral(delivery), platform),
        headers.HELD_SINCE: headers.write_date(delivery.held_since or now),
        **({headers.STOPPED: MARKED} if stopped else {}),
        **({headers.REFUSED_SINCE: delivery.refused_since} if delivery.refused_since else {}),
    }


def move_to_error(context: ErrorContext, platform: Platform, redact: Redact | None) -> Changes:
    """Return the headers of a message that moves to the error queue: where it failed and why.

    The retry headers are removed, so that a redrive starts with round 0. Fault headers of an earlier failure, which a
    redrive may have kept, are removed too: where this exception sets none, they would seem to be about it.
    """
    queue = context.receive_address
    faults = fault_headers(context.exception, queue=queue, platform=platform, now=context.now, redact=redact)
    history = {headers.ATTEMPTS: attempts_so_far(context), headers.FIRST_FAILED_AT: first_failed_at(context)}
    if platform.redelivers_only:  # no copy has carried the attempts of earlier rounds, nor when the first failed
        first = context.carried.first_failed_at
        history = {headers.FIRST_FAILED_AT: headers.write_date(first)} if first else {}
    refused = (headers.REFUSED_SINCE,) if context.carried.refused_since else ()
    removed = dict.fromkeys((*headers.RETRY_HEADERS, *refused, *context.carried.faults))
    described = content_headers(context.message)
    return {**identity_headers(context.message, context.carried), **removed, **described, **history, **faults}


def content_headers(message: Message) -> dict[str, str]:
    """Return the headers without which ServicePulse neither shows, searches nor edits a body, and knows no type; none where its sender wrote them."""
    texts, types, kind = message.headers, message.headers.get(MESSAGE_TYPE_FULL_NAME), content_type_of(message)
    found = {headers.CONTENT_TYPE: kind, headers.ENCLOSED_MESSAGE_TYPES: types}
    return {name: text for name, text in found.items() if text and name not in texts}


def content_type_of(message: Message) -> str | None:
    """Return the content type of a body, as its sender set it on Service Bus, else as it looks; None for bytes, and for a body that is elsewhere."""
    body, native = message._body, getattr(received(message), "content_type", None)  # noqa: SLF001  # which may be a function that would fetch it
    if native or not body or callable(body):
        return str(native) if native else None
    try:
        text = body if isinstance(body, str) else body.decode()
        json.loads(text)
    except UnicodeDecodeError:
        return None
    except (ValueError, RecursionError):
        return "text/plain"
    return "application/json"


def times_of_handler(delivery: Delivery, now: datetime) -> dict[str, str]:
    """Return the headers that say when the handler of the last attempt began and failed, as NServiceBus writes them; none where it is not known for how long it ran."""
    began = (
        moved_date(now, -timedelta(seconds=delivery.handler_seconds)) if delivery.handler_seconds is not None else None
    )
    return {HANDLER_START: began, HANDLER_FAILURE: headers.write_date(now)} if began else {}


def attempts_so_far(context: ErrorContext) -> str | None:
    """Return all attempts, those of earlier rounds included."""
    return write_count(context.carried.attempts + context.immediate_processing_failures)


def first_failed_at(context: ErrorContext) -> str:
    """Return when the first attempt failed, or shortly before: what a copy or the broker says, else now."""
    return headers.write_date(context.carried.first_failed_at or context.now)


def counted(delivery: Delivery, attempts: int, platform: Platform) -> Changes:
    """Return the headers that carry attempts of this round, and say whether each delivery that they count was reported.

    Where the order of a batch cannot be chosen, nobody reads the latter, and it is left out.
    """
    count = write_count(attempts)
    if platform.shared_process:
        return {headers.PRIOR_ATTEMPTS: count}
    return {headers.PRIOR_ATTEMPTS: count, headers.REPORTED: MARKED if count and not delivery.suspect else None}


def only_waits(changes: Mapping[str, str | None]) -> bool:
    """True if a copy with these headers is a deferral or a hop: its handler runs when it comes, and this delivery is no attempt."""
    return bool(
        changes.get(headers.HELD_SINCE) or (changes.get(headers.DUE_AT) and headers.DELAYED_RETRIES not in changes)
    )


def moved_date(moment: datetime | None, delay: timedelta) -> str | None:
    """Return a date, moved forward by the delay, as a header's text; None when there is none, or when the sum is past the year 9999."""
    try:
        return headers.write_date(moment + delay) if moment else None
    except OverflowError:
        return None  # the header stays as it is


def write_count(number: int) -> str | None:
    """Return a counter as a header's text; None, which is no header, for 0."""
    return str(min(number, MAX_COUNT)) if number else None
