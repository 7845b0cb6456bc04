"""Take a message on where more is to be done than to run its handler and complete it: at receipt, after a failure, in another attempt here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from recoverable._errors import MessageDeserializationError, TimeUp, UnreportedFailure
from recoverable._flow.last_failures import last_failure_of, remember
from recoverable._ladder.backoff import FIRST_DELAY, LONGEST_DELAY, MOST_REDELIVERY, delay_while_redelivered
from recoverable._ladder.decision import (
    classify_timeout,
    decide,
    forward_given_up,
    move_instead_of_waiting,
    redeliver_instead_of_copying,
)
from recoverable._ladder.delivery import Deferral, delivery_of, is_retried_in_process, runs_left
from recoverable._ladder.faults import readable
from recoverable._ladder.policy import delay_asked_for, is_unrecoverable, retry_after
from recoverable._ladder.settlement import COMPLETE, Forward, Redeliver
from recoverable._limits import MAX_DELAY, NO_DELAY
from recoverable._observe.log import report, report_given_up, report_success, report_undecided
from recoverable._outgoing.message import OutgoingRefused
from recoverable.headers import MESSAGE_INTENT

if TYPE_CHECKING:
    from collections.abc import Generator
    from datetime import datetime, timedelta
    from typing import Any, Protocol

    from recoverable._config import Recoverability
    from recoverable._flow.flow import Call, Ran, Run
    from recoverable._flow.invocation import Gate, Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Platform, Settlement
    from recoverable._message import Message

    class Lease(Protocol):
        """Knows for how long an invocation has its messages."""

        def is_lost(self, delivery: Delivery, /) -> bool:
            """True if another delivery may have a message by now."""

        def why_not_wait(self, delivery: Delivery, after: timedelta | None) -> str:
            """Return why a message cannot wait in its queue for so long, None for the queue's own time; "" where it can."""

        def why_too_large(self, delivery: Delivery, forward: Forward) -> str:
            """Return why no copy of a message can be made, so that it stays in its queue; "" where one can."""

        def wait_in_order(self, delivery: Delivery, /) -> timedelta | None:
            """Return how long a message waits in its place; None at its last delivery."""

        def why_no_copy(self) -> str:
            """Return why no copy may be sent any more, so that a message is redelivered instead; "" where one may."""


LOST = Redeliver(None)
"""The settlement of a message that another delivery may have by now: nothing is done for this one."""

NO_OUTCOME = (
    "its deliveries ended without a recorded outcome: a time-out, a crash, lack of memory, a lock or visibility timeout that "
    "ended before its handler did, a copy that was refused, or a ladder that was made smaller"
)
"""What may have become of the deliveries of a message: nobody knows which."""

LONGEST_INTENT = 20
"""Characters of a control message's intent that are shown; the longest of NServiceBus's own is Unsubscribe."""

NO_TIME = "this invocation has no time left for it"
"""Why a message is handed back, unless said otherwise."""


def take_on(
    message: Message, invocation: Invocation, ran: Ran | None, *, may_defer: bool
) -> Generator[Run | Call, Any, bool]:
    """Take a message on, and record its settlement; return False where what handlers sent must leave before the next one starts.

    It is attempted again here for as long as that is its settlement: at once, which counts, or after it has waited in
    its place, which does not. Each attempt goes the whole way from receipt on.

    Args:
        message: the message.
        invocation: what it runs in.
        ran: how its handler has ended; None where it has not run.
        may_defer: False when deferrals could not be sent, and handlers must run instead.
    """
    delivery = delivery_of(message)
    while True:
        if ran is None:
            settlement = yield from attempt_message(message, delivery, invocation, may_defer=may_defer)
        else:
            settlement, ran = (yield from conclude(delivery, *ran, invocation)), None
        if settlement is None:
            return invocation.must_send is None or not invocation.must_send()
        invocation.settlements[message] = settlement
        if not isinstance(settlement, Redeliver):
            return True
        waits = settlement.in_place
        if not (waits or retries_here(settlement, delivery, invocation, invocation.platform)):
            return True
        invocation.finished -= 1  # it counts messages: the time of all their attempts says how long the next ones take
        message = delivery.next_attempt(counted=0 if waits else 1)


def attempt_message(
    message: Message, delivery: Delivery, invocation: Invocation, *, may_defer: bool
) -> Generator[Run | Call, Any, Settlement | None]:
    """Return the settlement of a message after receipt, handler and recovery; None where what its handler sent is to be sent first."""
    settlement = yield from receive(delivery, invocation, may_defer=may_defer)
    if settlement is not None:
        return settlement
    seconds = invocation.deadline.seconds_left()
    if seconds <= 0 or invocation.interruption is not None:
        return hand_back(delivery, invocation)
    invocation.started += 1
    message._outbox, message._context = invocation, invocation.context
    if invocation.record is None:
        error = yield (message,), seconds
    else:
        error = yield from invocation.record.attempt((message,), seconds)
    outbox, message._outbox = message._outbox, False
    invocation.finished += 1
    return (yield from conclude(delivery, error, outbox, seconds, invocation))


