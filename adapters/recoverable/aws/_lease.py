"""Know for how long an invocation has its messages: until when SQS hides them, and how long they may wait in the queue.

SQS takes old receipt handles of a standard queue, so no answer of it says that a message is still this invocation's: only the time does.
The rules are pure functions; `HiddenLease` asks SQS, and has it hide messages anew. All moments are in seconds since 1970, by SQS's clock.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from math import ceil
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
from recoverable.aws._restoring import receives
from recoverable.aws._settle import log_failed_call, receipt

if TYPE_CHECKING:
    from collections.abc import Collection

    from recoverable._ladder.delivery import Delivery
    from recoverable._sqs.attributes import QueueAttributes
    from recoverable._sqs.broker import Broker
    from recoverable.aws._batch import Batch

log = logging.getLogger("recoverable.settlement")

ASK_AGAIN, ASK_SOON = 300.0, 10.0
"""Seconds after which SQS is asked again what a queue is set to, and where it gave no answer."""

LATE_FOR = 3_600.0
"""Seconds for which invocations are taken to begin late, after one that did."""

PART_FOR_HIDING = 0.25
"""The part of an invocation's time in which messages are hidden anew."""

AFTER_THE_END = 2.0
"""Seconds for which a message stays hidden after its invocation ends: for the clocks, and for what the event source mapping then does."""

LONGEST_HIDING = LONGEST_VISIBILITY // 2
"""Seconds for which a message is hidden at once at most: the 12 hours that SQS allows count from the receive, which was some time ago."""

