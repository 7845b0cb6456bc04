"""Order the records of one invocation, so that a message that ends its process takes none of its neighbours along."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from recoverable._errors import UnreportedFailure
from recoverable._flow.settle import NO_OUTCOME, decide_and_report, hand_back, settle_without_attempt
from recoverable._ladder.delivery import UNREPORTED_ALLOWANCE, Delivery, delivery_of
from recoverable._limits import NO_DELAY
from recoverable._sqs.clock import CLOCKS_AGREE
from recoverable._sqs.queues import LONGEST_DELAY
from recoverable.aws._records import first_received
from recoverable.aws._undeleted import settle_kept

if TYPE_CHECKING:
    from recoverable._flow.invocation import Invocation
    from recoverable._message import Message
    from recoverable.aws._batch import Batch

Group: TypeAlias = tuple[list[Delivery], bool]
"""Deliveries that are settled together, and whether their handlers run; else those without a settlement are handed back."""

MessageGroups: TypeAlias = "Iterator[tuple[list[Message], bool]]"
"""The same by their messages, which are what handlers get."""

REDELIVER_AFTER = "RECOVERABLE_REDELIVER_AFTER"
"""The environment variable by which a local host says how many seconds after a time-out or crash messages come back, sooner than in AWS."""

CLOCK_SKEW = 1.0
"""Seconds by which the clocks of SQS and of this instance may differ."""


def standard_batch(batch: Batch) -> MessageGroups:
    """Yield the messages of a standard queue in groups; what needs no handler is settled first. See `groups`."""
    invocation, restored = batch.invocation, batch.restored
    came_before = any(delivery.deliveries > 1 for delivery in restored)
    # of what came for the first time it is known until when it is hidden, so it has time until something fails
    not_hidden = {*batch.lease.hide_to_the_end()} if came_before else set()
    let_run_on_smaller_ladder(restored, batch)
    settled = settle_kept(batch)
    settled += settle_without_handler([each for each in restored if each not in settled], invocation)
    clear_reported(restored, invocation.clock(), hidden_for(batch))
    settled += settle_expiring([e for e in restored if e.suspect and e.deliveries > 1 and e not in settled], batch)
    aside, ready = list[Delivery](), list[Delivery]()
    for delivery in map(delivery_of, batch.messages):
        if delivery not in settled:
            (aside if delivery in not_hidden else ready).append(delivery)
    if without_handler := [*settled, *aside]:
        yield [delivery.message for delivery in without_handler], False
    left = batch.time.for_handlers
    for group, runs in groups(ready, lambda: (left is not None and left() <= 0) or invocation.interruption is not None):
        yield [delivery.message for delivery in group], runs


def groups(ready: list[Delivery], is_time_over: Callable[[], bool]) -> Iterator[Group]:
    """Yield the deliveries in groups, each to be settled before the next one is asked for.

    One message is tried before all others, alone: one whose next unreported delivery would be its failure, or one that was stopped
    before; the others of these kinds are handed back before it runs. Fresh messages run together, with those whose earlier deliveries
    were all reported. Suspects run one by one, and those for which no time is left are handed back together.

    Args:
        ready: the records of a standard queue whose handlers may run.
        is_time_over: True when no further handler may start in this invocation.
    """
    first = message_to_try_first(ready)
    if first is not None:
        if handed_back := [delivery for delivery in ready if is_tried_alone(delivery) and delivery is not first]:
            yield handed_back, False
        yield [first], True
        ready = [delivery for delivery in ready if not is_tried_alone(delivery)]
    if fresh := [delivery for delivery in ready if not delivery.suspect]:
        yield held_longest_first(fresh), True
    yield from suspects_one_by_one(rotated([delivery for delivery in ready if delivery.suspect]), is_time_over)


def clear_reported(deliveries: list[Delivery], now: datetime, hidden_for: float) -> None:
    """Note of those whose earlier deliveries were all reported that they are no suspects.

    A delivery whose outcome nobody recorded keeps its message hidden until its visibility timeout ends. So a message that was first
    received a shorter time ago had none. Its originals' deliveries are not known here: the copy says whether they were reported.

    Args:
        deliveries: records of a standard queue.
        now: the time at which the invocation started.
        hidden_for: the shortest time in seconds for which a message that was received stays hidden.
    """
    for delivery in deliveries:
        if delivery.suspect and delivery.originals_reported:
            age = since_first_receive(delivery, now)
            delivery.suspect = age is None or not -CLOCK_SKEW <= age.total_seconds() < hidden_for - CLOCK_SKEW


def let_run_on_smaller_ladder(deliveries: list[Delivery], batch: Batch) -> None:
    """Note of those that have come in too short a time for so many unreported deliveries that their handlers run: they fail as any other.

    An attempt that failed shows its message at once. So a ladder that is made smaller meanwhile finds more deliveries than it grants.
    """
    if not batch.time.ends:
        return  # on Managed Instances the function's time-out says nothing of how long messages are hidden
    for delivery in deliveries:
        if delivery.unreported and (most := most_unreported(delivery, batch)) <= UNREPORTED_ALLOWANCE:
            delivery.unreported, delivery.at_limit = False, most == UNREPORTED_ALLOWANCE


def most_unreported(delivery: Delivery, batch: Batch) -> float:
    """Return how many deliveries of a message can be unreported at most, for each hid it until its visibility timeout ended; infinity where the
    times do not say it.
    """
    queue = batch.lease.queue
    hidden, age = hidden_by(queue.shortest_timeout, batch), since_first_receive(delivery, queue.now_at_sqs())
    if age is None or not queue.is_dated or hidden <= 0 or batch.time.for_handlers is None:
        return inf
    before = 0 if delivery.originals_reported else delivery.prior_attempts
    seconds = age.total_seconds() + CLOCKS_AGREE
    return inf if seconds < 0 else before + seconds // hidden


def hidden_for(batch: Batch) -> float:
    """Return the shortest time in seconds for which a message that was received stays hidden; 0 when that is unknown."""
    time, setting = batch.time, batch.settings.visibility_timeout
    if time.for_handlers is None:
        return 0.0
    shortest = time.total
    if setting is None and not batch.queue.fifo and any(each.deliveries > 1 for each in batch.restored):
        shortest = min(shortest, batch.lease.queue.visibility_timeout)
    return hidden_by(shortest, batch)


def hidden_by(timeout: float, batch: Batch) -> float:
    """Return for how many seconds messages stay hidden that a queue hides for this long: shorter where a heartbeat, the setting or a local host says so."""
    setting, text = batch.settings.visibility_timeout, os.environ.get(REDELIVER_AFTER, "")
    shorter = timeout if setting is None else min(timeout, setting.total_seconds())
    shorter = min(shorter, int(text)) if text.isascii() and text.isdigit() else shorter
    return min(shorter, beat) if (beat := batch.hides_for) else shorter


def since_first_receive(delivery: Delivery, now: datetime) -> timedelta | None:
    """Return how long ago SQS first gave out this broker message; None when that is unknown."""
    first = first_received(delivery.native)
    return None if first is None else now - first


def suspects_one_by_one(suspects: list[Delivery], is_time_over: Callable[[], bool]) -> Iterator[Group]:
    """Yield each suspect alone; when the time is over, yield the rest together, to be handed back."""
    for place, suspect in enumerate(suspects):
        if is_time_over():
            yield suspects[place:], False
            return
        yield [suspect], True


def is_tried_alone(delivery: Delivery) -> bool:
    """True if a delivery must not share its invocation with others of its kind."""
    return delivery.at_limit or delivery.carried.stopped


def message_to_try_first(deliveries: list[Delivery]) -> Delivery | None:
    """Return the message that is tried before all others; None when none needs to be."""
    candidates = [each for each in deliveries if each.at_limit] or [each for each in deliveries if each.carried.stopped]
    return min(candidates, key=lambda each: (*held_since(each), each.message.id)) if candidates else None


def delay_of_hand_back(delivery: Delivery, place: int) -> timedelta:
    """Return how long a message waits that is handed back for another's sake: so long that those like it come back apart.

    Args:
        delivery: the message.
        place: how many others are handed back before it.
    """
    return min(timedelta(seconds=place), LONGEST_DELAY) if delivery.at_limit else NO_DELAY


def held_longest_first(deliveries: list[Delivery]) -> list[Delivery]:
    """Return what is deferred for longest first, then the rest as it came."""
    return sorted(deliveries, key=held_since)


def held_since(delivery: Delivery) -> tuple[bool, float]:
    """Return a key by which what is deferred for longest comes first."""
    return (delivery.held_since is None, delivery.held_since.timestamp() if delivery.held_since else 0.0)


def rotated(deliveries: list[Delivery]) -> list[Delivery]:
    """Return the deliveries by message id, cyclically, starting one place further with each delivery.

    A fixed order, or one that merely alternates, would let two killers use up the attempts of what lies between them;
    with this one each message runs before the others once in a while.
    """
    if not deliveries:
        return []
    by_id = sorted(deliveries, key=lambda delivery: (delivery.message.id, delivery.native["messageId"]))
    furthest = max(delivery.deliveries + delivery.prior_attempts + delivery.message.round for delivery in by_id)
    place = furthest % len(by_id)
    return by_id[place:] + by_id[:place]


def settle_without_handler(restored: list[Delivery], invocation: Invocation) -> list[Delivery]:
    """Record the settlement of what is not yet due, or past its last delivery that runs, before any handler runs; return these.

    The rate limit is asked when its turn comes: once.
    """
    settled: list[Delivery] = []
    for delivery in restored:
        if delivery.unreported or delivery.given_up or delivery.due_at is not None:
            settlement = settle_without_attempt(delivery, invocation)
            if settlement is not None:
                invocation.settle(delivery, settlement)
                settled.append(delivery)
            else:
                delivery.due_at = None  # its time has come
    return settled


def settle_expiring(suspects: list[Delivery], batch: Batch) -> list[Delivery]:
    """Record the settlement of the suspects that would expire unseen if they ended their process now; return these.

    Each goes on as a copy, which has a retention of its own. Where order is kept it moves to the error queue.
    """
    invocation, settled = batch.invocation, list[Delivery]()
    for suspect in suspects:
        if not (why := batch.lease.queue.why_it_expires(suspect, None)):
            continue
        if invocation.platform.redelivers_only:
            settlement = decide_and_report(suspect, UnreportedFailure(f"{NO_OUTCOME}; {why}"), invocation, why)
        else:
            settlement = hand_back(suspect, invocation, reason=why)
        invocation.settle(suspect, settlement)
        settled.append(suspect)
    return settled


def hand_back_group(group: list[Message], batch: Batch) -> None:
    """Note that those of a group that have no settlement are handed back without being run."""
    invocation = batch.invocation
    batch.time.messages -= len(group)
    reason = "another message of its batch is tried alone, or no time is left for it"
    deliveries = map(delivery_of, group)
    waiting = [delivery for delivery in deliveries if invocation.settlement_of(delivery) is None]
    for place, delivery in enumerate(waiting):
        delay = delay_of_hand_back(delivery, place)
        invocation.settle(delivery, hand_back(delivery, invocation, delay, reason=reason))
