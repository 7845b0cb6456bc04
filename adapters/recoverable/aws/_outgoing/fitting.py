"""Reckon whether what waits to be sent still fits into the time that is kept for settling."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from recoverable._flow.reserve import CALLS, USUAL_CALL
from recoverable._ladder.refused_sends import MOST_REDELIVERY
from recoverable._sqs.answers import Failure
from recoverable.aws._copies import MAX_ENTRIES
from recoverable.aws._outgoing.entries import Destination, Letter, most_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable.aws._time_budget import TimeBudget


OUT_OF_TIME = Failure("unknown", "no time is left for it beside settling")
TOO_MUCH = Failure("unknown", "it is too much for the time that is left")
"""The failures of what is not sent, so that there is still time to say so: for a slow call, or for more than would fit without one."""


def out_of_time(unsent: Iterable[Letter], time: TimeBudget) -> Failure:
    """Return the failure of the letters that are left; a slow call explains it if they fit into its time at the usual pace."""
    return TOO_MUCH if calls_for(unsent) * USUAL_CALL > time.slowest_call else OUT_OF_TIME


def is_at_fault(delivery: Delivery, failure: Failure, invocation: Invocation) -> bool:
    """True if the handler sends more than its invocation has time for: it alone has started, and no slow call explains it for a day."""
    if invocation.started > 1 or failure not in {OUT_OF_TIME, TOO_MUCH}:
        return False
    since = delivery.held_since
    return failure is TOO_MUCH or (since is not None and invocation.clock() - since >= MOST_REDELIVERY)


def leaves_time_to_settle(time: TimeBudget) -> bool:
    """True if after another call there is still time to send copies and delete their originals, for all messages of the batch.

    No more than the time of one call that hangs is kept for that, as in `must_send`.
    """
    calls = CALLS * max(ceil(time.messages / MAX_ENTRIES), 1) + 1
    return time.before_call() >= min(calls * max(time.slowest_call, USUAL_CALL), time.call_timeout)


def must_send(invocation: Invocation, time: TimeBudget) -> bool:
    """True once what waits takes more than half of the time kept for settling, which is the time of one call that hangs.

    The other half is for what the next handler sends, and for settling.
    """
    letters = [letter for _, outbox, _ in invocation.outgoing for letter in outbox.entries]
    return calls_for(letters) * max(time.slowest_call, USUAL_CALL) > time.call_timeout


def calls_for(letters: Iterable[Letter]) -> int:
    """Return about how many calls the letters take: ten to one destination in a call, fewer when they are large."""
    tenths: dict[Destination, int] = {}
    for letter in letters:
        tenths[letter.to] = tenths.get(letter.to, 0) + tenths_of_a_call(letter)
    return sum(ceil(each / MAX_ENTRIES) for each in tenths.values())


def tenths_of_a_call(letter: Letter) -> int:
    """Return how much of a call a letter takes; one of a message group, or one that is stored, takes a call of its own."""
    if letter.group is not None or letter.stored is not None:
        return MAX_ENTRIES
    return max(1, ceil(letter.weight * MAX_ENTRIES / most_bytes(letter.to)))
