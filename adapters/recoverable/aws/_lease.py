"""Know for how long an invocation has its messages: until when SQS hides them, and how long they may wait in the queue.

SQS takes old receipt handles of a standard queue, so no answer of it says that a message is still this invocation's: only the time does.
The rules are pure functions; `HiddenLease` asks SQS, and has it hide messages anew. All moments are in seconds since 1970, by SQS's clock.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from math import ceil, inf
from typing import TYPE_CHECKING

from recoverable._frozen import Frozen, field
from recoverable._ladder.backoff import LONGEST_DELAY, delay_while_redelivered
from recoverable._ladder.delivery import UNREPORTED_ALLOWANCE, delivery_of, runs_left
from recoverable._ladder.expiry import RETENTION, uses_half, why_it_expires
from recoverable._ladder.policy import configured_delay
from recoverable._limits import NO_DELAY
from recoverable._observe.log import log_safely, report_half_used
from recoverable._sqs.answers import Failure
from recoverable._sqs.attributes import LONGEST_RETENTION, UNKNOWN
from recoverable._sqs.batches import CHANGE_VISIBILITY, MAX_ENTRIES
from recoverable._sqs.queues import LONGEST_VISIBILITY
from recoverable.aws._order import CLOCK_SKEW, held_longest_first, since_first_receive
from recoverable.aws._records import date_sent, first_received
from recoverable.aws._settle import log_failed_call, receipt, why_too_large

if TYPE_CHECKING:
    from collections.abc import Collection

    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.settlement import Forward
    from recoverable._sqs.attributes import QueueAttributes
    from recoverable._sqs.broker import Broker
    from recoverable.aws._batch import Batch

log = logging.getLogger("recoverable.settlement")

ASK_AGAIN, ASK_SOON = 300.0, 10.0
"""Seconds after which SQS is asked again what a queue is set to, and where it gave no answer."""

LATE_FOR = 3_600.0
"""Seconds for which invocations are taken to begin as late as one that did."""

PART_FOR_HIDING = 0.25
"""The part of an invocation's time in which messages are hidden anew."""

AFTER_THE_END = 2.0
"""Seconds for which a message stays hidden after its invocation ends: for the clocks, and for what the event source mapping then does."""

LONGEST_HIDING = LONGEST_VISIBILITY // 2
"""Seconds for which a message is hidden at once at most: the 12 hours that SQS allows count from the receive, which was some time ago."""

NEVER = -inf

MANY = 50
"""Receives that a message is taken to have left where no redrive policy is known."""

NOT_ASKED = (
    "SQS GetQueueAttributes failed for '%s' (%s). Its visibility timeout is taken to be %g s and its retention %s. "
    "Check the permission sqs:GetQueueAttributes."
)
NOT_HIDDEN = (
    "They may be shown to others while this invocation has them; then nothing is sent for them, and they are delivered again. "
    "Check the permission sqs:ChangeMessageVisibility."
)
NOT_EXTENDED = (
    "Their heartbeat is tried again at the next beat; without it they become visible while this instance still has them, or "
    "a crash is noticed late. Check the permission sqs:ChangeMessageVisibility."
)
GONE = (
    "They are hidden no more: they were deleted, or hidden for 12 hours, which is the longest that SQS allows; on a FIFO queue another instance "
    "may have them, too. Raise the queue's visibility timeout, or lower the batching window."
)
NO_MORE_RECEIVES = "the queue's maxReceiveCount of %d lets it come no more"
TOO_LONG = "a message can wait for %s at most where its order is kept"
LONG_DELAY = (
    "Delayed(...) has a delay of %s, and a message of the FIFO queue '%s' can wait for %s at most: 12 hours less the function's time-out. "
    "In place of that retry it moves to the error queue. Write shorter delays."
)


