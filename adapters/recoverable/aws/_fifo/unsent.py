"""Let a message of a FIFO queue wait whose outgoing ones are not taken: by its visibility, each time longer."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from recoverable._flow.unsent import settle_unsent_in_order
from recoverable._sqs.queues import LONGEST_VISIBILITY
from recoverable.aws._fifo.receipt import LONGEST, receives
from recoverable.aws._fifo.rounds import until_last_round
from recoverable.aws._order import seconds_since_first_receive

if TYPE_CHECKING:
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery, Settlement


def settle_unsent_in_group(
    delivery: Delivery, to: str, why: str, invocation: Invocation, *, function_timeout: float
) -> Settlement:
    """Return the settlement of a record whose handler succeeded, and of which something that it sent was not taken; its group waits.

    Args:
        delivery: the record.
        to: the queue or topic.
        why: why it did not take what was sent.
        invocation: what it ran in.
        function_timeout: seconds that the invocation had at its start.
    """
    since = seconds_since_first_receive(delivery, invocation.clock())
    waited = timedelta(seconds=max(0.0, min(since or 0.0, LONGEST)))
    delayed, longest = invocation.recoverability.delayed, timedelta(seconds=LONGEST_VISIBILITY - function_timeout)
    return settle_unsent_in_order(
        delivery, to, why, invocation, deliveries=receives(delivery), waited=waited,
        until_last_round=until_last_round(delivery.message.id, waited, delayed, longest),
    )  # fmt: skip
