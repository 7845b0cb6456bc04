"""Prepare a batch of several messages: leave out what the host mixes up between them, and hand back apart those that were delivered before."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from recoverable._ladder.delivery import granted
from recoverable.azure._messages import ARRAYS

if TYPE_CHECKING:
    from azure.functions import ServiceBusMessage  # noqa: TID251  # for types alone

    from recoverable._ladder.delivery import Delivery
    from recoverable.azure._processor import Processing

LONGEST_SPREAD = timedelta(minutes=15)
"""The most by which the messages of a batch that was delivered before are handed back apart."""

MOST_IN_COMPANY = 10
"""Deliveries without a recorded outcome in a batch with others, after which a message counts as failed even so."""


def without_ambiguous_fields(natives: list[ServiceBusMessage], queue: str) -> list[Any]:
    """Return the messages of a batch without the fields of which the host does not say which message has which; log which these are.

    Args:
        natives: the messages.
        queue: the name of the queue they came from.
    """
    if not (absent := ambiguous_fields(natives)):
        return natives
    from recoverable.azure._folding import MessageWithFields  # noqa: PLC0415  # most batches have none

    log_ambiguous_fields(absent, queue)
    fields = dict.fromkeys(absent | {"label"} if "subject" in absent else absent)
    return [MessageWithFields(native, fields) for native in natives]


def ambiguous_fields(natives: list[ServiceBusMessage]) -> frozenset[str]:
    """Return the text fields that some messages of a batch have and others not: each without one shifts those of the others."""
    metadata = natives[0].metadata or {}
    given = {field: metadata.get(array) for field, array in ARRAYS.items()}
    return frozenset(
        field for field, values in given.items() if isinstance(values, list) and 0 < len(values) < len(natives)
    )


@cache
def log_ambiguous_fields(fields: frozenset[str], queue: str) -> None:
    """Log, once for a queue in a process, that its messages and their copies lack some fields: they could have another message's."""
    from logging import getLogger  # noqa: PLC0415  # most batches have none

    from recoverable._observe.log import log_safely  # noqa: PLC0415

    text = (
        "Reading %s failed for a batch from '%s' (the host does not say which message has which). Messages and their copies "
        "are without. Set the field on each message of this queue, or on none."
    )
    log = getLogger("recoverable.settlement").warning
    log_safely(log, text, ", ".join(sorted(fields)), queue, extra={"queue": queue})


def hand_back_apart(work: Processing, lock: timedelta) -> None:
    """Hand back those of a batch that were delivered before, so that they come back one by one, and each time further apart.

    The batch outlived its locks, which the host does not renew, or its process ended. One of them may be too long for the lock, or end its
    process, and nobody can say which: together the others would run with it again and again. Alone it is counted as everywhere.

    Args:
        work: what the invocation works with.
        lock: how far apart they come back after the first time; all within 15 minutes.
    """
    max_immediate = work.settings.recoverability.immediate.max_retries
    again = [each for each in work.deliveries if was_delivered_before(each, max_immediate)]
    if not again:
        return
    from recoverable._flow.settle import hand_back  # noqa: PLC0415  # most batches have none

    for place, delivery in enumerate(again):
        delay = min(place * (1 + delivery.prior_attempts) * lock, LONGEST_SPREAD)
        settlement = hand_back(delivery, work.invocation, delay, reason="it was delivered before with others")
        work.invocation.settle(delivery, settlement)


def was_delivered_before(delivery: Delivery, max_immediate: int) -> bool:
    """True if earlier deliveries of a message ended without its settlement, not so often that it counts, and its handler could run now."""
    most = max(MOST_IN_COMPANY, 3 * (granted(delivery, max_immediate) + 1))
    is_judged = delivery.unreported and delivery.prior_attempts >= most
    return delivery.deliveries > 1 and not (is_judged or delivery.given_up or delivery.due_at)
