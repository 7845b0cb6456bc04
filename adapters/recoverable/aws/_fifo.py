"""Serve FIFO queues: each message group in its order, its rounds by the count of deliveries and the time since the first receive."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from recoverable._flow.settle import decide_and_report, settle_unsent_in_order, settle_without_attempt
from recoverable._ladder.delivery import Deferral, Delivery, delivery_of, runs_left
from recoverable._ladder.policy import configured_delay
from recoverable._ladder.settlement import Redeliver
from recoverable._limits import NO_DELAY
from recoverable._message import place
from recoverable.aws._order import (
    CLOCK_SKEW,
    hidden_for,
    let_run_on_smaller_ladder,
    settle_expiring,
    since_first_receive,
)

if TYPE_CHECKING:
    from recoverable._config import Delayed
    from recoverable._ladder.settlement import Settlement
    from recoverable.aws._batch import Batch
    from recoverable.aws._order import MessageGroups

log = logging.getLogger("recoverable")

MessageGroup: TypeAlias = list[Delivery]
"""The records of one message group, in its order."""

HELD_BACK = "A batch of %d records from the FIFO queue '%s': what is held back uses up deliveries. Set the event source mapping's BatchSize to 1."


def fifo_batch(batch: Batch, unfinished: list[Delivery]) -> MessageGroups:
    """Yield the messages of a FIFO queue one by one, each to be settled before the next one is asked for; see `_order.MessageGroups`.

    First comes what needs no handler at the head of its group, then the groups in the queue's order, those of suspects
    last. Records behind one of their group that is not finished come back with it.

    Args:
        batch: the records, in the queue's order.
        unfinished: the records that were settled and come back; it grows while this runs.
    """
    invocation, deliveries = batch.invocation, [delivery_of(message) for message in batch.messages]
    now, hidden = invocation.clock(), hidden_for(batch)
    by_group = message_groups(deliveries)
    if len(deliveries) > 1:
        log.warning(HELD_BACK, len(deliveries), deliveries[0].message.queue)
        forgive_held_back(by_group, now, hidden)
    let_run_on_smaller_ladder(deliveries, batch)
    for delivery in deliveries:
        if (settlement := settle_on_receipt(delivery, batch)) is not None:
            invocation.settle(delivery, settlement)
    heads = [group[0] for group in by_group if invocation.settlement_of(group[0]) is None]
    settle_expiring([each for each in heads if is_suspect(each, now, hidden)], batch)
    if settled := [group.pop(0) for group in by_group if invocation.settlement_of(group[0]) is not None]:
        yield [delivery.message for delivery in settled], False
    for group in suspects_last([group for group in by_group if group], now, hidden):
        for delivery in group:
            if invocation.settlement_of(delivery) is None and must_keep_order(delivery, unfinished):
                invocation.settle(delivery, Redeliver(NO_DELAY))
            yield [delivery.message], invocation.settlement_of(delivery) is None


def message_groups(deliveries: list[Delivery]) -> list[MessageGroup]:
    """Return the records by message group, each in the queue's order."""
    found: dict[str | None, MessageGroup] = {}
    for delivery in deliveries:
        found.setdefault(delivery.message.group_id, []).append(delivery)
    return list(found.values())


def forgive_held_back(by_group: list[MessageGroup], now: datetime, hidden: float) -> None:
    """Count no delivery as unreported of a record that may have been held back: behind another one, or for lack of time."""
    for group in by_group:
        for position, delivery in enumerate(group):
            if position > 0 or not is_suspect(delivery, now, hidden):
                delivery.unreported = False


def must_keep_order(delivery: Delivery, unfinished: list[Delivery]) -> bool:
    """True if a record is behind one of its group that comes back: it must come back too, or the order is lost."""
    return delivery.message.group_id in {each.message.group_id for each in unfinished}


def suspects_last(by_group: list[MessageGroup], now: datetime, hidden: float) -> list[MessageGroup]:
    """Return the groups without a suspect as they came; then the others, in another order at each delivery.

    Of the others those come first whose records were received least often. Groups that were received equally often may
    have come back together, because a record of one of them ended the process.
    """
    suspects = [group for group in by_group if is_suspect(group[0], now, hidden)]
    by_receives: dict[int, list[MessageGroup]] = {}
    for group in suspects:
        by_receives.setdefault(group[0].receives, []).append(group)
    ordered = [group for _, alike in sorted(by_receives.items()) for group in rotated_groups(alike)]
    return [group for group in by_group if group not in suspects] + ordered


def rotated_groups(alike: list[MessageGroup]) -> list[MessageGroup]:
    """Return the groups by name, cyclically, starting one place further with each attempt.

    So an attempt starts right behind the record that ended the attempt before: one such record costs the other groups
    two attempts at most, two cost three, and so on. A delivery that only waited for its round is no attempt.
    """
    by_name = sorted(alike, key=lambda group: group[0].message.group_id or "")
    head = by_name[0][0]
    place = max(head.receives - head.message.round - 2, 0) % len(by_name)
    return by_name[place:] + by_name[:place]