NEVER = float("-inf")

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
        begins_late: True if messages were shown to others before an invocation of this process began, less than an hour ago.
        may_change: False where the role may not change the visibility of messages, so that no earlier delivery did.
        max_receives: receives after which a message goes to the dead-letter queue; None where that is unknown.
    """

    timeout: float
    began: float
    ends: float | None = None
    begins_late: bool = False
    may_change: bool = True
    max_receives: int | None = None


class Change(Frozen):
    """The sum of this invocation's calls that change the visibility of a message.

    Args:
        until: until when the last one hides it.
        first_at: when the first confirmed one had ended.
        confirmed: True if SQS has confirmed one; else none may have been made, and `until` is the first end of all.
        lapsed: True if the message was shown to others between two of them: SQS takes the later one all the same.
    """

    until: float
    first_at: float
    confirmed: bool = field(kw_only=True)
    lapsed: bool = field(default=False, kw_only=True)


def changed(before: Change | None, until: float, at: float, *, confirmed: bool) -> Change:
    """Return the sum of the changes with one more.

    Args:
        before: the sum so far; None for the first one.
        until: until when this one hides the message.
        at: when its call has ended.
        confirmed: True if SQS has confirmed it.
    """
    if before is None:
        return Change(until, at, confirmed=confirmed)
    if not confirmed:
        return before if before.confirmed else before.replace(until=min(before.until, until))
    lapsed = before.lapsed or before.until - CLOCK_SKEW <= at
    return Change(until, before.first_at if before.confirmed else at, confirmed=confirmed, lapsed=lapsed)


class Receive(Frozen):
    """A delivery as SQS describes it, and the changes of its visibility by this invocation.

    Args:
        count: how often SQS has given out the message, from 1.
        first_at: when it first did; None where that is unknown.
        change: the sum of these changes; None without one.
        repeated: True if the same batch has a later receive of the message.
    """

    count: int
    first_at: float | None
    change: Change | None = None
    repeated: bool = field(default=False, kw_only=True)


def hidden_until(receive: Receive, known: Known) -> float | None:
    """Return until when a message is surely hidden; None where that is unknown.

    The first receive is this one for count 1, and for a higher count it was earlier. Where no delivery could be handed back by a change of
    visibility, a later one began when the invocation did.
    """
    change = receive.change
    if receive.repeated or (change is not None and change.lapsed):
        return NEVER
    until = None
    if receive.first_at is not None:
        received = known.began if receive.count > 1 and not known.may_change else receive.first_at
        until = received + known.timeout - CLOCK_SKEW
    if change is None:
        return until
    if change.confirmed:
        # of a message that came for the first time it is known whether it was still hidden then
        was_late = receive.count == 1 and until is not None and until <= change.first_at
        return until if was_late else change.until - CLOCK_SKEW
    return None if until is None else min(until, change.until - CLOCK_SKEW)


def was_shown(receive: Receive, known: Known) -> bool:
    """True if a message was shown to others before its invocation began, so that another may have it from the start.

    Of a message that came for the first time this is known. A later receive may have been a moment ago: it is taken for hidden, unless
    invocations of this process begin late. Even then it is at its last receive but one: else its handler might never run.
    """
    if receive.repeated:
        return True
    if receive.first_at is None or receive.first_at + known.timeout > known.began:
        return False
    return receive.count == 1 or (known.begins_late and receive.count + 1 != known.max_receives)


def begins_late(receive: Receive, timeout: float, began: float) -> bool:
    """True if a message shows that its invocation began after it was shown to others: it came for the first time, or twice in one batch."""
    if receive.repeated or receive.first_at is None:
        return receive.repeated
    return receive.count == 1 and receive.first_at + timeout + CLOCK_SKEW <= began


def must_be_hidden(receive: Receive, known: Known, now: float) -> bool:
    """True if a message may be shown to others before its invocation ends, and nothing says that it was shown already."""
    until = hidden_until(receive, known)
    if until is None or was_shown(receive, known) or (receive.count == 1 and until <= now):
        return False
    return known.ends is None or until < known.ends


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
    return until is not None and (until <= at or was_shown(receive, known))


class Memory:
    """The memory that a process has of a queue: what SQS said last of its settings, and when it is asked again; whether it may still say them;
    when an invocation last began late; when a change of visibility was last denied; and on a FIFO queue that a warning of long delays was given.
    """

    attributes = UNKNOWN
    ask_at = began_late_at = denied_at = NEVER
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
        self._read_clock()
        self._is_read = True
        if not self.is_dated or not (now := self.now()) < self.memory.ask_at <= now + ASK_AGAIN:
            asked = self._batch.broker.attributes()
            if isinstance(asked, Failure) and asked.may_repeat:
                asked = self._batch.broker.attributes()
            self._read_clock()
            self._note(asked)

    def _read_clock(self) -> None:
        environment = self._batch.environment
        ahead, own = (
            self._batch.broker.clock.ahead_of_seconds(),
            environment.clock().timestamp() - environment.seconds(),
        )
        self._ahead, self.is_dated = own if ahead is None else ahead, ahead is not None

    def _note(self, asked: QueueAttributes | Failure) -> None:
        now, memory = self.now(), self.memory
        if not isinstance(asked, Failure):
            memory.attributes, memory.ask_at, memory.may_still_say = asked, now + ASK_AGAIN, False
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
    def retention(self) -> timedelta:
        """Return for how long the queue keeps a message: as the setting says, else as SQS does, else four days."""
        said = self.attributes.retention
        return self._batch.settings.retention or (RETENTION if said is None else timedelta(seconds=said))

    def longest_wait(self, delivery: Delivery) -> timedelta:
        """Return for how long a message may be hidden: briefly where it would wait for longer than its queue may keep it, SQS may soon say that,
        and a delivery can be spared for asking: one that takes none of those that are forgiven.
        """
        is_unknown = self.memory.may_still_say and self._batch.settings.retention is None
        if is_unknown and runs_left(receives(delivery), self._batch.invocation.recoverability) > UNREPORTED_ALLOWANCE:
            return LONGEST_DELAY
        return timedelta(seconds=self._batch.time.longest_visibility)

    def now_at_sqs(self) -> datetime:
        """Return the same as a date."""
        return datetime.fromtimestamp(self.now(), UTC)

    def is_denied(self) -> bool:
        """True if a change of visibility was denied in the last minutes."""
        return 0 <= self.now() - self.memory.denied_at < ASK_AGAIN

    def why_no_receive(self, delivery: Delivery) -> str:
        """Return why SQS gives out a message no more; "" where it does."""
        most = self.attributes.max_receives
        return NO_MORE_RECEIVES % most if most is not None and receives(delivery) >= most else ""

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

    def wait_in_order(self, _: Delivery) -> timedelta | None:
        """Return None: a message of a standard queue waits by a copy."""
        return None

    def note_change(self, deliveries: Collection[Delivery], until: float, *, confirmed: bool) -> None:
        """Note until when a call hides messages, and whether SQS has confirmed that."""
        at = self.queue.now()
        for delivery in deliveries:
            receive = self._described()[delivery]
            change = changed(receive.change, until, at, confirmed=confirmed)
            self._receives[delivery] = receive.replace(change=change)

    def hide_to_the_end(self) -> list[Delivery]:
        """Hide anew, ten a call, what would be shown to others before the invocation ends; a heartbeat does that by itself.

        Returns:
            Those for which no time was left.
        """
        self._is_prepared = True
        now, known = self.queue.now(), self._times()
        if self._batch.hides_for or not known.may_change:
            return []
        settlements = self._batch.invocation.settlements
        undecided = [each for each in self._described() if each.message not in settlements]
        uncertain = [each for each in undecided if must_be_hidden(self._described()[each], known, now)]
        waiting = held_longest_first(uncertain) if uncertain else []
        latest = now + self._batch.time.total * PART_FOR_HIDING
        while waiting and self.queue.now() < latest:
            self._hide(waiting[:MAX_ENTRIES])
            del waiting[:MAX_ENTRIES]
        return waiting

    def _hide(self, deliveries: list[Delivery]) -> None:
        seconds = seconds_to_hide(self._times(), self.queue.now())
        hide(deliveries, seconds, self._batch.broker, self._batch, consequence=NOT_HIDDEN)
        if self.queue.is_denied():
            self._known = self._times().replace(may_change=False)

    def _times(self) -> Known:
        """Return what is known of the invocation's times; remember in this process when it began late."""
        if self._known is None:
            memory, timeout = self.queue.memory, self.queue.visibility_timeout
            began, ends = self._span
            if any(begins_late(each, timeout, began) for each in self._described().values()):
                memory.began_late_at = began
            late, may_change = abs(began - memory.began_late_at) < LATE_FOR, not self.queue.is_denied()
            max_receives = self.queue.attributes.max_receives
            self._known = Known(
                timeout, began, ends, begins_late=late, may_change=may_change, max_receives=max_receives
            )
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
            deliveries, now = [delivery_of(message) for message in self._batch.messages], self.queue.now()
            self._receives = receives_of(deliveries, now, None if self.queue.is_dated else self._span[0])
        return self._receives


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
        level, lease.queue.memory.denied_at = logging.ERROR, now
    reasons = {failure.reason for failure in failures.values()}
    for what, concerned in ((GONE, gone), (consequence, missed)):
        if concerned:
            log_failed_call(CHANGE_VISIBILITY, broker.queue, concerned, reasons, what, redact, level)
    return gone, as_a_whole


