"""Settle with the broker what recovery decided: send the copies first, then complete; nothing is done twice, nothing is lost."""

from __future__ import annotations

import logging
from datetime import timedelta
from math import ceil
from typing import TYPE_CHECKING, NamedTuple, assert_never

from recoverable._ladder.decision import give_up
from recoverable._ladder.delivery import Delivery
from recoverable._ladder.faults import FAILED_QUEUE
from recoverable._ladder.refused_sends import LONGEST_DELAY, deferral_after_refusal
from recoverable._ladder.settlement import Complete, Forward, Redeliver
from recoverable._observe.log import log_safely
from recoverable._sqs.broker import Broker, redactor_in
from recoverable._sqs.names import destination, is_same
from recoverable._sqs.queues import LONGEST_VISIBILITY
from recoverable.aws._copies import Copy, batches, copy_of
from recoverable.aws._order import seconds_of_heartbeat, seconds_since_first_receive

if TYPE_CHECKING:
    from recoverable._environment import Environment
    from recoverable._flow.invocation import Invocation
    from recoverable._sqs.answers import Failure
    from recoverable._sqs.queues import Queue
    from recoverable.aws._time_budget import TimeBudget
    from recoverable.timeouts import Timeouts

log = logging.getLogger("recoverable.settlement")

UNTIL_TAKEN = "It stays on the queue and will be redelivered until the redrive policy takes it."
OWN_ERROR_QUEUE = (
    f"its error queue '{{}}' is the queue it came from. {UNTIL_TAKEN} Set Failed(error_queue) to another queue."
)
TOO_LARGE = f"a copy would be larger than SQS takes. {UNTIL_TAKEN}"
NO_RETRY = "a copy for a retry was refused. It moves to the error queue '{}' ({})."
NO_COPY = (
    "no copy for '{}' can be made ({}). It stays on the queue and will be redelivered after its visibility timeout."
)


class Work(NamedTuple):
    """The settlements of a group, sorted by what the broker must do."""

    copies: list[Copy]
    completed: list[Delivery]
    redelivered: list[tuple[Delivery, timedelta | None]]


def settle(
    deliveries: list[Delivery], queue: Queue, environment: Environment, time: TimeBudget, timeouts: Timeouts | None,
    invocation: Invocation, *, complete_now: bool,
) -> list[Delivery]:  # fmt: skip
    """Do with the broker what was decided about a group: send copies, then delete, then change visibility.

    Args:
        deliveries: the group, each with its settlement.
        queue: where they came from.
        environment: what the invocation works with.
        time: the invocation's time.
        timeouts: where copies are stored that must wait longer than SQS delays them; None where they hop.
        invocation: what the attempts ran in.
        complete_now: True to delete completed messages here; False to leave that to the event source mapping.

    Returns:
        The deliveries that are not completed: they belong into `batchItemFailures`.
    """
    if (heartbeat := invocation.heartbeat) is not None:
        deliveries, complete_now = heartbeat.claim(deliveries), complete_now or heartbeat.late
    broker = Broker(queue, environment, time)
    work = sort_by_settlement(deliveries, broker, invocation)
    soon, unsent = work.copies, list[Delivery]()
    if timeouts is not None:
        from recoverable.aws._long_delays import store_long_delays  # noqa: PLC0415  # imported for those who store

        soon, unsent = store_long_delays(work.copies, timeouts, broker)
    unsent += [delivery for batch in batches(soon) for delivery in send_and_delete(batch, broker, invocation)]
    if complete_now:
        deleted = broker.delete(work.completed)
        if invocation.delete_bodies is not None:
            invocation.delete_bodies(deleted)
    waiting = [(delivery, longer_wait(delivery, broker, invocation)) for delivery in unsent]
    broker.change_visibility(in_whole_seconds([*work.redelivered, *waiting], LONGEST_VISIBILITY - time.total))
    return [*unsent, *(delivery for delivery, _ in work.redelivered)]


def send_and_delete(batch: list[Copy], broker: Broker, invocation: Invocation) -> list[Delivery]:
    """Send copies, delete at once what they were made of, and return the deliveries for which nothing was sent."""
    sent = broker.send(batch)
    instead = [copy for refused, failure in sent.failed if (copy := copy_instead(refused, failure, broker, invocation))]
    done = sent.confirmed + [each for group in batches(instead) for each in broker.send(group).confirmed]
    broker.delete(done)
    return [copy.delivery for copy in batch if copy.delivery not in done]


