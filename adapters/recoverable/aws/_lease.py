"""Know for how long an invocation has its messages: until when SQS hides them, and how long they may wait in the queue."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from recoverable._ladder.backoff import delay_while_redelivered
from recoverable._ladder.delivery import delivery_of, runs_left
from recoverable._ladder.expiry import RETENTION, uses_half, why_it_expires
from recoverable._ladder.policy import configured_delay
from recoverable._observe.log import log_safely, report_half_used
from recoverable._sqs.answers import Failure
from recoverable._sqs.attributes import UNKNOWN
from recoverable._sqs.batches import CHANGE_VISIBILITY, MAX_ENTRIES
from recoverable._sqs.queues import LONGEST_VISIBILITY
from recoverable.aws._hidden import (
    NEVER,
    Known,
    Receive,
    begins_late,
    changed,
    hidden_until,
    is_lost,
    must_be_hidden,
    seconds_to_hide,
)
from recoverable.aws._order import held_longest_first, seconds_since_first_receive
from recoverable.aws._records import date_sent
from recoverable.aws._restoring import receives
from recoverable.aws._settle import log_failed_call, receipt

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime
    from typing import TypeAlias

    from recoverable._ladder.delivery import Delivery
    from recoverable._sqs.attributes import QueueAttributes
    from recoverable.aws._batch import Batch
    from recoverable.aws._settings import SqsSettings
    from recoverable.aws._time_budget import TimeBudget

    QueueLease: TypeAlias = "OrderedLease | HiddenLease"

log = logging.getLogger("recoverable.settlement")

ASK_AGAIN, ASK_SOON = 300.0, 10.0
"""Seconds after which SQS is asked again what a queue is set to, and where it gave no answer."""

LONGEST_RETENTION = 14 * 86_400
"""Seconds for which SQS keeps a message at most (CreateQueue): a record that is older does not say when it came, such as one in a test."""

LATE_FOR = 3_600.0
"""Seconds for which invocations are taken to begin late, after one that did."""

PART_FOR_HIDING = 0.25
"""The part of an invocation's time in which messages are hidden anew."""

NOT_ASKED = (
    "SQS GetQueueAttributes failed for '%s' (%s). Its visibility timeout is taken to be %g s and its retention %s. "
    "Check the permission sqs:GetQueueAttributes."
)
NOT_HIDDEN = (
    "They may be shown to others while this invocation has them; then nothing is sent for them, and their next delivery is attempted. "
    "Check the permission sqs:ChangeMessageVisibility."
)
NO_MORE_RECEIVES = "the queue's maxReceiveCount of %d lets it come no more"
TOO_LONG = "a message can wait for %s at most where its order is kept"


def lease_for(batch: Batch, settings: SqsSettings) -> QueueLease:
    """Return what knows for how long an invocation has its messages.

    Args:
        batch: its messages, and what processing them works with.
        settings: the endpoint's.
    """
    known = KnownQueue(batch, settings)
    return OrderedLease(known) if batch.queue.fifo else HiddenLease(known)