class Known(Frozen):
    """The times of an invocation and of its queue.

    Args:
        timeout: seconds for which the queue hides a message that it gives out.
        began: when the invocation began.
        ends: when it ends; None where nothing ends it.
        late_by: seconds from the receive of a message to its invocation, the most that this process has seen in the last hour.
        may_change: False where the role may not change the visibility of messages, so that no earlier delivery did.
        max_receives: receives after which a message goes to the dead-letter queue; None where that is unknown.
    """

    timeout: float
    began: float
    ends: float | None = None
    late_by: float = 0.0
    may_change: bool = True
    max_receives: int | None = None

    @property
    def is_late(self) -> bool:
        """True if invocations of this process begin after their messages were shown to others."""
        return self.late_by >= self.timeout + CLOCK_SKEW


class Receive(Frozen):
    """A delivery as SQS describes it, and what the changes of its visibility by this invocation have come to.

    Args:
        count: how often SQS has given out the message, from 1.
        first_at: when it first did; None where that is unknown.
        until: until when the last change hides it; None without one, and `NEVER` where the same batch has a later receive of it.
        confirmed: True if SQS has confirmed one; else none may have been made, and `until` is the first end of all.
    """

    count: int
    first_at: float | None
    until: float | None = None
    confirmed: bool = field(default=False, kw_only=True)


def receive_is_known(receive: Receive, known: Known) -> bool:
    """True if it is known when a message was received at the earliest.

    Of one that came for the first time SQS says it. A later receive may have been a moment ago, or long ago: that is known where no delivery
    could be handed back by a change of visibility, and where invocations begin late. But then a message is taken for hidden at its last
    receive but one: else its handler might never run.
    """
    return receive.count == 1 or not known.may_change or (known.is_late and receive.count + 1 != known.max_receives)


def hidden_until(receive: Receive, known: Known) -> float | None:
    """Return until when a message is surely hidden; None where that is unknown.

    It was received no earlier than for the first time, and no longer before its invocation than others were.
    """
    changed = None if receive.until is None else receive.until - CLOCK_SKEW
    if receive.confirmed or receive.first_at is None:
        return changed if receive.confirmed else None
    received = receive.first_at
    if receive.count > 1 and receive_is_known(receive, known):
        received = max(received, known.began - known.late_by)
    until = received + known.timeout - CLOCK_SKEW
    return until if changed is None else min(until, changed)


def was_shown(receive: Receive, known: Known, at: float) -> bool:
    """True if it is known that a message was shown to others by then. SQS takes a change of its visibility all the same."""
    has_ended = receive.until is not None and receive.until - CLOCK_SKEW <= at
    return has_ended or (receive_is_known(receive, known) and is_lost(receive, known, at))


def changed(receive: Receive, known: Known, until: float, at: float, *, confirmed: bool) -> Receive:
    """Return the delivery after one more change of its visibility; one that came too late changes nothing.

    Args:
        receive: the delivery so far.
        known: the times of its invocation.
        until: until when the change hides the message.
        at: when its call has ended.
        confirmed: True if SQS has confirmed it.
    """
    if was_shown(receive, known, at) or (receive.confirmed and not confirmed):
        return receive
    if not confirmed and receive.until is not None:
        until = min(receive.until, until)
    return receive.replace(until=until, confirmed=confirmed)


def must_be_hidden(receive: Receive, known: Known, now: float) -> bool:
    """True if a message may be shown to others before its invocation ends, and nothing says that it was shown already."""
    until = hidden_until(receive, known)
    return until is not None and not was_shown(receive, known, now) and (known.ends is None or until < known.ends)


def seconds_to_hide(known: Known, now: float) -> int:
    """Return for how many seconds messages are hidden anew: to the invocation's end and a little longer, and no shorter than the queue does."""
    remaining = 0.0 if known.ends is None else known.ends - now + AFTER_THE_END
    return ceil(min(max(remaining, known.timeout), LONGEST_HIDING))


def is_lost(receive: Receive, known: Known, at: float) -> bool:
    """True if others may have received a message by then: what becomes of it is the business of its next delivery.

    Args:
        receive: the delivery.
        known: the times of its invocation.
        at: when what is to be done for it has been done.
    """
    until = hidden_until(receive, known)
    return until is not None and until <= at


def late_by(receive: Receive, began: float) -> float:
    """Return how long a message waited for its invocation, as one shows that came for the first time, or twice in one batch; else 0."""
    if receive.until == NEVER:
        return inf
    return max(began - receive.first_at, 0.0) if receive.count == 1 and receive.first_at is not None else 0.0


