"""Settle a message whose handler succeeded, where a broker did not take for now what the handler sent."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from recoverable._flow.settle import hand_back, settle_failure
from recoverable._frozen import Frozen
from recoverable._ladder.backoff import FIRST_DELAY, LONGEST_DELAY, MOST_REDELIVERY, delay_while_redelivered
from recoverable._ladder.delivery import runs_left
from recoverable._limits import NO_DELAY
from recoverable._outgoing.message import OutgoingRefused
from recoverable.headers import read_count, read_date, write_date

if TYPE_CHECKING:
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Settlement


MOST_REFUSALS, LONGEST_REFUSAL = 10, timedelta(days=1)
"""An answer that nobody knows is repeated for so many deliveries, and for so long; then it counts as refused for good."""


class Refusals(Frozen):
    """Answers of one destination that nobody knows, to what the handler of a message sent.

    Args:
        to: the queue or topic.
        since: the time of the first.
        answers: their number.
    """

    to: str
    since: datetime
    answers: int

    @property
    def text(self) -> str:
        """Return the header."""
        return f"{write_date(self.since)} {self.answers} {self.to}"

    def are_for_good(self, now: datetime, most: int = MOST_REFUSALS) -> bool:
        """True if one more counts as refused for good."""
        return self.answers >= most or now - self.since >= LONGEST_REFUSAL


def refusals_before(delivery: Delivery, to: str, now: datetime) -> Refusals:
    """Return the answers of a destination that the message's header counts; none since now where it counts another's, or cannot be read."""
    date, _, rest = delivery.carried.refused_since.partition(" Z ")
    count, _, counted = rest.partition(" ")
    parts = {"since": f"{date} Z", "answers": count}
    since, answers = read_date(parts, "since"), read_count(parts, "answers")
    return Refusals(to, since, answers) if since and counted == to else Refusals(to, now, 0)


def settle_unknown(
    delivery: Delivery, to: str, why: str, invocation: Invocation, most: int = MOST_REFUSALS
) -> Settlement:
    """Return the settlement of a message after an answer that nobody knows: it waits by a copy, and fails once that has lasted too long.

    Args:
        delivery: the message as it came.
        to: the queue or topic.
        why: the answer.
        invocation: what it ran in.
        most: how many such answers it waits for.
    """
    now = invocation.clock()
    before = refusals_before(delivery, to, now)
    if before.are_for_good(now, most):
        delivery.error = OutgoingRefused(
            f"'{to}' did not take an outgoing message ({why}), {before.answers} times since {before.since:%Y-%m-%d %H:%M:%S} UTC; check what "
            "is sent against the limits of the destination, and send the message back from the error queue"
        )
        return settle_failure(delivery, delivery.error, invocation)
    refused_since = before.__replace__(answers=before.answers + 1).text
    return settle_unsent(delivery, to, why, invocation, refused_since=refused_since)


def settle_unsent(
    delivery: Delivery,
    to: str,
    why: str,
    invocation: Invocation,
    *,
    runs_first: bool = False,
    refused_since: str | None = None,
) -> Settlement:
    """Return the settlement of a message that waits by a copy, and loses no attempt.

    It waits as long again as it has waited, from 2.5 seconds to 15 minutes.

    Args:
        delivery: the message as it came.
        to: the queue or topic.
        why: why it did not take what was sent.
        invocation: what it ran in.
        runs_first: True if it comes first next time, because others may have used up its time.
        refused_since: what its copy says of answers that nobody knows.
    """
    waited = NO_DELAY if delivery.held_since is None else invocation.clock() - delivery.held_since
    delay = min(max(waited, FIRST_DELAY), LONGEST_DELAY)
    return settle_waiting(delivery, delay, to, why, invocation, runs_first=runs_first, refused_since=refused_since)


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
    delivery: Delivery,
    delay: timedelta,
    to: str,
    why: str,
    invocation: Invocation,
    *,
    runs_first: bool = False,
    refused_since: str | None = None,
) -> Settlement:
    """Return the settlement of a message that waits for this delay."""
    delivery.unsent = True
    reason = f"what it sent to '{to}' was not taken ({why})"
    return hand_back(delivery, invocation, delay, reason=reason, stopped=runs_first, refused_since=refused_since)