class KnownQueue:
    """A queue as SQS describes it: asked once in a process, on the failure side alone, and again after some minutes.

    Args:
        batch: what came from it.
        settings: the endpoint's; they say what SQS does not.
    """

    def __init__(self, batch: Batch, settings: SqsSettings) -> None:
        self.batch, self.invocation, self.time, self.kept = batch, batch.invocation, batch.time, batch.environment.kept
        self._settings = settings
        self._attributes: QueueAttributes | None = None

    def now(self) -> float:
        """Return the time."""
        return self.invocation.clock().timestamp()

    def span(self) -> tuple[float, float | None]:
        """Return when the invocation began and when it ends; 0 and None where nothing says it."""
        if self.time.for_handlers is None:
            return 0.0, None
        now, remaining = self.now(), self.time.context.get_remaining_time_in_millis() / 1000
        return now + remaining - self.time.total, now + remaining

    @property
    def attributes(self) -> QueueAttributes:
        """Return what the queue is set to, as far as SQS says it."""
        if self._attributes is None:
            key, now = (KnownQueue, self.batch.queue), self.now()
            expires, self._attributes = self.kept.get(key, (now, UNKNOWN))
            if not now < expires <= now + ASK_AGAIN:  # a clock that was put back asks at once
                asked = self.batch.broker.attributes()
                if isinstance(asked, Failure):
                    self._log_not_asked(asked)
                    self.kept[key] = now + (ASK_AGAIN if asked.is_for_good else ASK_SOON), self._attributes
                else:
                    self._attributes = asked
                    self.kept[key] = now + ASK_AGAIN, asked
        return self._attributes

    @property
    def visibility_timeout(self) -> float:
        """Return for how many seconds the queue hides a message: as SQS says, else the setting, else as long as the function runs."""
        said, setting = self.attributes.visibility_timeout, self._settings.visibility_timeout
        return float(said) if said is not None else setting.total_seconds() if setting else self.time.total

    @property
    def retention(self) -> timedelta:
        """Return for how long the queue keeps a message: as the setting says, else as SQS does, else four days."""
        said = self.attributes.retention
        return self._settings.retention or (RETENTION if said is None else timedelta(seconds=said))

    def why_no_receive(self, delivery: Delivery) -> str:
        """Return why SQS gives out a message no more; "" where it does."""
        most = self.attributes.max_receives
        return NO_MORE_RECEIVES % most if most is not None and receives(delivery) >= most else ""

    def now_at_sqs(self) -> datetime:
        """Return the time by the clock of SQS, which the times of its messages are by."""
        return self.invocation.clock() - timedelta(seconds=self.attributes.ahead)

    def why_it_expires(self, delivery: Delivery, after: timedelta | None) -> str:
        """Return why a message would not be seen again that waits so long; "" where it would.

        None is for one that may end its process: it must be seen again even if its next delivery is lost, too.
        """
        if (sent_at := date_sent(delivery.message)) is None:
            return ""
        wait = timedelta(seconds=2 * self.visibility_timeout) if after is None else after
        return why_it_expires(
            self.now_at_sqs() - sent_at, wait, retention=self.retention, invocation=longest_invocation(self.time)
        )

    def _log_not_asked(self, failure: Failure) -> None:
        log_safely(
            log.warning, NOT_ASKED, self.batch.queue.name, failure.reason, self.visibility_timeout, self.retention,
            redact=self.invocation.redact,
        )  # fmt: skip


def longest_invocation(time: TimeBudget) -> timedelta:
    """Return for how long an invocation may last; 0 where nothing says it."""
    return timedelta(seconds=0 if time.for_handlers is None else time.total)


LONG_DELAY = (
    "Delayed(...) has a delay of %s, and a message of the FIFO queue '%s' can wait for %s at most: 12 hours less the function's time-out. "
    "In place of that retry it moves to the error queue. Write shorter delays."
)


def warn_of_long_delays(batch: Batch) -> None:
    """Log a warning, once in a process, where a configured delay is longer than a message can stay hidden."""
    batch.environment.kept[batch.queue] = True
    delayed = batch.invocation.recoverability.delayed
    delays = [configured_delay(delayed, number, "") for number in range(delayed.max_retries)]
    longest = timedelta(seconds=LONGEST_VISIBILITY) - longest_invocation(batch.time)
    if delays and max(delays) > longest:
        log.warning(LONG_DELAY, max(delays), batch.queue.name, longest)