def receive(
    delivery: Delivery, invocation: Invocation, *, may_defer: bool
) -> Generator[Run | Call, Any, Settlement | None]:
    """Return the settlement of a message whose handler must not run now; None when it may; see `settle_on_receipt`."""
    settle = partial(settle_on_receipt, delivery, invocation, may_defer=may_defer)
    blocks = any(gate.asks_about(delivery) for gate in invocation.gates)
    return (yield settle) if blocks else settle()


def conclude(
    delivery: Delivery, error: BaseException | None, outbox: Any, seconds: float, invocation: Invocation
) -> Generator[Run | Call, Any, Settlement | None]:
    """Return the settlement of a message whose handler has ended; None where what the handler sent is to be sent first.

    Raises:
        KeyboardInterrupt, SystemExit: where the invocation does not hold them until all is settled.
    """
    deadline = invocation.deadline
    delivery.handler_seconds = None if deadline.shared else deadline.now() - deadline.began
    if error is None and outbox is not invocation:
        invocation.outgoing.append((delivery, outbox, seconds))
        return None
    blocks = any(error is not None or not gate.quiet for gate in invocation.gates)
    if error is None:
        delivery.error = None
    else:
        invocation.plain &= not invocation.gates  # they must hear of what succeeds from now on
        error = delivery.error = readable(error)
        invocation.failed.append(delivery)
    if isinstance(error, KeyboardInterrupt | SystemExit):
        if not invocation.holds_interruptions:
            raise error  # a copy would come beside the original, which comes back
        invocation.interruption, invocation.plain = error, False
    settle = partial(settle_on_end, delivery, seconds, invocation)
    return (yield settle) if blocks else settle()


def waits_here(settlement: Settlement | None) -> bool:
    """True if a message waits in this invocation while the rate is limited, and its handler runs again there."""
    return isinstance(settlement, Redeliver) and settlement.in_place


def retries_here(settlement: Settlement | None, delivery: Delivery, invocation: Invocation, platform: Platform) -> bool:
    """True if a settlement is an immediate retry that is made in this invocation."""
    in_process = invocation.recoverability.immediate.in_process
    return in_process and settlement == Redeliver(NO_DELAY) and is_retried_in_process(delivery, platform)


def settle_on_receipt(delivery: Delivery, invocation: Invocation, *, may_defer: bool = True) -> Settlement | None:
    """Return the settlement of a delivery whose handler must not run now; None when it may.

    Args:
        delivery: the message as it came.
        invocation: what it came in.
        may_defer: False when a deferral could not be sent, and the handler must run instead.
    """
    settlement = settle_without_attempt(delivery, invocation, may_defer=may_defer)
    if settlement is not None or not may_defer:
        return settlement
    keeps_place = invocation.seconds_in_place is not None or invocation.platform.redelivers_only
    within = (invocation.seconds_in_place or invocation.deadline.seconds_left) if keeps_place else None
    for gate in invocation.gates:
        waiting = gate.before(delivery, within)
        settlement = None if waiting is None else wait_for(gate, waiting, delivery, invocation)
        if settlement is not None:
            return settlement
    return None


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
    for gate in invocation.gates:
        gate.release(delivery)
    return decide_and_report(delivery, Deferral(delay, reason, stopped=stopped), invocation)


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
        for gate in invocation.gates:
            gate.after(delivery, None)
        if delivery.is_retry:
            report_success(delivery, invocation.clock(), invocation.redact, in_text=invocation.platform.text_log)
        return COMPLETE
    if isinstance(failure, TimeUp):
        had_its_time = invocation.started == 1 or seconds == invocation.deadline.own_seconds
        failure = classify_timeout(failure, seconds, counts_as_failure=had_its_time)
    if failure is None:
        return hand_back(delivery, invocation, stopped=True)
    delivery.error = failure
    return settle_failure(delivery, failure, invocation)


def settle_failure(delivery: Delivery, failure: BaseException, invocation: Invocation) -> Settlement:
    """Return the settlement of a delivery whose attempt failed."""
    remember(delivery, failure, invocation)
    if (invocation.gates or invocation.on_failure is not None) and is_lost_to_another(delivery, invocation):
        return lose(delivery, invocation)
    if invocation.on_failure is not None:
        invocation.on_failure(delivery.message, failure)
    for gate in invocation.gates:
        waiting = gate.after(delivery, failure)
        if waiting is None or is_final(failure, invocation.recoverability):
            continue
        asked = delay_asked_for(retry_after(failure)) or NO_DELAY
        waiting = waiting.replace(delay=max(waiting.delay, asked))
        settlement = wait_for(gate, waiting, delivery, invocation)
        if settlement is not None:
            return settlement
    return decide_and_report(delivery, failure, invocation)