class Memory:
    """The memory that a process has of a queue: what SQS said last of its settings, and when it is asked again; whether it may still say them;
    the shortest visibility timeout that it has said; by how much an invocation began late, and which; and on a FIFO queue that a warning of long
    delays was given.
    """

    attributes, shortest_timeout = UNKNOWN, inf
    ask_at = late_at = NEVER
    late_by = 0.0
    may_still_say = is_warned_of_delays = False


class KnownQueue:
    """A queue as SQS describes it: asked once in a process, on the failure side alone, and again after some minutes.

    Args:
        batch: what came from it; its settings say what SQS does not.
    """

    def __init__(self, batch: Batch) -> None:
        self._batch, self._is_read, self._ahead, self.is_dated = batch, False, 0.0, False
        self.memory: Memory = batch.environment.kept.setdefault((Memory, batch.queue), Memory())

    def now(self) -> float:
        """Return the time at SQS, which the times of its messages are by."""
        return self.time_at(self._batch.environment.seconds())

    def time_at(self, seconds: float) -> float:
        """Return the time at SQS at a moment of the clock that nobody sets."""
        self._read()
        return seconds + self._ahead

    @property
    def attributes(self) -> QueueAttributes:
        """Return what the queue is set to, as far as SQS says it."""
        self._read()
        return self.memory.attributes

    def _read(self) -> None:
        """Read, once an invocation, what time it is at SQS and what the queue is set to; ask SQS where that is not known, or no longer."""
        if self._is_read:
            return
        clock, ask = self._batch.broker.clock, self._batch.broker.attributes
        self._ahead, self.is_dated = clock.ahead_of_seconds()
        self._is_read = True
        if not self.is_dated or not (now := self.now()) < self.memory.ask_at <= now + ASK_AGAIN:
            asked = ask()
            if isinstance(asked, Failure) and asked.may_repeat:
                asked = ask()
            self._ahead, self.is_dated = clock.ahead_of_seconds()
            self._note(asked)

    def _note(self, asked: QueueAttributes | Failure) -> None:
        now, memory = self.now(), self.memory
        if not isinstance(asked, Failure):
            memory.attributes, memory.ask_at, memory.may_still_say = asked, now + ASK_AGAIN, False
            if asked.visibility_timeout is not None:
                memory.shortest_timeout = min(memory.shortest_timeout, asked.visibility_timeout)
            return
        memory.ask_at = now + (ASK_AGAIN if asked.is_for_good else ASK_SOON)
        memory.may_still_say = memory.attributes is UNKNOWN and not asked.is_for_good
        name, redact = self._batch.queue.name, self._batch.invocation.redact
        log_safely(log.warning, NOT_ASKED, name, asked.reason, self.visibility_timeout, self.retention, redact=redact)

    @property
    def visibility_timeout(self) -> float:
        """Return for how many seconds the queue hides a message: as SQS says, else the setting, else as long as the function runs."""
        said, setting = self.attributes.visibility_timeout, self._batch.settings.visibility_timeout
        return float(said) if said is not None else setting.total_seconds() if setting else self._batch.time.total

    @property
    def shortest_timeout(self) -> float:
        """Return the shortest visibility timeout that SQS has said to this process; where it said none, the function's time-out."""
        self._read()
        said = self.memory.shortest_timeout
        return said if said < inf else self._batch.time.total

    @property
    def retention(self) -> timedelta:
        """Return for how long the queue keeps a message: as the setting says, else as SQS does, else four days."""
        said = self.attributes.retention
        return self._batch.settings.retention or (RETENTION if said is None else timedelta(seconds=said))

    def longest_wait(self, delivery: Delivery) -> timedelta:
        """Return for how long a message may be hidden: briefly where it would wait for longer than its queue may keep it, SQS may soon say that,
        and a delivery can be spared for asking: one that takes none of those that are forgiven.
        """
        is_unknown = self.memory.may_still_say and self._batch.settings.retention is None
        if is_unknown and runs_left(delivery.receives, self._batch.invocation.recoverability) > UNREPORTED_ALLOWANCE:
            return LONGEST_DELAY
        return timedelta(seconds=self._batch.time.longest_visibility)

    def now_at_sqs(self) -> datetime:
        """Return the same as a date."""
        return datetime.fromtimestamp(self.now(), UTC)

    def growing_wait(self, delivery: Delivery, left: int) -> timedelta | None:
        """Return how long a message waits in its place that can come so often; None where it can no more."""
        since = since_first_receive(delivery, self.now_at_sqs())
        return None if left <= 0 else delay_while_redelivered(max(since or NO_DELAY, NO_DELAY), left)

    def why_no_receive(self, delivery: Delivery) -> str:
        """Return why SQS gives out a message no more; "" where it does."""
        most = self.attributes.max_receives
        return NO_MORE_RECEIVES % most if most is not None and delivery.receives >= most else ""

    def share_of_retention(self, delivery: Delivery) -> timedelta:
        """Return how long a message may wait each time so that all receives that `maxReceiveCount` leaves it come before it expires."""
        sent_at, most = date_sent(delivery.message), self.attributes.max_receives
        age = NO_DELAY if sent_at is None else self.now_at_sqs() - sent_at
        left = 0 if most is None else max(most - delivery.receives, 0)
        return max(self.retention - age, NO_DELAY) / (left + 2)

    def why_it_expires(self, delivery: Delivery, after: timedelta | None) -> str:
        """Return why a message would not be seen again that waits so long; "" where it would.

        None is for one that may end its process: it must be seen again even if its next delivery is lost, too.
        """
        if (sent_at := date_sent(delivery.message)) is None:
            return ""
        time, age = self._batch.time, self.now_at_sqs() - sent_at
        wait = timedelta(seconds=2 * self.visibility_timeout) if after is None else after
        invocation = timedelta(seconds=0 if time.for_handlers is None else time.total)
        return why_it_expires(delivery, age, wait, retention=self.retention, invocation=invocation)