def copy_instead(refused: Copy, failure: Failure, broker: Broker, invocation: Invocation) -> Copy | None:
    """Return what is sent instead of a copy that was refused for good; None when its message stays on the queue.

    A copy for the error queue waits on its own queue and is sent on from there. A failed message of which no copy for a retry can be
    sent because it is too large for its own queue moves to the error queue.
    """
    delivery, settlement = refused.delivery, invocation.settlement_of(refused.delivery)
    if broker.queue.fifo or failure.kind not in {"refused", "size"} or not isinstance(settlement, Forward):
        return None  # a FIFO queue keeps its order, and a copy without an answer may be there
    if delivery.given_up or FAILED_QUEUE in settlement.changes:
        later = deferral_after_refusal(delivery, settlement)
        invocation.settle(delivery, later)
        return copy_of(delivery, later, source=broker.queue, to=broker.queue, where=broker.where(delivery))
    if failure.kind != "size" or not isinstance(delivery.error, Exception):
        return None  # its own queue may take it later, or it was only to wait
    settings, platform = invocation.recoverability, invocation.platform
    moved = give_up(delivery, delivery.error, recoverability=settings, platform=platform, now=invocation.clock())
    if not isinstance(moved, Forward):
        return None
    log_not_settled(delivery, NO_RETRY.format(moved.to, failure.reason), broker)
    invocation.settle(delivery, moved)
    if invocation.observer is not None:
        invocation.observer.note_given_up(delivery, moved, delivery.error)
    to = destination(moved.to, broker.queue)
    return copy_of(delivery, moved, source=broker.queue, to=to, where=broker.where(delivery))


def longer_wait(delivery: Delivery, broker: Broker, invocation: Invocation) -> timedelta | None:
    """Return how long a message that could not be sent stays hidden: as long again as since its first receive, up to 15 minutes or the queue's
    own time-out, whichever is longer.

    Return None to leave it to the queue's time-out, which is taken to be six times the function's where it is not known (Lambda, "Using
    Lambda with Amazon SQS").
    """
    beat = timedelta(seconds=seconds_of_heartbeat(invocation))
    own = beat or broker.time.visibility_timeout or timedelta(seconds=6 * broker.time.total)
    since = seconds_since_first_receive(delivery, invocation.clock())
    if since is None or since < own.total_seconds():
        return None
    return min(timedelta(seconds=since), max(LONGEST_DELAY, own))


def sort_by_settlement(deliveries: list[Delivery], broker: Broker, invocation: Invocation) -> Work:
    """Sort the deliveries by what the broker must do with them."""
    work = Work([], [], [])
    for delivery in deliveries:
        match settlement := invocation.settlement_of(delivery):
            case Complete():
                work.completed.append(delivery)
            case Redeliver(after=after):
                work.redelivered.append((delivery, after))
            case Forward() as forward:
                try_to_forward(delivery, forward, broker, work)
            case None:
                work.redelivered.append((delivery, None))  # never decided: it comes back
            case _:
                assert_never(settlement)
    return work


def try_to_forward(delivery: Delivery, settlement: Forward, broker: Broker, work: Work) -> None:
    """Add a copy to the work, as `forward` does; a message of which none can be made stays, and its neighbours do not suffer."""
    try:
        forward(delivery, settlement, broker, work)
    except Exception as error:  # noqa: BLE001  # such as attributes that no client of SQS wrote; it is logged, and the message will be redelivered
        log_not_settled(delivery, NO_COPY.format(settlement.to, type(error).__name__), broker)
        work.redelivered.append((delivery, None))


def forward(delivery: Delivery, settlement: Forward, broker: Broker, work: Work) -> None:
    """Add a copy to the work; where none fits, add a redelivery, so that the broker's redrive policy takes the message in the end.

    Such a redelivery is never at once: without a redrive policy it would go on without a pause.
    """
    to = destination(settlement.to, broker.queue)
    if FAILED_QUEUE in settlement.changes and is_same(to, broker.queue):
        log_not_settled(delivery, OWN_ERROR_QUEUE.format(to.name), broker)
        work.redelivered.append((delivery, None))
    elif (copy := copy_of(delivery, settlement, source=broker.queue, to=to, where=broker.where(delivery))) is None:
        log_not_settled(delivery, TOO_LARGE, broker)
        work.redelivered.append((delivery, settlement.delay or None))
    else:
        work.copies.append(copy)


def in_whole_seconds(
    redelivered: list[tuple[Delivery, timedelta | None]], longest_visibility: float
) -> list[tuple[Delivery, int]]:
    """Return the deliveries whose visibility is changed, and for how many seconds: never early, and no more than SQS takes."""
    most = int(longest_visibility)
    return [(delivery, min(ceil(after.total_seconds()), most)) for delivery, after in redelivered if after is not None]


def log_not_settled(delivery: Delivery, why: str, broker: Broker) -> None:
    """Log why a message was not settled as decided, and what happens to it."""
    message = delivery.message
    extra = {"message_id": message.id, "queue": message.queue}
    text = "Message '%s' from '%s' was not settled as decided: %s"
    log_safely(log.warning, text, message.id, message.queue, why, extra=extra, redact=redactor_in(broker.time))
