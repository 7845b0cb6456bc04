"""Settle with the broker what recovery decided: send the copies first, then complete; nothing is done twice, nothing is lost."""

from __future__ import annotations

import logging
from datetime import timedelta
from math import ceil
from typing import TYPE_CHECKING, NamedTuple, assert_never

from recoverable._errors import TooLarge, UnreportedFailure
from recoverable._flow.settle import LOST, is_lost_to_another
from recoverable._ladder.backoff import LONGEST_DELAY, LONGEST_REDELIVERY, pauses
from recoverable._ladder.decision import deferral_after_refusal, give_up
from recoverable._ladder.delivery import delivery_of
from recoverable._ladder.faults import FAILED_QUEUE
from recoverable._ladder.settlement import COMPLETE, Complete, Forward, Redeliver
from recoverable._limits import NO_DELAY
from recoverable._observe.log import log_safely
from recoverable._sqs.answers import describe_error
from recoverable._sqs.batches import CHANGE_VISIBILITY, DELETE, MAX_ENTRIES, MAX_SIZE, SEND, batches
from recoverable._sqs.names import destination, is_same
from recoverable._sqs.wire import control_entry, wire_of
from recoverable.aws._copies import copy_of, identity, without_faults
from recoverable.aws._order import since_first_receive
from recoverable.aws._undeleted import hold, is_denied, is_done_with, may_copy, note_deletes
from recoverable.headers import DUE_AT, read_date
from recoverable.nservicebus.acknowledgements import acknowledgements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.faults import Redact
    from recoverable._message import Message
    from recoverable._sqs.answers import Failure
    from recoverable._sqs.batches import BatchOperation, Entry
    from recoverable._sqs.queues import Queue
    from recoverable.aws._batch import Batch
    from recoverable.aws._copies import Copy
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

SHOWN_TO_OTHERS = (
    "%d messages from '%s' were shown to others before they were settled. Nothing is sent for them, and they are delivered again. "
    "Raise the queue's VisibilityTimeout to six times the function's time-out and the batching window."
)

SURELY_SMALL = MAX_SIZE // 5
"""Characters of a message of which there is room for a copy: each is four bytes at most, and headers of ours are fewer than the rest."""

STAY = "They stay on the queue and will be redelivered after their visibility timeout."
WAIT = "They wait on '{}' and are sent again without running their handler, up to 15 minutes apart."
CHECK_SENDING = "Check Failed(error_queue) and the permission sqs:SendMessage."
CHECK_QUEUE = "Check {}: the queue {} must exist, and the function needs the permission sqs:SendMessage on it."
NOT_DELETED = (
    "They are not reported as failed: the event source mapping deletes them where the role may, or they are redelivered if "
    "the invocation fails. Check the permission sqs:DeleteMessage."
)
REPEATED = "It is repeated once."
NOT_ACKNOWLEDGED = (
    "They were handled, and ServicePulse shows their retries as pending: mark them as resolved there. Check the permission "
    "sqs:SendMessage."
)
NOT_CHANGED = (
    "They will be redelivered after their visibility timeout, not after the delay that was decided. "
    "Check the permission sqs:ChangeMessageVisibility."
)


def are_completed(group: list[Message], invocation: Invocation) -> bool:
    """True if each message is to be completed; one that was retried in process is settled as the message of its last attempt."""
    return all(invocation.settlement_of(delivery_of(message)) is COMPLETE for message in group)