class OrderedLease:
    """The lease on messages of a FIFO queue: SQS refuses their expired handles, and they wait in the queue.

    Args:
        known: the queue.
    """

    def __init__(self, known: KnownQueue) -> None:
        self._known = known
        if known.batch.queue not in known.kept:
            warn_of_long_delays(known.batch)

    @property
    def visibility_timeout(self) -> float:
        """Return for how many seconds the queue hides a message."""
        return self._known.visibility_timeout

    def why_it_expires(self, delivery: Delivery, after: timedelta | None) -> str:
        """Return why a message would expire unseen; see `KnownQueue`."""
        return self._known.why_it_expires(delivery, after)

    def is_lost(self, _: Delivery) -> bool:
        """Return False: SQS refuses the handle of a message that another has received since."""
        return False

    def why_not_wait(self, delivery: Delivery, after: timedelta | None) -> str:
        """Return why a message cannot wait for so long; "" where it can. Log a warning when it uses up half of its retention."""
        known = self._known
        longest = timedelta(seconds=LONGEST_VISIBILITY) - longest_invocation(known.time)
        if after is not None and after > longest:
            return TOO_LONG % longest
        if why := known.why_no_receive(delivery) or known.why_it_expires(delivery, after):
            return why
        if (sent_at := date_sent(delivery.message)) is not None:
            wait = timedelta(seconds=known.visibility_timeout) if after is None else after
            age, is_first = known.now_at_sqs() - sent_at, receives(delivery) == 1
            if uses_half(delivery, age, wait, retention=known.retention, is_first=is_first):
                report_half_used(delivery.message, known.retention)
        return ""

    def seconds_left(self, _: Collection[Delivery]) -> float:
        """Return infinity: SQS refuses what comes too late."""
        return float("inf")

    def wait_in_order(self, delivery: Delivery) -> timedelta | None:
        """Return how long a message stays hidden that waits in its place, longer each time; None at its last delivery."""
        left = runs_left(receives(delivery), self._known.invocation.recoverability)
        if left <= 0:
            return None
        since = seconds_since_first_receive(delivery, self._known.now_at_sqs())
        return delay_while_redelivered(timedelta(seconds=max(since or 0.0, 0.0)), left)

    def hide_to_the_end(self) -> list[Delivery]:
        """Do nothing, and return no message: SQS itself says when one is another's."""
        return []

    def note_change(self, deliveries: Collection[Delivery], until: float, *, confirmed: bool) -> None:
        """Do nothing, as above."""


