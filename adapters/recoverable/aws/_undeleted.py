"""Let no copy join its original while SQS denies DeleteMessage: each would be copied in its turn.

Failed messages wait in their place, and those that are done with do not run again: the process remembers its decisions.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from recoverable._ladder.copy_headers import only_waits
from recoverable._ladder.delivery import restore_retry_state
from recoverable._ladder.faults import FAILED_QUEUE
from recoverable._ladder.settlement import COMPLETE, Forward
from recoverable._limits import NO_DELAY
from recoverable._observe.log import log_safely
from recoverable._sqs.batches import DELETE, MAX_ENTRIES
from recoverable._sqs.queues import LONGEST_DELAY
from recoverable.headers import DUE_AT, read_date

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Complete
    from recoverable._sqs.answers import Failure
    from recoverable._sqs.batches import Entry
    from recoverable.aws._batch import Batch
    from recoverable.aws._copies import Copy

log = logging.getLogger("recoverable.settlement")

ASK_AFTER, LOG_AFTER, NEVER_LOGGED = 2.0, 300.0, float("-inf")
"""Seconds after which SQS is asked again whether it denies DeleteMessage, and after which the log says so again."""

MOST_KEPT, MOST_BYTES = 1_000, 1_048_576
"""Messages that a process remembers of a queue, and bytes of the headers of their copies; the oldest gives way."""

LONGEST_WAIT = timedelta(hours=11)
"""For how long a message is hidden at once: SQS allows 12 hours from its receive."""

DENIED = "SQS denies DeleteMessage on '%s' (%s). %s Give the function's role the permission sqs:DeleteMessage."
COME_BACK = "Messages that succeeded or moved to the error queue come back."
WAIT = (
    "Messages that succeeded come back and do not run again in this process, and those that failed wait on the queue: a copy would only join "
    "its original."
)


class Decided(NamedTuple):
    """The decision of this process about a message that it may not delete.

    Args:
        settlement: to complete it, or to send a copy once SQS takes deletes; None where it only waits, and its handler then runs.
        due_at: until when its copy would have waited.
        waits: the deliveries after which it only waited: they are no attempts.
        receipt: by which SQS knows its last delivery.
    """

    settlement: Complete | Forward | None
    due_at: datetime
    waits: int
    receipt: Entry

    @property
    def weight(self) -> int:
        """Return the characters of the copy's headers."""
        changes = self.settlement.changes if isinstance(self.settlement, Forward) else {}
        return sum(len(text or "") for text in changes.values())


class Undeleted:
    """The memory that a process has of a queue's messages that it may not delete, and when it last asked and logged that."""

    def __init__(self) -> None:
        self.kept, self._weight = dict[str, Decided](), 0
        self.asked_at = self.logged_at = NEVER_LOGGED

    def keep(self, delivery: Delivery, settlement: Complete | Forward | None, due_at: datetime) -> None:
        """Remember a message as the newest; it has waited once more."""
        before, receipt = self.forget(id_of(delivery)), {"ReceiptHandle": delivery.native["receiptHandle"]}
        kept = Decided(settlement, due_at, before.waits + 1 if before else 1, receipt)
        self.kept[id_of(delivery)] = kept
        self._weight += kept.weight
        while len(self.kept) > MOST_KEPT or self._weight > MOST_BYTES:
            self.forget(next(iter(self.kept)))

    def forget(self, name: str) -> Decided | None:
        """Forget a message, and return what was remembered of it."""
        if (kept := self.kept.pop(name, None)) is not None:
            self._weight -= kept.weight
        return kept


def id_of(delivery: Delivery) -> str:
    """Return the broker's id of a message."""
    message_id: str = delivery.native["messageId"]
    return message_id


def undeleted(batch: Batch) -> Undeleted:
    """Return what this process remembers of the queue's messages."""
    made: Undeleted = batch.environment.kept.setdefault((Undeleted, batch.queue), Undeleted())
    return made


def settle_kept(batch: Batch) -> list[Delivery]:
    """Record again how messages are settled that this process could not delete; return these: their handlers do not run.

    Those that only waited go on with the attempts that they had.
    """
    invocation, settled = batch.invocation, list["Delivery"]()
    now, kept = invocation.clock(), undeleted(batch).kept
    for delivery in batch.restored if kept else ():
        if (known := kept.get(id_of(delivery))) is None:
            continue
        if known.settlement is None:
            delivery.deliveries = max(delivery.deliveries - known.waits, 1)
            counter, immediate = invocation.platform.counter, invocation.recoverability.immediate
            restore_retry_state(delivery, counter, immediate.max_retries)
            continue
        settlement = known.settlement
        if isinstance(settlement, Forward):
            settlement = settlement.replace(delay=min(max(known.due_at - now, NO_DELAY), LONGEST_DELAY))
            if invocation.record is not None and settlement.changes.get(FAILED_QUEUE):
                invocation.record.note_given_up(delivery, settlement)
        invocation.settle(delivery, settlement)
        settled.append(delivery)
    if undeleted(batch).logged_at > NEVER_LOGGED and not batch.queue.fifo:
        run_once_more([each for each in batch.restored if each not in settled])
    return settled