def receives_of(deliveries: list[Delivery], now: float, received: float | None) -> dict[Delivery, Receive]:
    """Return the deliveries of a batch as SQS describes them.

    Args:
        deliveries: all of them.
        now: the time at SQS.
        received: when they are taken to be received, whatever SQS says of it; None for what it says.
    """
    last: dict[str, int] = {}
    for each in deliveries:
        last[each.native["messageId"]] = max(each.deliveries, last.get(each.native["messageId"], 0))
    oldest = now - LONGEST_RETENTION.total_seconds()  # such as of a record in a test: it does not say when it came
    found: dict[Delivery, Receive] = {}
    for each in deliveries:
        said = None if (date := first_received(each.native)) is None else date.timestamp()
        first_at = received or (None if said is None or said < oldest else said)
        is_repeated = each.deliveries < last[each.native["messageId"]]
        found[each] = Receive(each.deliveries, first_at, repeated=is_repeated)
    return found


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
            age, is_first = queue.now_at_sqs() - sent_at, receives(delivery) == 1
            if uses_half(delivery, age, wait, retention=queue.retention, is_first=is_first):
                report_half_used(delivery.message, queue.retention)
        return ""

    def wait_in_order(self, delivery: Delivery) -> timedelta | None:
        """Return how long a message stays hidden that waits in its place, longer each time; None at its last delivery."""
        left = runs_left(receives(delivery), self._batch.invocation.recoverability)
        since = since_first_receive(delivery, self.queue.now_at_sqs())
        return None if left <= 0 else delay_while_redelivered(max(since or NO_DELAY, NO_DELAY), left)

    def seconds_left(self, _: Collection[Delivery]) -> float:
        """Return infinity: SQS refuses what comes too late."""
        return float("inf")

    def hide_to_the_end(self) -> list[Delivery]:
        """Do nothing, and return no message: SQS itself says when one is another's."""
        return []

    def note_change(self, deliveries: Collection[Delivery], until: float, *, confirmed: bool) -> None:
        """Do nothing, as above."""


def warn_of_long_delays(batch: Batch) -> None:
    """Log a warning where a configured delay is longer than a message can stay hidden."""
    delayed, longest = batch.invocation.recoverability.delayed, timedelta(seconds=batch.time.longest_visibility)
    delays = [configured_delay(delayed, number, "") for number in range(delayed.max_retries)]
    if delays and max(delays) > longest:
        log.warning(LONG_DELAY, max(delays), batch.queue.name, longest)
