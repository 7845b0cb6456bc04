"""Settle a delivery before its handler runs and after it has ended: ask the rate limit and the ladder, log the decision, note it for an observer.

A rate limit and retries in process come here while all succeeds, so the ladder and the log are imported where they are
first needed.
"""

from __future__ import annotations

from functools import partial

from recoverable._errors import MessageDeserializationError, TimeUp, UnreportedFailure
from recoverable._ladder.delivery import Deferral, delivery_of, is_retried_in_process, runs_left
from recoverable._ladder.settlement import COMPLETE, Redeliver
from recoverable._limits import MAX_DELAY, NO_DELAY
from recoverable.headers import MESSAGE_INTENT

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from datetime import datetime, timedelta
    from typing import Any, Protocol

    from recoverable._flow.flow import Call, Run
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Platform, Settlement
    from recoverable._message import Message

    class Lease(Protocol):
        """Knows for how long an invocation has its messages."""

        def is_lost(self, delivery: Delivery, /) -> bool:
            """True if another delivery may have a message by now."""

        def why_not_wait(self, delivery: Delivery, after: timedelta | None) -> str:
            """Return why a message cannot wait in its queue for so long, None for the queue's own time; "" where it can."""

        def wait_in_order(self, delivery: Delivery, /) -> timedelta | None:
            """Return how long a message waits in its place; None at its last delivery."""


LOST = Redeliver(None)
"""The settlement of a message that another delivery may have by now: nothing is done for this one."""

NO_OUTCOME = "its deliveries ended without a recorded outcome: time-out, crash or lack of memory"

LONGEST_INTENT = 20
"""Characters of a control message's intent that are shown; the longest of NServiceBus's own is Unsubscribe."""

NO_TIME = "this invocation has no time left for it"
"""Why a message is handed back, unless said otherwise."""


def retried_in_process(messages: Iterable[Message], invocation: Invocation) -> Iterator[Message]:
    """Yield each message, and again for as long as it is attempted here: each attempt goes the whole way from receipt on.

    It is attempted again at once, which counts, or after it has waited in its place, which does not.

    Args:
        messages: the messages as they came.
        invocation: what they run in.
    """
    platform, settlements = invocation.platform, invocation.settlements
    for message in messages:
        yield message
        attempted, delivery = message, delivery_of(message)
        while waits_here(settlement := settlements.get(attempted)) or retries_here(
            settlement, delivery, invocation, platform
        ):
            # it counts messages: the time of all their attempts says how long the next ones take
            invocation.finished -= 1
            attempted = delivery.next_attempt(counted=0 if waits_here(settlement) else 1)
            yield attempted


def waits_here(settlement: Settlement | None) -> bool:
    """True if a message waits in this invocation while the rate is limited, and its handler runs again there."""
    return isinstance(settlement, Redeliver) and settlement.in_place


def retries_here(settlement: Settlement | None, delivery: Delivery, invocation: Invocation, platform: Platform) -> bool:
    """True if a settlement is an immediate retry that is made in this invocation."""
    in_process = invocation.recoverability.immediate.in_process
    return in_process and settlement == Redeliver(NO_DELAY) and is_retried_in_process(delivery, platform)


def receive(
    message: Message, invocation: Invocation, *, may_defer: bool
) -> Generator[Run | Call, Any, Settlement | None]:
    """Return the settlement of a message whose handler must not run now; None when it may; see `settle_on_receipt`."""
    delivery, limiter = delivery_of(message), invocation.limiter
    settle = partial(settle_on_receipt, delivery, invocation, may_defer=may_defer)
    blocks = limiter is not None and not limiter.is_untroubled(delivery)
    return (yield settle) if blocks else settle()