def settle(group: list[Message], batch: Batch, *, complete_now: bool) -> list[Delivery]:
    """Do with the broker what was decided about a group: send copies, then delete, then change visibility.

    Args:
        group: the messages, each with its settlement.
        batch: what they came in.
        complete_now: True to delete completed messages here; False to leave that to the event source mapping.

    Returns:
        The deliveries that are not completed: they belong into `batchItemFailures`.
    """
    invocation, deliveries = batch.invocation, [delivery_of(message) for message in group]
    if batch.hosted is not None and (watch := batch.hosted.watch) is not None:
        deliveries, complete_now = watch.claim(deliveries), complete_now or watch.late
    settlements = invocation.settlements
    lose_to_others([each for each in deliveries if settlements.get(each.message) is not COMPLETE], batch)
    copies, completed, redelivered = sort_by_settlement(deliveries, batch)
    unsent: list[Delivery] = []
    if complete_now and completed:
        redelivered += [(delivery, None) for delivery in complete(completed, batch)]
        completed = []
    copies, waiting = leave_or_wait(copies, batch)
    redelivered += waiting
    if copies and (timeouts := batch.settings.timeouts) is not None:
        copies, stored, unsent = store_long_delays(copies, timeouts, batch)
        delete(stored, batch)
    for number, together in enumerate(batches(copies) if copies else ()):
        # the calls before took time
        late = lose_to_others([copy.delivery for copy in together], batch) if number else []
        redelivered += [(delivery, None) for delivery in late]
        if in_time := [copy for copy in together if copy.delivery not in late]:
            unsent += send_and_delete(in_time, batch)
    if completed and is_denied(batch):  # as it is known by now: nothing else deletes them
        redelivered += [(delivery, None) for delivery in complete(completed, batch)]
    redelivered += [(delivery, longer_wait(delivery, batch)) for delivery in unsent]
    change_visibility(redelivered, batch)
    unfinished = [delivery for delivery, _ in redelivered]
    if invocation.record is not None:
        invocation.record.append(unfinished, unfinished, invocation.settlement_of)
    return unfinished


def leave_or_wait(copies: list[Copy], batch: Batch) -> tuple[list[Copy], list[tuple[Delivery, timedelta | None]]]:
    """Return the copies that leave, and the messages that wait in their place because SQS denies that they are deleted."""
    if not copies or may_copy([copy.delivery for copy in copies], batch):
        return copies, []
    waiting, last = hold(copies, batch)
    leaving = [made for copy, why in last if (made := error_copy(copy, why, batch)) is not None]
    left = {copy.delivery for copy in leaving}
    return leaving, waiting + [(copy.delivery, None) for copy, _ in last if copy.delivery not in left]


def complete(completed: list[Delivery], batch: Batch) -> list[Delivery]:
    """Delete what is completed here, and return what nothing completes: SQS denied that, and the mapping is not asked."""
    acknowledge([delivery for delivery in completed if not is_done_with(delivery, batch)], batch)
    deleted, watch = delete(completed, batch), None if batch.hosted is None else batch.hosted.watch
    if batch.invocation.record is not None:
        batch.invocation.record.note_undeleted([each for each in completed if each not in deleted])
    left_to_mapping = batch.partial and not (watch is not None and watch.late)
    return [] if left_to_mapping else [delivery for delivery in completed if is_done_with(delivery, batch)]


def lose_to_others(deliveries: list[Delivery], batch: Batch) -> list[Delivery]:
    """Record and return those of the deliveries that are lost to another one: nothing is done for these, and one warning names them."""
    invocation = batch.invocation
    lost = [each for each in deliveries if is_lost_to_another(each, invocation)]
    if not lost:
        return lost
    for delivery in lost:
        invocation.settle(delivery, LOST)
    if invocation.record is not None:
        invocation.record.forget(lost)
    messages = [delivery.message for delivery in lost]
    extra = {"message_ids": [message.id for message in messages], "queue": batch.queue.name}
    log_safely(log.warning, SHOWN_TO_OTHERS, len(messages), messages[0].queue, extra=extra, redact=invocation.redact)
    return lost


class Work(NamedTuple):
    """The settlements of a group, sorted by what the broker must do: send, delete, or redeliver after a time; None for the queue's own."""

    copies: list[Copy]
    completed: list[Delivery]
    redelivered: list[tuple[Delivery, timedelta | None]]


def sort_by_settlement(deliveries: list[Delivery], batch: Batch) -> Work:
    """Sort the deliveries by what the broker must do with them, and make the copies."""
    work, settlements = Work([], [], []), batch.invocation.settlements
    for delivery in deliveries:
        match settlement := settlements.get(delivery.message):
            case Complete():
                work.completed.append(delivery)
            case Redeliver(after=after):
                work.redelivered.append((delivery, after))
            case Forward() as forward:
                if (copy := copy_or_none(delivery, forward, batch)) is not None:
                    work.copies.append(copy)
                else:
                    work.redelivered.append((delivery, longer_wait(delivery, batch, forward.delay)))
            case None:
                work.redelivered.append((delivery, None))  # never decided: it comes back
            case _:
                assert_never(settlement)
    return work


