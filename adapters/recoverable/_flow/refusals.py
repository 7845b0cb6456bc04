"""Count the answers that nobody knows to what a handler sent, over the deliveries of its message, and end them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from recoverable._flow.settle import settle_failure, settle_unsent
from recoverable._frozen import Frozen
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