def conclude(
    message: Message, error: BaseException | None, outbox: Any, seconds: float, invocation: Invocation
) -> Generator[Run | Call, Any, Settlement | None]:
    """Return the settlement of a message whose handler has ended, in all cases but the plainest.

    None where what the handler sent is to be sent first.

    Raises:
        KeyboardInterrupt, SystemExit: where the invocation does not hold them until all is settled.
    """
    delivery, limiter, deadline = delivery_of(message), invocation.limiter, invocation.deadline
    delivery.handler_seconds = None if deadline.shared else deadline.now() - deadline.began
    if outbox is not invocation and error is None:
        invocation.outgoing.append((delivery, outbox, seconds))
        return None
    if error is not None:
        from recoverable._ladder.faults import readable  # noqa: PLC0415  # the failure side

        error = delivery.error = readable(error)
        invocation.failed.append(delivery)
    if isinstance(error, KeyboardInterrupt | SystemExit):
        if not invocation.holds_interruptions:
            raise error  # a copy would come beside the original, which comes back
        invocation.interruption = error
    settle = partial(settle_on_end, delivery, seconds, invocation)
    blocks = limiter is not None and (error is not None or limiter.alert)
    return (yield settle) if blocks else settle()


def settle_on_receipt(delivery: Delivery, invocation: Invocation, *, may_defer: bool = True) -> Settlement | None:
    """Return the settlement of a delivery whose handler must not run now; None when it may.

    Args:
        delivery: the message as it came.
        invocation: what it came in.
        may_defer: False when a deferral could not be sent, and the handler must run instead.
    """
    settlement = settle_without_attempt(delivery, invocation, may_defer=may_defer)
    if settlement is not None:
        return settlement
    limiter = invocation.limiter
    if limiter is None or not may_defer:
        return None
    delay = limiter.delay_before_attempt(delivery)
    if delay is not None and (invocation.seconds_in_place is not None or invocation.platform.redelivers_only):
        within = invocation.seconds_in_place or invocation.deadline.seconds_left
        delay = limiter.wait_for_turn(delivery, delay, within)
    return None if delay is None else defer_while_limited(delivery, delay, invocation)


def settle_without_attempt(delivery: Delivery, invocation: Invocation, *, may_defer: bool = True) -> Settlement | None:
    """Return the settlement of what is not yet due, given up already, a control message, or past its last delivery that runs; None when the rate limit alone may be in its way.

    Args:
        delivery: the message as it came.
        invocation: what it came in.
        may_defer: False when a deferral could not be sent.
    """
    if delivery.due_at is not None and may_defer and (hop := settle_not_due(delivery, delivery.due_at, invocation)):
        return hop
    if delivery.carried.refused_sends:
        return send_on(delivery, invocation)
    if delivery.given_up:
        return settle_control_message(delivery, invocation)
    return decide_and_report(delivery, UnreportedFailure(NO_OUTCOME), invocation) if delivery.unreported else None


def settle_not_due(delivery: Delivery, due_at: datetime, invocation: Invocation) -> Settlement | None:
    """Return the next hop of a copy that must wait longer; None when it is due, or would not be for an absurdly long time."""
    delay = due_at - invocation.clock()
    if NO_DELAY < delay <= MAX_DELAY:
        return decide_and_report(delivery, Deferral(delay, "it is not yet due", hop=True), invocation)
    return None


def settle_control_message(delivery: Delivery, invocation: Invocation) -> Settlement:
    """Return the settlement of a control message of NServiceBus: as of one that cannot be read."""
    message = delivery.message
    why = "a control message of NServiceBus (intent {}) is for no handler; have its sender know that '{}' is no endpoint of NServiceBus, and delete the message"
    intent = message.headers.get(MESSAGE_INTENT, "unknown")[:LONGEST_INTENT]
    return decide_and_report(delivery, MessageDeserializationError(why.format(intent, message.queue)), invocation)


def hand_back(
    delivery: Delivery,
    invocation: Invocation,
    delay: timedelta = NO_DELAY,
    *,
    reason: str = NO_TIME,
    stopped: bool = False,
) -> Settlement:
    """Return the settlement of a message that is to run in a later invocation, and loses no attempt.

    Args:
        delivery: the message as it came.
        invocation: what it came in.
        delay: how long it waits.
        reason: why it is handed back, for the log.
        stopped: True if its handler was stopped for the sake of others: it is marked, and comes first next time.
    """
    if invocation.limiter is not None:
        invocation.limiter.release_probe(delivery)
    return decide_and_report(delivery, Deferral(delay, reason, stopped=stopped), invocation)