TOO_EARLY = "its deliveries are ahead of its delays, and its next round has not begun"


def settle_on_receipt(delivery: Delivery, batch: Batch) -> Settlement | None:
    """Return the settlement of a record whose handler must not run now; None when it may."""
    return settle_without_attempt(delivery, batch.invocation) or wait(delivery, batch)


def wait(delivery: Delivery, batch: Batch) -> Settlement | None:
    """Return the settlement of a record whose round may not start yet; None when its handler may run."""
    invocation, time = batch.invocation, batch.time
    longest = timedelta(seconds=time.longest_visibility)
    immediate, delayed = invocation.recoverability.immediate, invocation.recoverability.delayed
    since, beat = since_first_receive(delivery, invocation.clock()), batch.hides_for
    hidden = min(time.total, beat - CLOCK_SKEW) if beat else time.total
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
    # the last delivery must not come too early again: no handler would run any more
    if runs_left(delivery.receives, invocation.recoverability) == 1:
        delay = until_last_round(delivery.message.id, since, delayed, longest)
    return decide_and_report(delivery, Deferral(delay, TOO_EARLY), invocation)


def is_suspect(delivery: Delivery, now: datetime, hidden: float) -> bool:
    """True if a record was received before, and may have ended its process: then it came back later than what was handed back.

    Args:
        delivery: the record.
        now: the time.
        hidden: the shortest time in seconds for which a message that was received stays hidden.
    """
    since, before = since_first_receive(delivery, now), delivery.receives - 1
    return before > 0 and (since is None or since.total_seconds() >= before * hidden)


def settle_unsent_in_group(delivery: Delivery, to: str, why: str, batch: Batch) -> Settlement:
    """Return the settlement of a record whose handler succeeded, and of which something that it sent was not taken; its group waits.

    Args:
        delivery: the record.
        to: the queue or topic.
        why: why it did not take what was sent.
        batch: what it came in.
    """
    invocation = batch.invocation
    waited = max(since_first_receive(delivery, invocation.clock()) or NO_DELAY, NO_DELAY)
    until = until_last_round(
        delivery.message.id, waited, invocation.recoverability.delayed, timedelta(seconds=batch.time.longest_visibility)
    )
    return settle_unsent_in_order(delivery, to, why, invocation, waited=waited, until_last_round=until)


CLOCK_TOLERANCE = timedelta(seconds=1)
"""By how much the function's clock and the broker's may differ without costing a delivery."""


def wait_for_round(
    delivery: Delivery,
    since_first_receive: timedelta | None,
    delayed: Delayed,
    *,
    attempts_per_round: int,
    function_timeout: timedelta,
    longest_delay: timedelta,
) -> timedelta | None:
    """Return how long a message must wait whose count is ahead of its delays; None when its handler may run.

    No round starts before the sum of the configured delays before it has passed since the first receive. A message that
    is ahead of that waits for the next round; within one function time-out after a round's start it makes that round's
    last attempt instead, and so it does where the next delay is longer than a message can be hidden.

    Args:
        delivery: the delivery, its round and attempt restored by its count; they change where it makes another round's
            last attempt.
        since_first_receive: the time since then; None when it is unknown.
        delayed: the settings for delayed retries.
        attempts_per_round: immediate retries + 1.
        function_timeout: how long an invocation may last.
        longest_delay: the longest time for which the broker hides a message.
    """
    message = delivery.message
    if message.round == 0 or since_first_receive is None or since_first_receive < -CLOCK_TOLERANCE:
        return None
    starts = round_starts(delayed, message.id, message.round)
    reached = max(
        number for number, start in enumerate(starts) if start <= max(since_first_receive, NO_DELAY) + CLOCK_TOLERANCE
    )
    if reached == message.round:
        return None
    never_starts = configured_delay(delayed, reached, message.id) > longest_delay
    if never_starts or since_first_receive - starts[reached] < function_timeout:
        place(message, round=reached, attempt=attempts_per_round)
        delivery.deliveries = attempts_per_round
        return None
    return starts[reached + 1] - since_first_receive


def until_last_round(
    message_id: str, since_first_receive: timedelta, delayed: Delayed, longest_delay: timedelta
) -> timedelta:
    """Return how long it is until the last round of a message may start; 0 when it may.

    Args:
        message_id: the message's id.
        since_first_receive: the time since then.
        delayed: the settings for delayed retries.
        longest_delay: the longest time for which the broker hides a message.
    """
    *_, last = round_starts(delayed, message_id, delayed.max_retries)
    return min(max(last - since_first_receive, NO_DELAY), longest_delay)


def round_starts(delayed: Delayed, message_id: str, rounds: int) -> list[timedelta]:
    """Return how long after the first receive each round may start, from round 0 to `rounds`."""
    delays = (configured_delay(delayed, number, message_id) for number in range(rounds))
    return list(accumulate(delays, initial=NO_DELAY))