def run_once_more(deliveries: list[Delivery]) -> None:
    """Let each handler run, one first of all: other processes let messages wait in their place too, and SQS counts that."""
    for delivery in deliveries:
        if delivery.unreported:
            delivery.unreported, delivery.at_limit = False, True


def is_done_with(delivery: Delivery, batch: Batch) -> bool:
    """True if this process has completed a message before, and could not delete it."""
    kept = undeleted(batch).kept.get(id_of(delivery))
    return kept is not None and kept.settlement is COMPLETE


def is_denied(batch: Batch) -> bool:
    """True if SQS denied this process the last delete; where order is kept nothing depends on that."""
    return bool(batch.environment.denied) and not batch.queue.fifo and (batch.queue, DELETE) in batch.environment.denied


def may_copy(concerned: Collection[Delivery], batch: Batch) -> bool:
    """True if copies may leave: SQS deletes their originals. Where it did not, it is asked by deleting originals whose copies have left.

    Args:
        concerned: the messages whose copies would leave, for the log.
        batch: what they came in.
    """
    if not is_denied(batch):
        return True
    memory, now = undeleted(batch), batch.lease.queue.now()
    done = [(name, kept.receipt) for name, kept in memory.kept.items() if kept.settlement is COMPLETE][:MAX_ENTRIES]
    if not done:
        return True  # nothing is left to ask by but these copies' originals
    if not 0 <= now - memory.asked_at < ASK_AFTER:
        memory.asked_at = now
        failures = batch.broker.call(DELETE, batch.queue, [receipt for _, receipt in done]).failures
        for number, (name, _) in enumerate(done):
            if number not in failures:
                memory.forget(name)
        note_answer(concerned, failures, len(done), batch)
    return not is_denied(batch)


def note_deletes(deliveries: Collection[Delivery], failures: Mapping[Delivery, Failure], batch: Batch) -> None:
    """Note which messages are done with, and which of them SQS did not delete because it denies that."""
    memory = undeleted(batch)
    for delivery in deliveries:
        memory.forget(id_of(delivery))
        if not batch.queue.fifo and delivery in failures and failures[delivery].kind == "denied":
            memory.keep(delivery, COMPLETE, batch.invocation.clock())
    note_answer(deliveries, failures, len(deliveries), batch)


def note_answer(
    concerned: Collection[Delivery],
    failures: Mapping[int, Failure] | Mapping[Delivery, Failure],
    entries: int,
    batch: Batch,
) -> None:
    """Note whether SQS denies DeleteMessage; an ERROR says so, and again each five minutes."""
    memory, queue = undeleted(batch), batch.lease.queue
    denied = {failure.reason for failure in failures.values() if failure.kind == "denied"}
    if not denied:
        if len(failures) < entries or any(failure.is_for_good for failure in failures.values()):
            batch.environment.denied.discard((batch.queue, DELETE))
        return
    batch.environment.denied.add((batch.queue, DELETE))
    if not 0 <= queue.now() - memory.logged_at < LOG_AFTER:
        memory.logged_at = queue.now()
        extra = {"message_ids": [delivery.message.id for delivery in concerned], "queue": batch.queue.name}
        facts = batch.queue.name, "; ".join(sorted(denied)), COME_BACK if batch.queue.fifo else WAIT
        log_safely(log.error, DENIED, *facts, extra=extra, redact=batch.invocation.redact)


class Held(NamedTuple):
    """The messages whose copies may not leave.

    Args:
        waiting: those that wait in their place, and for how long.
        last: the copies of those that would not be seen again, and why.
    """

    waiting: list[tuple[Delivery, timedelta | None]]
    last: list[tuple[Copy, str]]


def hold(copies: list[Copy], batch: Batch) -> Held:
    """Keep messages whose copies may not leave in their place, and remember what was decided about them."""
    memory, queue, now = undeleted(batch), batch.lease.queue, batch.invocation.clock()
    held = Held([], [])
    for copy in copies:
        delivery, forward = copy.delivery, copy.forward
        told, growing = read_date(copy.wire.headers, DUE_AT), batch.lease.wait_in_order(delivery)
        due_at = told or now + forward.delay
        wait = min(due_at - now, LONGEST_WAIT) if told and told > now else max(forward.delay, growing or NO_DELAY)
        if why := queue.why_no_receive(delivery) or queue.why_it_expires(delivery, wait):
            held.last.append((copy, why))
            continue
        memory.keep(delivery, None if only_waits(forward.changes) else forward, due_at)
        held.waiting.append((delivery, wait))
    return held
