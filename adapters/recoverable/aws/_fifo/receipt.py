"""Settle what a FIFO queue delivers before its handler may run: too early for its round, or too often."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from recoverable._flow.settle import decide_and_report, settle_without_attempt
from recoverable._ladder.counting import runs_left
from recoverable._ladder.delivery import Deferral, Delivery
from recoverable._limits import MAX_DELAY
from recoverable._sqs.queues import LONGEST_VISIBILITY
from recoverable.aws._fifo.rounds import until_last_round, wait_for_round
from recoverable.aws._order import CLOCK_SKEW, seconds_of_heartbeat, seconds_since_first_receive
from recoverable.aws._restoring import broker_count

if TYPE_CHECKING:
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Settlement

LONGEST = MAX_DELAY.total_seconds()
"""Seconds beyond which it does not matter how long ago a message was first received, in case a record says something absurd."""

TOO_EARLY = "its deliveries are ahead of its delays, and its next round has not begun"


def settle_on_receipt(delivery: Delivery, invocation: Invocation, function_timeout: float) -> Settlement | None:
    """Return the settlement of a record whose handler must not run now; None when it may.

    Args:
        delivery: the record.
        invocation: what it runs in.
        function_timeout: seconds that the invocation had at its start.
    """
    return settle_without_attempt(delivery, invocation) or wait(delivery, invocation, function_timeout)


def wait(delivery: Delivery, invocation: Invocation, function_timeout: float) -> Settlement | None:
    """Return the settlement of a record whose round may not start yet; None when its handler may run."""
    immediate, delayed = invocation.recoverability.immediate, invocation.recoverability.delayed
    seconds = seconds_since_first_receive(delivery, invocation.clock())
    since = None if seconds is None else timedelta(seconds=max(-LONGEST, min(seconds, LONGEST)))
    longest = timedelta(seconds=LONGEST_VISIBILITY - function_timeout)
    beat = seconds_of_heartbeat(invocation)
    hidden = min(function_timeout, beat - CLOCK_SKEW) if beat else function_timeout
    delay = wait_for_round(
        delivery,
        since,
        delayed,
        attempts_per_round=immediate.max_retries + 1,
        function_timeout=timedelta(seconds=hidden),
        longest_delay=longest,
    )
    if delay is None or since is None:
        return None
    left = runs_left(receives(delivery), max_immediate=immediate.max_retries, max_delayed=delayed.max_retries)
    if left == 1:  # the last delivery must not come too early again, for nothing would run any more
        delay = until_last_round(delivery.message.id, since, delayed, longest)
    return decide_and_report(delivery, Deferral(delay, TOO_EARLY), invocation)


def receives(delivery: Delivery) -> int:
    """Return how often SQS delivered the message, this time included."""
    return broker_count((delivery.native.get("attributes") or {}).get("ApproximateReceiveCount", "1"))


def is_suspect(delivery: Delivery, now: datetime, hidden: float) -> bool:
    """True if a record was received before, and may have ended its process: then it came back later than what was handed back.

    Args:
        delivery: the record.
        now: the time.
        hidden: the shortest time in seconds for which a message that was received stays hidden.
    """
    since, before = seconds_since_first_receive(delivery, now), receives(delivery) - 1
    return before > 0 and (since is None or since >= before * hidden)