def not_started(message: Message, invocation: Invocation) -> Settlement:
    """Return the settlement of a message for whose handler this invocation has no time left."""
    return hand_back(delivery_of(message), invocation)


def settle_on_end(delivery: Delivery, seconds: float, invocation: Invocation) -> Settlement:
    """Return the settlement of a delivery whose handler has ended; `delivery.error` says how.

    Args:
        delivery: the message as it came.
        seconds: how long the handler was allowed to run.
        invocation: what it ran in. A stop is a failure only of the one handler that has started in it: one that ran
            before, or at the same time, may have used up the time.
    """
    failure = delivery.error
    if failure is None:
        if invocation.limiter is not None:
            invocation.limiter.succeeded()
        return COMPLETE
    if isinstance(failure, TimeUp):
        from recoverable._ladder.decision import classify_timeout  # noqa: PLC0415  # as in `decide_and_report`

        had_its_time = invocation.started == 1 or seconds == invocation.deadline.own_seconds
        failure = classify_timeout(failure, seconds, counts_as_failure=had_its_time)
    if failure is None:
        return hand_back(delivery, invocation, stopped=True)
    delivery.error = failure
    return settle_failure(delivery, failure, invocation)


def settle_failure(delivery: Delivery, failure: BaseException, invocation: Invocation) -> Settlement:
    """Return the settlement of a delivery whose attempt failed."""
    limiter = invocation.limiter
    if (limiter or invocation.on_failure) is not None and is_lost_to_another(delivery, invocation):
        return lose(delivery, invocation)
    if invocation.on_failure is not None:
        invocation.on_failure(delivery.message, failure)
    if limiter is not None and (delay := limiter.failed(delivery, failure)) is not None:
        deferred = defer_while_limited(delivery, delay, invocation, failure)
        if deferred is not None:
            return deferred
    return decide_and_report(delivery, failure, invocation)


def defer_while_limited(
    delivery: Delivery, delay: timedelta, invocation: Invocation, failure: BaseException | None = None
) -> Settlement | None:
    """Return the settlement of a message that waits because the rate is limited; None where it may not: it is attempted, or has failed.

    After an attempt it waits in this invocation where that has the time, and runs again.

    Args:
        delivery: the message as it came.
        delay: how long a copy waits; where the order is kept, the message itself waits by its count and age.
        invocation: what it came in.
        failure: what its handler raised, if it ran.
    """
    from recoverable._ladder.decision import RATE_LIMITED  # noqa: PLC0415  # as in `decide_and_report`

    limiter, within = invocation.limiter, invocation.seconds_in_place
    if limiter and within and failure is not None and not delivery.left_behind and delay.total_seconds() < within():
        waiting = Deferral(delay, RATE_LIMITED, failure=failure, in_place=True)
        settlement = decide_and_report(delivery, waiting, invocation)
        if waits_here(settlement):
            limiter.pause(delay.total_seconds())
        return settlement
    if invocation.platform.redelivers_only:
        in_order = None if invocation.lease is None else invocation.lease.wait_in_order(delivery)
        if in_order is None:
            return None
        delay = in_order
    return decide_and_report(delivery, Deferral(delay, RATE_LIMITED, failure=failure), invocation)


def is_lost_to_another(delivery: Delivery, invocation: Invocation) -> bool:
    """True if another delivery may have a message by now, so that nothing is done for this one.

    What would not come again, or would expire, is not left to another delivery: it moves to the error queue.
    """
    lease = invocation.lease
    return lease is not None and lease.is_lost(delivery) and not lease.why_not_wait(delivery, None)


def lose(delivery: Delivery, invocation: Invocation) -> Settlement:
    """Return the settlement of a message that is lost to another delivery; nothing is logged, observed or counted for it."""
    if invocation.limiter is not None:
        invocation.limiter.release_probe(delivery)
    return LOST