def copy_or_none(delivery: Delivery, forward: Forward, batch: Batch) -> Copy | None:
    """Return the copy to send; None where none can be made, so that the message stays until the broker's redrive policy takes it."""
    queue = batch.queue
    try:
        to = queue if forward.to == queue.name else destination(forward.to, queue)
        if forward.changes.get(FAILED_QUEUE) and is_same(to, queue):
            log_not_settled(delivery, OWN_ERROR_QUEUE.format(to.name), batch)
            return None
        copy = copy_of(delivery, forward, source=queue, to=to, context=batch.time.context)
    except Exception as error:  # noqa: BLE001  # such as attributes that no client of SQS wrote; it is logged, and the message will be redelivered
        log_not_settled(delivery, NO_COPY.format(forward.to, type(error).__name__), batch)
        return None
    if copy is None and delivery.given_up:  # of others the decision has said it
        log_not_settled(delivery, TOO_LARGE, batch)
    return copy


def why_too_large(delivery: Delivery, forward: Forward, batch: Batch) -> str:
    """Return why a message stays on its queue of which no copy can be made, because it is too large; "" where one can."""
    record, queue = delivery.native, batch.queue
    if len(record["body"]) + len(str(record.get("messageAttributes"))) < SURELY_SMALL:
        return ""
    try:
        return "" if copy_of(delivery, forward, source=queue, to=queue) else TOO_LARGE
    except Exception:  # noqa: BLE001  # `copy_or_none` logs it, and the message will be redelivered
        return ""


def send_and_delete(copies: list[Copy], batch: Batch) -> list[Delivery]:
    """Send copies to one queue, delete at once what they were made of, and return the deliveries for which nothing was sent."""
    failures = send(copies, batch)
    unsent = send_instead([(copies[n], failure) for n, failure in failures.items()], batch) if failures else []
    if sent := [copy.delivery for copy in copies if copy.delivery not in unsent]:
        delete(sent, batch)
    return unsent


def send(copies: list[Copy], batch: Batch) -> dict[int, Failure]:
    """Send copies to one queue, and return the failures by number.

    A queue may take smaller messages than SQS's limit (`MaximumMessageSize`): a copy that is too large is sent again without the fault
    headers that may be trimmed.
    """
    broker, to = batch.broker, copies[0].to

    def waits(within: float) -> Iterator[float]:
        """Yield the pauses that end while the messages are hidden; all for error copies that leave though they are not."""
        left = batch.lease.seconds_left([copy.delivery for copy in copies])
        return pauses(within if left <= 0 and copies[0].forward.changes.get(FAILED_QUEUE) else min(within, left))

    failures = broker.send(SEND, to, [copy.entry for copy in copies], waits)
    too_large = [n for n, failure in failures.items() if failure.kind == "size"]
    if smaller := {n: copy.entry for n in too_large if (copy := without_faults(copies[n]))}:
        again = broker.send(SEND, to, list(smaller.values()), waits)
        resent = {n: again.get(place) for place, n in enumerate(smaller)}
        failures = {n: failure for n, each in failures.items() if (failure := resent.get(n, each))}
    return failures