class HiddenLease:
    """The lease on messages of a standard queue: until when each of them is hidden.

    Args:
        known: the queue.
    """

    def __init__(self, known: KnownQueue) -> None:
        self._queue, self._time, self._messages = known, known.time, known.batch.messages
        self._span = known.span()
        self._receives: dict[Delivery, Receive] = {}
        self._known: Known | None = None
        self._is_prepared = False

    @property
    def visibility_timeout(self) -> float:
        """Return for how many seconds the queue hides a message."""
        return self._queue.visibility_timeout

    def why_it_expires(self, delivery: Delivery, after: timedelta | None) -> str:
        """Return why a message would expire unseen; see `KnownQueue`."""
        return self._queue.why_it_expires(delivery, after)

    def is_lost(self, delivery: Delivery) -> bool:
        """True if others may have received a message before a call that is made for it now has ended."""
        if not self._is_prepared:
            self.hide_to_the_end()
        at = self._queue.now() + self._time.call_timeout
        return is_lost(self._receive(delivery), self._times(), at)

    def seconds_left(self, deliveries: Collection[Delivery]) -> float:
        """Return for how many seconds from now all of these are hidden."""
        ends = [hidden_until(self._receive(each), self._times()) for each in deliveries]
        return min((end for end in ends if end is not None), default=float(LONGEST_VISIBILITY)) - self._queue.now()

    def why_not_wait(self, delivery: Delivery, after: timedelta | None) -> str:
        """Return why a message is not seen again; "" where it is. One that is shown again by this delivery is not old: it was copied before."""
        known = self._queue
        return known.why_no_receive(delivery) or ("" if after is not None else known.why_it_expires(delivery, after))

    def wait_in_order(self, _: Delivery) -> timedelta | None:
        """Return None: a message of a standard queue waits by a copy."""
        return None

    def note_change(self, deliveries: Collection[Delivery], until: float, *, confirmed: bool) -> None:
        """Note until when a call hides messages, and whether SQS has confirmed that."""
        at = self._queue.now()
        for delivery in deliveries:
            receive = self._receive(delivery)
            change = changed(receive.change, until, at, confirmed=confirmed)
            self._receives[delivery] = receive.replace(change=change)

    def hide_to_the_end(self) -> list[Delivery]:
        """Hide anew, ten a call, what would be shown to others before the invocation ends; a heartbeat does that by itself.

        Returns:
            Those for which no time was left.
        """
        self._is_prepared = True
        heartbeat, now, times = self._queue.invocation.heartbeat, self._queue.now(), self._times()
        if (heartbeat is not None and heartbeat.seconds) or not times.may_change:
            return []
        settlements = self._queue.invocation.settlements
        undecided = [delivery_of(message) for message in self._messages if message not in settlements]
        uncertain = [each for each in undecided if must_be_hidden(self._receive(each), times, now)]
        waiting = held_longest_first(uncertain) if uncertain else []
        latest = now + self._time.total * PART_FOR_HIDING
        while waiting and self._queue.now() < latest:
            self._hide(waiting[:MAX_ENTRIES])
            del waiting[:MAX_ENTRIES]
        return waiting

    def _hide(self, deliveries: list[Delivery]) -> None:
        broker, now = self._queue.batch.broker, self._queue.now()
        seconds = seconds_to_hide(self._times(), now)
        entries = [{**receipt(each), "VisibilityTimeout": seconds} for each in deliveries]
        failures, _ = broker.call(CHANGE_VISIBILITY, broker.queue, entries)
        missed = [deliveries[n] for n in failures]
        self.note_change([each for each in deliveries if each not in missed], now + seconds, confirmed=True)
        if missed:
            denied = any(failure.kind == "denied" for failure in failures.values())
            if denied:
                key = HiddenLease, broker.queue
                late_at, _ = self._queue.kept.get(key, (NEVER, NEVER))
                self._queue.kept[key] = late_at, now
                self._known = None
            reasons, level = {each.reason for each in failures.values()}, logging.ERROR if denied else logging.WARNING
            log_failed_call(
                CHANGE_VISIBILITY, broker.queue, missed, reasons, NOT_HIDDEN, self._queue.invocation.redact, level
            )

    def _times(self) -> Known:
        """Return what is known of the invocation's times; remember in this process when it began late."""
        if self._known is None:
            timeout, now = self.visibility_timeout, self._queue.now()
            # read again, for a clock may have been put back; but once its time is over, a host says that none is left
            began, ends = min(self._span, self._queue.span())
            key = HiddenLease, self._queue.batch.queue
            late_at, denied_at = self._queue.kept.get(key, (NEVER, NEVER))
            if any(begins_late(self._receive(delivery_of(each)), timeout, began) for each in self._messages):
                late_at = began
                self._queue.kept[key] = late_at, denied_at
            self._known = Known(
                timeout, began, ends,
                begins_late=0 <= began - late_at < LATE_FOR, may_change=not 0 <= now - denied_at < ASK_AGAIN,
            )  # fmt: skip
        return self._known

    def _receive(self, delivery: Delivery) -> Receive:
        """Return a delivery as SQS describes it; all of the batch are read at once."""
        if not self._receives:
            deliveries, now_at_sqs, now = (
                [*map(delivery_of, self._messages)],
                self._queue.now_at_sqs(),
                self._queue.now(),
            )
            counts = {each: receives(each) for each in deliveries}
            last: dict[str, int] = {}
            for each, count in counts.items():
                last[each.native["messageId"]] = max(count, last.get(each.native["messageId"], 0))
            for each, count in counts.items():
                age = seconds_since_first_receive(each, now_at_sqs)
                first_at = None if age is None or age > LONGEST_RETENTION else now - age
                self._receives[each] = Receive(count, first_at, repeated=count < last[each.native["messageId"]])
        return self._receives[delivery]