class HiddenLease:
    """The lease on messages of a standard queue: until when each of them is hidden.

    Args:
        batch: the messages.
    """

    def __init__(self, batch: Batch) -> None:
        self._batch, self.queue, self._is_prepared = batch, KnownQueue(batch), False
        self._began_and_ends = self._read_span()
        self._known: Known | None = None
        self._receives: dict[Delivery, Receive] = {}

    def is_lost(self, delivery: Delivery) -> bool:
        """True if others may have received a message before a call that is made for it now has ended."""
        if not self._is_prepared:
            self.hide_to_the_end()
        return is_lost(self._described()[delivery], self._times(), self.queue.now() + self._batch.time.call_timeout)

    def seconds_left(self, deliveries: Collection[Delivery]) -> float:
        """Return for how many seconds from now all of these are hidden."""
        ends = [hidden_until(self._described()[each], self._times()) for each in deliveries]
        return min((end for end in ends if end is not None), default=float(LONGEST_VISIBILITY)) - self.queue.now()

    def why_not_wait(self, delivery: Delivery, after: timedelta | None) -> str:
        """Return why a message is not seen again; "" where it is. One that is shown again by this delivery is not old: it was copied before."""
        why = self.queue.why_no_receive(delivery)
        return why or ("" if after is not None else self.queue.why_it_expires(delivery, after))

    def why_too_large(self, delivery: Delivery, forward: Forward) -> str:
        """Return why no copy of a message can be made; "" where one can."""
        return why_too_large(delivery, forward, self._batch)

    def wait_in_order(self, delivery: Delivery) -> timedelta | None:
        """Return how long a message stays hidden whose copy may not leave, longer each time; None at its last delivery."""
        most = self.queue.attributes.max_receives
        return self.queue.growing_wait(delivery, MANY if most is None else most - delivery.receives)

    def why_no_copy(self) -> str:
        """Return "": what is lost to another delivery sends none."""
        return ""

    def note_change(self, deliveries: Collection[Delivery], until: float, *, confirmed: bool) -> None:
        """Note until when a call hides messages, and whether SQS has confirmed that."""
        at, known = self.queue.now(), self._times()
        for delivery in deliveries:
            self._receives[delivery] = changed(self._described()[delivery], known, until, at, confirmed=confirmed)

    def hide_to_the_end(self) -> list[Delivery]:
        """Hide anew, ten a call, what would be shown to others before the invocation ends; a heartbeat does that by itself.

        Returns:
            Those for which no time was left.
        """
        self._is_prepared = True
        now, known = self.queue.now(), self._times()
        if self._batch.hides_for:
            return []
        settlements = self._batch.invocation.settlements
        undecided = [each for each in self._described() if each.message not in settlements]
        uncertain = [each for each in undecided if must_be_hidden(self._described()[each], known, now)]
        waiting = held_longest_first(uncertain) if uncertain else []
        latest = now + self._batch.time.total * PART_FOR_HIDING
        while waiting and self.queue.now() < latest and self._times().may_change:
            seconds = seconds_to_hide(known, self.queue.now())
            hide(waiting[:MAX_ENTRIES], seconds, self._batch.broker, self._batch, consequence=NOT_HIDDEN)
            del waiting[:MAX_ENTRIES]
        return waiting if self._times().may_change else []

    def note_denied(self) -> None:
        """Note that SQS denies this invocation to change the visibility of messages."""
        self._known = self._times().replace(may_change=False)

    def _times(self) -> Known:
        """Return what is known of the invocation's times; remember in this process by how much it began late."""
        if self._known is None:
            memory, timeout, (began, ends) = self.queue.memory, self.queue.visibility_timeout, self._span
            late = max(late_by(each, began) for each in self._described().values())
            if late >= memory.late_by or abs(began - memory.late_at) >= LATE_FOR:
                memory.late_by, memory.late_at = late, began
            most = self.queue.attributes.max_receives
            self._known = Known(timeout, began, ends, late_by=memory.late_by, max_receives=most)
        return self._known

    def _read_span(self) -> tuple[float, float] | None:
        """Return when the invocation began and when it ends, by the clock that nobody sets; None where nothing says it.

        Once its time is over, a host says that none is left: this is read as early as possible, and asks nobody.
        """
        time, now = self._batch.time, self._batch.environment.seconds()
        if time.for_handlers is None:
            return None
        ends = now + time.remaining()
        return ends - time.total, ends

    @property
    def _span(self) -> tuple[float, float | None]:
        """Return when the invocation began and when it ends; 0 and None where nothing says it."""
        if self._began_and_ends is None:
            return 0.0, None
        began, ends = map(self.queue.time_at, self._began_and_ends)
        return began, ends

    def _described(self) -> dict[Delivery, Receive]:
        """Return the deliveries of the batch as SQS describes them."""
        if not self._receives:
            deliveries, last = [delivery_of(message) for message in self._batch.messages], dict[str, int]()
            for each in deliveries:
                last[each.native["messageId"]] = max(each.deliveries, last.get(each.native["messageId"], 0))
            for each in deliveries:
                came_again = each.deliveries < last[each.native["messageId"]]
                until = NEVER if came_again else None
                self._receives[each] = Receive(each.deliveries, self._received(each), until, confirmed=came_again)
        return self._receives

    def _received(self, delivery: Delivery) -> float | None:
        """Return when SQS first gave out a message; where nothing says what time it is there, when the invocation began."""
        date, began = first_received(delivery.native), self._span[0]
        if began and not self.queue.is_dated:
            return began
        # such as of a record in a test: it does not say when it came
        oldest = self.queue.now() - LONGEST_RETENTION.total_seconds()
        return None if date is None or date.timestamp() < oldest else date.timestamp()