def send_instead(failed: list[tuple[Copy, Failure]], batch: Batch) -> list[Delivery]:
    """Send what can be sent in place of copies that were refused for good, and log once what becomes of each message.

    Returns:
        The deliveries for which nothing was sent.
    """
    instead = [copy for refused, failure in failed if (copy := copy_instead(refused, failure, batch))]
    not_taken: dict[Delivery, Failure] = {}
    for together in batches(instead):
        not_taken |= {together[n].delivery: failure for n, failure in send(together, batch).items()}
    taken = {copy.delivery: copy for copy in instead if copy.delivery not in not_taken}
    source, record = batch.queue, batch.invocation.record
    logged: dict[tuple[Queue, str, int], tuple[list[Delivery], set[str]]] = {}
    for refused, failure in failed:
        delivery, second = refused.delivery, not_taken.get(refused.delivery)
        if (other := taken.get(delivery)) is not None:
            batch.invocation.settle(delivery, other.forward)
            if other.to != source:
                log_not_settled(delivery, NO_RETRY.format(other.forward.to, failure.reason), batch)
                if record is not None:
                    record.note_given_up(delivery, other.forward, delivery.error)
                continue
        # access that is denied by the own queue too is no matter of the other one: of wrong credentials, say
        denied = failure.kind == "denied" and second is not None and second.kind == "denied"
        for_good = failure.is_for_good and refused.to != source and not denied
        consequence = f"{STAY if other is None else WAIT.format(source.name)} {CHECK_QUEUE.format(setting_of(refused, batch), refused.to.place) if for_good else CHECK_SENDING}"
        key = refused.to, consequence, logging.ERROR if for_good else logging.WARNING
        deliveries, reasons = logged.setdefault(key, ([], set()))
        deliveries.append(delivery)
        reasons.update(each.reason for each in (failure, second) if each is not None)
    for (to, consequence, level), (deliveries, reasons) in logged.items():
        log_failed_call(SEND, to, deliveries, reasons, consequence, batch.invocation.redact, level)
    return [refused.delivery for refused, _ in failed if refused.delivery not in taken]


def setting_of(refused: Copy, batch: Batch) -> str:
    """Return the setting that names the queue that refused a copy."""
    configured = refused.forward.to == batch.invocation.recoverability.failed.error_queue
    return "Failed(error_queue)" if configured else "the policy's MoveToError(error_queue)"


def copy_instead(refused: Copy, failure: Failure, batch: Batch) -> Copy | None:
    """Return what is sent instead of a copy that was refused for good; None when its message stays on the queue.

    A copy for the error queue waits on its own queue and is sent on from there. A failed message of which no copy for a retry can be
    sent because it is too large for its own queue moves to the error queue. So does a message that would expire while it stays, or that
    `maxReceiveCount` lets come no more.
    """
    delivery, forward, queue, invocation = refused.delivery, refused.forward, batch.queue, batch.invocation
    known = batch.lease.queue
    no_receive = "" if failure.may_be_done else known.why_no_receive(delivery)
    no_more = no_receive or known.why_it_expires(delivery, longer_wait(delivery, batch))
    if queue.fifo or not (failure.is_for_good or no_more):
        return None  # a FIFO queue keeps its order, and a copy without an answer may be there
    if delivery.given_up or forward.changes.get(FAILED_QUEUE):
        later, to = deferral_after_refusal(delivery, forward), queue
    elif not no_more and (failure.kind != "size" or not isinstance(delivery.error, Exception)):
        return None  # its own queue may take it later, or it was only to wait
    else:
        later = forward_to_error(delivery, f"its queue took no copy of it, and {no_more}", invocation)
        to = destination(later.to, queue)
    return copy_of(delivery, later, source=queue, to=to, context=batch.time.context)


def forward_to_error(delivery: Delivery, why: str, invocation: Invocation) -> Forward:
    """Return the forwarding of a message to the default error queue with its failure; where this delivery has none, with why it is given up."""
    error = delivery.error if isinstance(delivery.error, Exception) else UnreportedFailure(why)
    settings, platform = invocation.recoverability, invocation.platform
    return give_up(delivery, error, recoverability=settings, platform=platform, now=invocation.clock())


def error_copy(copy: Copy, why: str, batch: Batch) -> Copy | None:
    """Return the copy for the error queue of a message whose own copy may not leave, and which would not be seen again; None where none can be made."""
    delivery, invocation = copy.delivery, batch.invocation
    if delivery.given_up or copy.forward.changes.get(FAILED_QUEUE):
        return copy
    forward = forward_to_error(delivery, f"no copy of it left because SQS denies DeleteMessage, and {why}", invocation)
    invocation.settle(delivery, forward)
    if invocation.record is not None:
        invocation.record.note_given_up(delivery, forward, delivery.error)
    return copy_or_none(delivery, forward, batch)