def decide_and_report(
    delivery: Delivery, event: BaseException | Deferral, invocation: Invocation, why: str = ""
) -> Settlement:
    """Return the settlement of a delivery, and log it; where the decision itself raises, the message is redelivered.

    Args:
        delivery: the delivery.
        event: the failed attempt's exception, or the deferral.
        invocation: what it came in.
        why: why the message cannot wait, and moves to the error queue whatever is decided; "" for what the lease says.
    """
    from recoverable._ladder.decision import decide, move_instead_of_waiting  # noqa: PLC0415  # the failure side
    from recoverable._observe.log import report, report_undecided  # noqa: PLC0415  # the failure side

    settings, observer, lease = invocation.recoverability, invocation.observer, invocation.lease
    is_lost = lease is not None and lease.is_lost(delivery)
    if lease is not None and is_lost and not (why := why or lease.why_not_wait(delivery, None)):
        return lose(delivery, invocation)
    platform, now = platform_for(delivery, event, invocation), invocation.clock()
    try:
        decision = decide(delivery, event, recoverability=settings, platform=platform, now=now)
        settlement = decision.settlement
        if (
            lease is not None
            and not (why or is_lost)
            and isinstance(settlement, Redeliver)
            and not retries_here(settlement, delivery, invocation, platform)
        ):
            why = lease.why_not_wait(delivery, settlement.after)
        if why:
            decision = move_instead_of_waiting(decision, why, recoverability=settings, platform=platform, now=now)
    except Exception as error:  # noqa: BLE001  # logged; such as for an exception that raises when it is read
        report_undecided(delivery, error, invocation.redact)
        return Redeliver(None) if observer is None else observer.note_undecided(delivery)
    report(decision, invocation.redact, in_text=platform.text_log)
    return decision.settlement if observer is None else observer.note(decision)


def platform_for(delivery: Delivery, event: BaseException | Deferral, invocation: Invocation) -> Platform:
    """Return what counts for the next attempt of a delivery; this is the broker, unless the message is retried in process.

    There its count is 1, so both counters count the same failures, and they differ in how an immediate retry is made:
    "native" by giving it back at once, which this invocation does itself; "header", by a copy that carries the count,
    once no time is left, and for what was refused when the handlers had run. It is a copy too where the handler was left
    behind: at once the message would run beside itself.
    """
    platform = invocation.platform
    if delivery.left_behind:
        return platform.__replace__(counter="header")
    if not (invocation.recoverability.immediate.in_process and is_retried_in_process(delivery, platform)):
        return platform
    from recoverable._outgoing.message import OutgoingRefused  # noqa: PLC0415  # the failure side

    runs = not isinstance(event, OutgoingRefused) and invocation.interruption is None
    return platform.__replace__(counter="native" if runs and invocation.seconds_for_retries() > 0 else "header")


def send_on(delivery: Delivery, invocation: Invocation) -> Settlement:
    """Return the settlement of a message that was given up earlier, and log it; its handler does not run.

    Args:
        delivery: the delivery; its `given_up` is True.
        invocation: what it came in; the error queue is resolved.
    """
    from recoverable._ladder.decision import forward_given_up  # noqa: PLC0415  # the failure side
    from recoverable._observe.log import report_given_up  # noqa: PLC0415  # the failure side

    if is_lost_to_another(delivery, invocation):
        return lose(delivery, invocation)
    error_queue = invocation.recoverability.failed.error_queue or ""
    report_given_up(delivery, error_queue)
    settlement = forward_given_up(delivery, error_queue)
    return settlement if invocation.observer is None else invocation.observer.note_given_up(delivery, settlement)


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
    from recoverable._ladder.backoff import FIRST_DELAY, LONGEST_DELAY  # noqa: PLC0415  # the failure side

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

    At the last delivery, and after a day, the attempt fails with what was not taken as its reason: the next delivery
    could not say why the message is given up, and its retention ends one day.

    Args:
        delivery: the message as it came.
        to: the queue or topic.
        why: why it did not take what was sent.
        invocation: what it ran in.
        deliveries: how often the broker has delivered it.
        waited: the time since its first delivery.
        until_last_round: how long its last delivery must wait, because its handler would not run before.
    """
    from recoverable._ladder.backoff import MOST_REDELIVERY, delay_while_redelivered  # noqa: PLC0415  # the failure side
    from recoverable._outgoing.message import OutgoingRefused  # noqa: PLC0415  # the failure side

    left = runs_left(deliveries, invocation.recoverability)
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