def hide(
    deliveries: list[Delivery], seconds: int, broker: Broker, batch: Batch, *, consequence: str = NOT_EXTENDED
) -> tuple[list[Delivery], bool]:
    """Hide messages for so many seconds from now, and note until when.

    Args:
        deliveries: ten at most.
        seconds: for how long.
        broker: calls SQS, in the time of the invocation or beside it.
        batch: what they came in.
        consequence: what becomes of those that are not hidden, for the log.

    Returns:
        Those that SQS does not hide any more; and True if the call failed as a whole, so that others would fail too.
    """
    lease, now, redact = batch.lease, batch.lease.queue.now(), batch.invocation.redact
    entries = [{**receipt(each), "VisibilityTimeout": seconds} for each in deliveries]
    failures, as_a_whole = broker.call(CHANGE_VISIBILITY, broker.queue, entries)
    gone = [deliveries[n] for n, each in failures.items() if each.is_for_good and not as_a_whole]
    missed = [deliveries[n] for n in failures if deliveries[n] not in gone]
    unconfirmed = [deliveries[n] for n, failure in failures.items() if failure.may_be_done]
    lease.note_change(unconfirmed, now + seconds, confirmed=False)
    lease.note_change([each for n, each in enumerate(deliveries) if n not in failures], now + seconds, confirmed=True)
    level = logging.WARNING
    if any(failure.kind == "denied" for failure in failures.values()):
        level = logging.ERROR
        lease.note_denied()
    reasons = {failure.reason for failure in failures.values()}
    for what, concerned in ((GONE, gone), (consequence, missed)):
        if concerned:
            log_failed_call(CHANGE_VISIBILITY, broker.queue, concerned, reasons, what, redact, level)
    return gone, as_a_whole