def acknowledge(completed: list[Delivery], batch: Batch) -> None:
    """Send ServiceControl an acknowledgement of each retry of its own, in the shape in which it came."""
    retried = [delivery for delivery in completed if delivery.carried.servicecontrol_retry]
    if not retried:
        return
    queue, invocation = batch.queue, batch.invocation
    to = destination(invocation.recoverability.failed.error_queue or "", queue)
    waiting = acknowledgements(retried, to.name, lambda each: identity(each, queue, to), invocation)
    items = [(delivery, control_entry(wire_of(delivery.native), headers)) for delivery, headers in waiting]
    call_in_tens(SEND, items, NOT_ACKNOWLEDGED, batch, to)


def delete(deliveries: list[Delivery], batch: Batch) -> list[Delivery]:
    """Delete the messages, and return those for which that is confirmed."""
    missed = call_in_tens(DELETE, [(delivery, receipt(delivery)) for delivery in deliveries], NOT_DELETED, batch)
    note_deletes(deliveries, missed, batch)
    deleted = [delivery for delivery in deliveries if delivery not in missed] if missed else deliveries
    if (record := batch.invocation.record) is not None:
        record.append(deleted, (), batch.invocation.settlement_of)
    return deleted


def change_visibility(redelivered: list[tuple[Delivery, timedelta | None]], batch: Batch) -> None:
    """Have each message redelivered after its time: never early, and no later than SQS hides it; None leaves it to the queue.

    What is not confirmed is repeated once: nothing else remembers the delay of a message that is only redelivered.
    """
    items: list[tuple[Delivery, Entry]] = []
    for delivery, after in redelivered:
        if after is not None:
            longest = batch.lease.queue.longest_wait(delivery) if after > LONGEST_DELAY else LONGEST_DELAY
            seconds = int(min(timedelta(seconds=ceil(after.total_seconds())), longest).total_seconds())
            items.append((delivery, {**receipt(delivery), "VisibilityTimeout": seconds}))
    if missed := call_in_tens(CHANGE_VISIBILITY, items, REPEATED, batch):
        again = [item for item in items if item[0] in missed]
        call_in_tens(CHANGE_VISIBILITY, again, NOT_CHANGED, batch)


def call_in_tens(
    operation: BatchOperation,
    items: list[tuple[Delivery, Entry]],
    consequence: str,
    batch: Batch,
    to: Queue | None = None,
) -> dict[Delivery, Failure]:
    """Make the calls, to the queue that the messages came from unless another is given; log what failed, and return the failures.

    Of a delete that SQS denies the log says more than of one call; see `note_deletes`.
    """
    invocation, to = batch.invocation, to or batch.queue
    missed: dict[Delivery, Failure] = {}
    for start in range(0, len(items), MAX_ENTRIES):
        together = items[start : start + MAX_ENTRIES]
        if batch.hosted is not None:
            batch.hosted.release([delivery for delivery, _ in together], batch)
        failures = batch.broker.call(operation, to, [entry for _, entry in together]).failures
        failed = {together[number][0]: failure for number, failure in failures.items()}
        missed |= failed
        if concerned := [each for each in failed if operation is not DELETE or failed[each].kind != "denied"]:
            reasons = {failed[each].reason for each in concerned}
            log_failed_call(operation, to, concerned, reasons, consequence, invocation.redact)
    return missed


def receipt(delivery: Delivery) -> Entry:
    """Return the fields of an entry by which SQS knows this delivery."""
    return {"ReceiptHandle": delivery.native["receiptHandle"]}


def longer_wait(delivery: Delivery, batch: Batch, least: timedelta = NO_DELAY) -> timedelta | None:
    """Return how long a message stays hidden of which no queue took a copy: as long again as since its first receive, up to 15 minutes, an
    hour on a FIFO queue, or the queue's own time-out, whichever is longer.

    It is shorter where the receives that are left would last for longer than the queue keeps the message. Return None to leave it to the
    queue's time-out, which is taken to be six times the function's where it is not known (Lambda, "Using Lambda with Amazon SQS").

    Args:
        delivery: the message.
        batch: what it came in.
        least: how long it waits at least, such as for a retry.
    """
    beat = timedelta(seconds=batch.hides_for)
    said = batch.lease.queue.attributes.visibility_timeout
    own = beat or batch.settings.visibility_timeout or timedelta(seconds=said or 6 * batch.time.total)
    since = since_first_receive(delivery, batch.invocation.clock())
    if since is None or since < own:
        return least if least > own else None
    longest = max(LONGEST_REDELIVERY if batch.queue.fifo else LONGEST_DELAY, own)
    return min(max(least, min(since, longest)), max(batch.lease.queue.share_of_retention(delivery), own))


