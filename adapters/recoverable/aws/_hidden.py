"""Decide until when SQS hides the messages of an invocation, which are hidden anew, and which are lost to another delivery. Pure.

SQS takes old receipt handles of a standard queue, so no answer of it says that a message is still this invocation's: only the time does.
All moments are in seconds since 1970.
"""

from __future__ import annotations

from math import ceil

from recoverable._frozen import Frozen, field
from recoverable._sqs.queues import LONGEST_VISIBILITY

CLOCK_SKEW = 1.0
"""Seconds by which the clocks of SQS and of this instance may differ."""

AFTER_THE_END = 2.0
"""Seconds for which a message stays hidden after its invocation ends: for the clocks, and for what the event source mapping then does."""

LONGEST_HIDING = LONGEST_VISIBILITY // 2
"""Seconds for which a message is hidden at once at most: the 12 hours that SQS allows count from the receive, which was some time ago."""


class Known(Frozen):
    """The times of an invocation and of its queue.

    Args:
        timeout: seconds for which the queue hides a message that it gives out.
        began: when the invocation began.
        ends: when it ends; None where nothing ends it.
        begins_late: True if messages were shown to others before an invocation of this process began, less than an hour ago.
        may_change: False where the role may not change the visibility of messages, so that no earlier delivery did.
    """

    timeout: float
    began: float
    ends: float | None = None
    begins_late: bool = False
    may_change: bool = True


class Change(Frozen):
    """The sum of this invocation's calls that change the visibility of a message.

    Args:
        until: until when the last one hides it.
        first_at: when the first confirmed one had ended.
        confirmed: True if SQS has confirmed one; else none may have been made, and `until` is the first end of all.
        lapsed: True if the message was shown to others between two of them: SQS takes the later one all the same.
    """

    until: float
    first_at: float
    confirmed: bool = field(kw_only=True)
    lapsed: bool = field(default=False, kw_only=True)


def changed(before: Change | None, until: float, at: float, *, confirmed: bool) -> Change:
    """Return the sum of the changes with one more.

    Args:
        before: the sum so far; None for the first one.
        until: until when this one hides the message.
        at: when its call has ended.
        confirmed: True if SQS has confirmed it.
    """
    if before is None:
        return Change(until, at, confirmed=confirmed)
    if not confirmed:
        return before if before.confirmed else before.replace(until=min(before.until, until))
    lapsed = before.lapsed or before.until - CLOCK_SKEW <= at
    return Change(until, before.first_at if before.confirmed else at, confirmed=confirmed, lapsed=lapsed)


class Receive(Frozen):
    """A delivery as SQS describes it, and the changes of its visibility by this invocation.

    Args:
        count: how often SQS has given out the message, from 1.
        first_at: when it first did; None where that is unknown.
        change: the sum of these changes; None without one.
        repeated: True if the same batch has a later receive of the message.
    """

    count: int
    first_at: float | None
    change: Change | None = None
    repeated: bool = field(default=False, kw_only=True)


NEVER = float("-inf")


def hidden_until(receive: Receive, known: Known) -> float | None:
    """Return until when a message is surely hidden; None where that is unknown.

    The first receive is this one for count 1, and for a higher count it was earlier. Where no delivery could be handed back by a change of
    visibility, a later one began when the invocation did.
    """
    change = receive.change
    if receive.repeated or (change is not None and change.lapsed):
        return NEVER
    until = None
    if receive.first_at is not None:
        received = known.began if receive.count > 1 and not known.may_change else receive.first_at
        until = received + known.timeout - CLOCK_SKEW
    if change is None:
        return until
    if change.confirmed:
        # of a message that came for the first time it is known whether it was still hidden then
        was_late = receive.count == 1 and until is not None and until <= change.first_at
        return until if was_late else change.until - CLOCK_SKEW
    return None if until is None else min(until, change.until - CLOCK_SKEW)


def was_shown(receive: Receive, known: Known) -> bool:
    """True if a message was shown to others before its invocation began, so that another may have it from the start.

    Of a message that came for the first time this is known. A later receive may have been a moment ago: it is taken for hidden, unless
    invocations of this process begin late.
    """
    if receive.repeated:
        return True
    if receive.first_at is None or receive.first_at + known.timeout > known.began:
        return False
    return receive.count == 1 or known.begins_late


def begins_late(receive: Receive, timeout: float, began: float) -> bool:
    """True if a message shows that its invocation began after it was shown to others: it came for the first time, or twice in one batch."""
    if receive.repeated or receive.first_at is None:
        return receive.repeated
    return receive.count == 1 and receive.first_at + timeout + CLOCK_SKEW <= began


def must_be_hidden(receive: Receive, known: Known, now: float) -> bool:
    """True if a message may be shown to others before its invocation ends, and nothing says that it was shown already."""
    until = hidden_until(receive, known)
    if until is None or was_shown(receive, known) or (receive.count == 1 and until <= now):
        return False
    return known.ends is None or until < known.ends


def seconds_to_hide(known: Known, now: float) -> int:
    """Return for how many seconds messages are hidden anew: to the invocation's end and a little longer, and no shorter than the queue does."""
    remaining = 0.0 if known.ends is None else known.ends - now + AFTER_THE_END
    return ceil(min(max(remaining, known.timeout), LONGEST_HIDING))


def is_lost(receive: Receive, known: Known, at: float) -> bool:
    """True if others may have received a message by then: what becomes of it is the business of its next delivery.

    Args:
        receive: the delivery.
        known: the times of its invocation.
        at: when what is to be done for it has been done.
    """
    until = hidden_until(receive, known)
    return until is not None and (until <= at or was_shown(receive, known))
