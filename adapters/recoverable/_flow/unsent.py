"""Settle a message whose handler succeeded, where a broker did not take for now what the handler sent."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from recoverable._flow.settle import hand_back, settle_failure
from recoverable._ladder.backoff import FIRST_DELAY, LONGEST_DELAY, MOST_REDELIVERY, delay_while_redelivered
from recoverable._ladder.delivery import runs_left
from recoverable._limits import NO_DELAY
from recoverable._outgoing.message import OutgoingRefused

if TYPE_CHECKING:
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Settlement


def settle_unsent(
    delivery: Delivery, to: str, why: str, invocation: Invocation, *, runs_first: bool = False
) -> Settlement:
    """Return the settlement of a message that waits by a copy, and loses no attempt.

    It waits as long again as it has waited, from 2.5 seconds to 15 minutes.

    Args:
        delivery: the message as it came.
        to: the queue or topic.
        why: why it did not take what was sent.
        invocation: what it ran in.
        runs_first: True if it comes first next time, because others may have used up its time.
    """
    waited = NO_DELAY if delivery.held_since is None else invocation.clock() - delivery.held_since
    return settle_waiting(
        delivery, min(max(waited, FIRST_DELAY), LONGEST_DELAY), to, why, invocation, runs_first=runs_first
    )


def settle_unsent_in_order(
    delivery: Delivery,
    to: str,
    why: str,
    invocation: Invocation,
    *,
    deliveries: int,
    waited: timedelta,
    until_last_round: timedelta = NO_DELAY,
) -> Settlement:
    """Return the settlement of a message that keeps its order: it is redelivered, which counts, each time after a longer wait.

    At the last delivery, and after a day, the attempt fails with what was not taken as its reason: the next delivery could not say why
    the message is given up, and its retention ends one day.

    Args:
        delivery: the message as it came.
        to: the queue or topic.
        why: why it did not take what was sent.
        invocation: what it ran in.
        deliveries: how often the broker has delivered it.
        waited: the time since its first delivery.
        until_last_round: how long its last delivery must wait, because its handler would not run before.
    """
    immediate, delayed = invocation.recoverability.immediate, invocation.recoverability.delayed
    left = runs_left(deliveries, max_immediate=immediate.max_retries, max_delayed=delayed.max_retries)
    if left <= 0 or waited >= MOST_REDELIVERY:
        delivery.error = OutgoingRefused(
            f"'{to}' did not take an outgoing message ({why}) at delivery {deliveries}, {waited} after the first; where order is kept "
            "a message cannot wait for ever; send it back from the error queue when the destination takes messages"
        )
        return settle_failure(delivery, delivery.error, invocation)
    delay = delay_while_redelivered(waited, left)
    return settle_waiting(delivery, max(delay, until_last_round) if left == 1 else delay, to, why, invocation)


def settle_waiting(
    delivery: Delivery, delay: timedelta, to: str, why: str, invocation: Invocation, *, runs_first: bool = False
) -> Settlement:
    """Return the settlement of a message that waits for this delay."""
    delivery.unsent = True
    reason = f"what it sent to '{to}' was not taken ({why})"
    return hand_back(delivery, invocation, delay, reason=reason, stopped=runs_first)