def log_not_settled(delivery: Delivery, why: str, batch: Batch) -> None:
    """Log why a message was not settled as decided, and what happens to it."""
    message = delivery.message
    extra = {"message_id": message.id, "queue": message.queue}
    text = "Message '%s' from '%s' was not settled as decided: %s"
    log_safely(log.warning, text, message.id, message.queue, why, extra=extra, redact=batch.invocation.redact)


def log_failed_call(
    operation: BatchOperation, queue: Queue, deliveries: list[Delivery], reasons: set[str], consequence: str,
    redact: Redact | None, level: int = logging.WARNING,
) -> None:  # fmt: skip
    """Log that a call failed for some messages, what happens to them, and what to do.

    Args:
        operation: what was called.
        queue: where.
        deliveries: those for which it failed.
        reasons: what SQS answered, which may quote what was sent.
        consequence: what happens to the messages, and what to do.
        redact: the user's redactor.
        level: of the line.
    """
    messages = [delivery.message for delivery in deliveries]
    source = messages[0].queue
    name = operation.name if queue.name == source else f"{operation.name} to '{queue.name}'"
    text = "SQS %s failed for %d messages from '%s' (%s). %s"
    extra = {"message_ids": [message.id for message in messages], "queue": queue.name}
    write = log.error if level == logging.ERROR else log.warning
    why = "; ".join(sorted(reasons))
    log_safely(write, text, name, len(messages), source, why, consequence, extra=extra, redact=redact)


class Stored(NamedTuple):
    """The result of storing copies.

    Args:
        hops: the copies to send, with those that are too large for the store.
        stored: the originals of those that are stored.
        failed: the originals of those that could not be stored.
    """

    hops: list[Copy]
    stored: list[Delivery]
    failed: list[Delivery]


def store_long_delays(copies: list[Copy], timeouts: Timeouts, batch: Batch) -> Stored:
    """Store the copies that are not due when SQS would deliver them. One that is too large for the store hops, because it carries its date.

    Args:
        copies: all copies of a group.
        timeouts: stores them.
        batch: what they came in.
    """
    result = Stored([], [], [])
    for copy in copies:
        due_at, delay = read_date(copy.wire.headers, DUE_AT), timedelta(seconds=copy.entry.get("DelaySeconds", 0))
        if due_at is None or due_at - timeouts.now() <= delay:
            result.hops.append(copy)  # SQS delivers it when it is due; a store would be up to a minute late
            continue
        try:
            if batch.time.before_call() > 0:
                timeouts.hold(copy.entry, to=copy.delivery.native["eventSourceARN"], at=due_at)
                result.stored.append(copy.delivery)
                continue
            reason = "no time is left for the call"
        except TooLarge:
            result.hops.append(copy)
            continue
        except Exception as error:  # noqa: BLE001  # logged; the message stays on its queue
            reason = describe_error(error.__cause__ or error)
        if batch.lease.queue.why_no_receive(copy.delivery):
            result.hops.append(copy)  # it carries its date, and would come no more
            continue
        log_not_stored(copy, reason, batch.invocation.redact)
        result.failed.append(copy.delivery)
    return result


def log_not_stored(copy: Copy, reason: str, redact: Redact | None) -> None:
    """Log that a copy is not stored, and what happens to its message."""
    message = copy.delivery.message
    text = (
        "Storing the delayed copy of message '%s' from '%s' failed (%s). The message stays on the queue and will be "
        "redelivered after its visibility timeout. Check the store in Timeouts(store)."
    )
    extra = {"message_id": message.id, "queue": message.queue}
    log_safely(log.warning, text, message.id, message.queue, reason, extra=extra, redact=redact)