def is_final(failure: BaseException, recoverability: Recoverability) -> bool:
    """True if a failure is unrecoverable by the settings: it moves to the error queue at once, whatever limits the rate.

    False when a predicate raises: the message waits, and the policy warns of it when it is attempted again.
    """
    try:
        return is_unrecoverable(recoverability, failure)
    except Exception:  # noqa: BLE001  # as said above
        return False


def wait_for(gate: Gate, waiting: Deferral, delivery: Delivery, invocation: Invocation) -> Settlement | None:
    """Return the settlement of a message that waits for a gate; None where it may not: it is attempted, or has failed.

    After an attempt it waits in this invocation where that has the time, and runs again.

    Args:
        gate: the gate.
        waiting: how long a copy waits; where the order is kept, the message itself waits by its count and age.
        delivery: the message as it came.
        invocation: what it came in.
    """
    within = invocation.seconds_in_place
    if within and waiting.failure is not None and not delivery.left_behind and waiting.delay.total_seconds() < within():
        settlement = decide_and_report(delivery, waiting.replace(in_place=True), invocation)
        if waits_here(settlement):
            gate.wait(waiting.delay.total_seconds())
        return settlement
    if invocation.platform.redelivers_only:
        in_order = None if invocation.lease is None else invocation.lease.wait_in_order(delivery)
        if in_order is None:
            return None
        waiting = waiting.replace(delay=in_order)
    return decide_and_report(delivery, waiting, invocation)


def is_lost_to_another(delivery: Delivery, invocation: Invocation) -> bool:
    """True if another delivery may have a message by now, so that nothing is done for this one.

    What would not come again, or would expire, is not left to another delivery: it moves to the error queue.
    """
    lease = invocation.lease
    return lease is not None and lease.is_lost(delivery) and not lease.why_not_wait(delivery, None)


def lose(delivery: Delivery, invocation: Invocation) -> Settlement:
    """Return the settlement of a message that is lost to another delivery; nothing is logged, observed or counted for it."""
    for gate in invocation.gates:
        gate.release(delivery)
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
    settings, record, lease = invocation.recoverability, invocation.record, invocation.lease
    is_lost = lease is not None and lease.is_lost(delivery)
    if lease is not None and is_lost and not (why := why or lease.why_not_wait(delivery, None)):
        return lose(delivery, invocation)
    platform, now = platform_for(delivery, event, invocation), invocation.clock()
    if isinstance(event, Deferral | UnreportedFailure):
        delivery.last_failure = last_failure_of(delivery, invocation)
    try:
        decision = decide(delivery, event, recoverability=settings, platform=platform, now=now)
        if lease is not None and isinstance(decision.settlement, Forward) and (no_copy := lease.why_no_copy()):
            decision = redeliver_instead_of_copying(decision, no_copy)
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
        report_undecided(delivery, error, settings.redact)
        return Redeliver(None) if record is None else record.note_undecided(delivery)
    stays = ""
    if lease is not None and isinstance(decision.settlement, Forward):
        stays = lease.why_too_large(delivery, decision.settlement)
    report(decision, settings.redact, in_text=platform.text_log, stays=stays)
    return decision.settlement if record is None else record.note(decision)


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
    runs = not isinstance(event, OutgoingRefused) and invocation.interruption is None
    return platform.__replace__(counter="native" if runs and invocation.seconds_for_retries() > 0 else "header")


def send_on(delivery: Delivery, invocation: Invocation) -> Settlement:
    """Return the settlement of a message that was given up earlier, and log it; its handler does not run.

    Args:
        delivery: the delivery; its `given_up` is True.
        invocation: what it came in; the error queue is resolved.
    """
    if is_lost_to_another(delivery, invocation):
        return lose(delivery, invocation)
    error_queue = invocation.recoverability.failed.error_queue or ""
    report_given_up(delivery, error_queue)
    settlement = forward_given_up(delivery, error_queue)
    return settlement if invocation.record is None else invocation.record.note_given_up(delivery, settlement)


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
        waited: the time since its first delivery.
        until_last_round: how long its last delivery must wait, because its handler would not run before.
    """
    left = runs_left(delivery.receives, invocation.recoverability)
    if left <= 0 or waited >= MOST_REDELIVERY:
        delivery.error = OutgoingRefused(
            f"'{to}' did not take an outgoing message ({why}) at delivery {delivery.receives}, {waited} after the first; where order is kept "
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