class OrderedLease:
    """The lease on messages of a FIFO queue: SQS refuses their expired handles, and they wait in the queue.

    Args:
        batch: the messages.
    """

    def __init__(self, batch: Batch) -> None:
        self._batch, self.queue = batch, KnownQueue(batch)
        if not self.queue.memory.is_warned_of_delays:
            self.queue.memory.is_warned_of_delays = True
            warn_of_long_delays(batch)

    def is_lost(self, _: Delivery) -> bool:
        """Return False: SQS refuses the handle of a message that another has received since."""
        return False

    def why_not_wait(self, delivery: Delivery, after: timedelta | None) -> str:
        """Return why a message cannot wait for so long; "" where it can. Log a warning when it uses up half of its retention."""
        queue, longest = self.queue, timedelta(seconds=self._batch.time.longest_visibility)
        if after is not None and after > longest:
            return TOO_LONG % longest
        if why := queue.why_no_receive(delivery) or queue.why_it_expires(delivery, after):
            return why
        if (sent_at := date_sent(delivery.message)) is not None:
            wait = timedelta(seconds=queue.visibility_timeout) if after is None else after
            age, is_first = queue.now_at_sqs() - sent_at, delivery.receives == 1
            if uses_half(delivery, age, wait, retention=queue.retention, is_first=is_first):
                report_half_used(delivery.message, queue.retention)
        return ""

    def why_too_large(self, delivery: Delivery, forward: Forward) -> str:
        """Return why no copy of a message can be made; "" where one can."""
        return why_too_large(delivery, forward, self._batch)

    def wait_in_order(self, delivery: Delivery) -> timedelta | None:
        """Return how long a message stays hidden that waits in its place, longer each time; None at its last delivery."""
        return self.queue.growing_wait(delivery, runs_left(delivery.receives, self._batch.invocation.recoverability))

    def why_no_copy(self) -> str:
        """Return "": copies go to the error queue alone."""
        return ""

    def seconds_left(self, _: Collection[Delivery]) -> float:
        """Return infinity: SQS refuses what comes too late."""
        return float("inf")

    def hide_to_the_end(self) -> list[Delivery]:
        """Do nothing, and return no message: SQS itself says when one is another's."""
        return []

    def note_change(self, deliveries: Collection[Delivery], until: float, *, confirmed: bool) -> None:
        """Do nothing, as above."""

    def note_denied(self) -> None:
        """Do nothing, as above."""


def warn_of_long_delays(batch: Batch) -> None:
    """Log a warning where a configured delay is longer than a message can stay hidden."""
    delayed, longest = batch.invocation.recoverability.delayed, timedelta(seconds=batch.time.longest_visibility)
    delays = [configured_delay(delayed, number, "") for number in range(delayed.max_retries)]
    if delays and max(delays) > longest:
        log.warning(LONG_DELAY, max(delays), batch.queue.name, longest)
