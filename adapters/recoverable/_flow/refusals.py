"""Count the answers that nobody knows to what a handler sent, over the deliveries of its message, and end them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from recoverable._flow.settle import settle_failure, settle_unsent
from recoverable._outgoing.message import OutgoingRefused
from recoverable.headers import read_count, read_date, write_date

if TYPE_CHECKING:
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Settlement

MOST_REFUSALS, LONGEST_REFUSAL = 10, timedelta(days=1)
"""An answer that nobody knows is repeated for so many deliveries, and for so long; then it counts as refused for good."""


def refusals_before(delivery: Delivery, to: str, now: datetime) -> tuple[datetime, int]:
    """Return since when a destination gives such answers, and how many; none since now where the header is of another, or cannot be read."""
    date, _, rest = delivery.carried.refused_since.partition(" Z ")
    count, _, counted = rest.partition(" ")
    parts = {"since": f"{date} Z", "answers": count}
    since = read_date(parts, "since")
    return (since, read_count(parts, "answers")) if since and counted == to else (now, 0)


def is_refused_for_good(delivery: Delivery, to: str, now: datetime, most: int = MOST_REFUSALS) -> bool:
    """True if one more such answer counts as refused for good."""
    since, answers = refusals_before(delivery, to, now)
    return answers >= most or now - since >= LONGEST_REFUSAL


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
    since, answers = refusals_before(delivery, to, invocation.clock())
    if is_refused_for_good(delivery, to, invocation.clock(), most):
        text = "'{}' did not take an outgoing message ({}), {} times since {:%Y-%m-%d %H:%M:%S} UTC; check what is sent against the limits of the destination, and send the message back from the error queue"
        delivery.error = OutgoingRefused(text.format(to, why, answers, since))
        return settle_failure(delivery, delivery.error, invocation)
    delivery.refused_since = f"{write_date(since)} {answers + 1} {to}"
    return settle_unsent(delivery, to, why, invocation)
