"""Define a delivery of a message by its broker, what its headers carry, which attempt it stands for, and a wait that is none."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from recoverable import headers
from recoverable._frozen import Frozen, field
from recoverable._ladder.faults import FAILED_QUEUE, FIRST_TO_TRIM, is_left_behind
from recoverable._message import NO_HEADERS, Message, place

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

    from recoverable._config import Recoverability
    from recoverable._ladder.last_failure import LastFailure
    from recoverable._ladder.settlement import Counter, Platform

UNREPORTED_ALLOWANCE = 2
"""Unreported deliveries before the policy is asked about them. Two allows for a healthy message batched with a crashing
one."""

AS_RECEIVED = ("_body", "_id", "_native", "_queue", "_sent_at", "_headers", "_group_id")
"""The attributes that hold the arguments of a message, in their order."""


class Carried(Frozen):
    """The content of a message's headers, parsed once, at receipt; a header that is absent or cannot be read has its default.

    Args:
        message_id: the id of the message over all its copies.
        time_sent: when it was first sent.
        prior_attempts: the attempts of this round that were made on earlier copies of this package's.
        round: the delayed retries made so far.
        delayed_retry_at: when the last of them was scheduled.
        first_delayed_retry_at: when the first of them was scheduled.
        due_at: when a copy that hops is due.
        held_since: since when it is deferred.
        stopped: True if its handler was stopped before for the sake of others.
        unreported: True if an earlier round ended in `UnreportedFailure`.
        reported: True if each delivery that `prior_attempts` counts ended with a recorded outcome.
        granted: the immediate retries of this round that a policy granted, where that is more than the setting says.
        refused_sends: how often a copy for the error queue was refused.
        refused_since: the answers so far that nobody knows to what the handler sent; `_flow.refusals` reads it.
        attempts: all attempts of earlier rounds.
        first_failed_at: when the first attempt failed, or shortly before.
        faults: the names of fault headers of an earlier failure.
        left_behind: the names of headers of an earlier life, which no copy has any more: it comes back from an error queue.
        redrives: how often it was sent back from there.
        is_control: True for a control message of NServiceBus, which is for an endpoint of its own and not for a handler;
            False for one to a timeouts queue, whose handler is for those.
        servicecontrol_retry: where ServiceControl sent it back and waits for an acknowledgement, its id of the failed
            message, and the queue where it waits.
    """

    message_id: str = ""
    time_sent: datetime | None = None
    prior_attempts: int = 0
    round: int = 0
    delayed_retry_at: datetime | None = None
    first_delayed_retry_at: datetime | None = None
    due_at: datetime | None = None
    held_since: datetime | None = None
    stopped: bool = False
    unreported: bool = False
    reported: bool = False
    granted: int = 0
    refused_sends: int = 0
    refused_since: str = ""
    attempts: int = 0
    first_failed_at: datetime | None = None
    faults: tuple[str, ...] = ()
    left_behind: tuple[str, ...] = ()
    redrives: int = 0
    is_control: bool = False
    servicecontrol_retry: tuple[str, str] | None = None


TO_A_TIMEOUTS_QUEUE = {headers.CLEAR_TIMEOUTS, headers.TIMEOUT_EXPIRE}
"""Headers by which NServiceBus asks a timeouts queue for something."""

NOTHING_CARRIED = Carried()
"""The content of no headers."""


class Delivery:
    """A message as the broker delivered it this time.

    Args:
        message: the message.
        deliveries: how often the broker has delivered this broker message, from 1.
        carried: what its headers carry.
        unreported: True if more of its deliveries ended without a recorded outcome than is allowed.

    `receives` is how often the broker has delivered it whatever its place on the ladder, which `deliveries` is where order is kept.
    `native` is the platform's record as it was received, and on Service Bus `properties` are the application
    properties. The rest follows from what it carries: `prior_attempts`, to which each retry in process adds one;
    `due_at`, the time at which a copy that hops is due, None once that has come; `held_since`, the time since which it
    is deferred, None if it is not; `given_up`, True if it goes to the error queue without running the handler, because its
    copy for there was refused, or because it is a control message; `is_plain`, True if its handler need only run; `suspect`, True if it may have ended a process; `at_limit`, True if its next
    unreported delivery would be its failure; `unsent`, True if its handler succeeded and the broker did not take for
    now what it sent; `left_behind`, True if its handler still runs where nothing can stop it. After the attempt `error`
    is the exception that the handler raised, and `handler_seconds` for how long it ran, None where that is not known.
    `last_failure` is how an earlier attempt failed, where this instance remembers it and the handler does not run now.
    """

    suspect = at_limit = unsent = left_behind = False
    error: BaseException | None = None
    handler_seconds: float | None = None
    last_failure: LastFailure | None = None
    refused_since = ""
    properties: Mapping[str, Any] = NO_HEADERS

    def __init__(
        self, message: Message, deliveries: int = 1, carried: Carried = NOTHING_CARRIED, *, unreported: bool = False
    ) -> None:
        self.message, self.deliveries, self.carried, self.unreported = message, deliveries, carried, unreported
        self.receives = deliveries
        self.prior_attempts, self.due_at, self.held_since = carried.prior_attempts, carried.due_at, carried.held_since
        self.given_up, self.native = carried.refused_sends > 0 or carried.is_control, message._native
        self.is_plain = not (unreported or self.due_at or self.given_up)
        message._delivery = self

    def leave_behind(self) -> None:
        """Note that its handler still runs where nothing can stop it: its next attempt is a copy, which carries the count."""
        self.left_behind = True
        self.prior_attempts, self.deliveries = self.prior_attempts + self.deliveries - 1, 1

    def next_attempt(self, *, counted: int) -> Message:
        """Return the message for the next attempt, as it was received: nothing that a handler did to it is left.

        Args:
            counted: 1 if the attempt that has failed counts, else 0.
        """
        failed = self.message
        self.prior_attempts, self.error = self.prior_attempts + counted, None
        self.message = Message(*[getattr(failed, name) for name in AS_RECEIVED])
        place(self.message, attempt=failed.attempt + counted, round=failed.round)
        self.message._delivery = self
        return self.message

    @property
    def is_retry(self) -> bool:
        """True if its message was attempted before."""
        return self.message.attempt > 1 or self.message.round > 0

    @property
    def originals_reported(self) -> bool:
        """True if each delivery of the messages that it is a copy of ended with a recorded outcome."""
        return self.carried.reported or not (self.carried.prior_attempts or self.carried.unreported)


RATE_LIMITED = "the rate is limited"
"""Why a message is deferred while attempts fail."""


class Deferral(Frozen):
    """A wait that counts as no attempt.

    Args:
        delay: how long the copy waits.
        reason: why, for the log.
        hop: True for a copy that is not yet due: its deliveries are no attempts.
        failure: what the handler raised, if it ran and that is to count as no attempt.
        stopped: True if the handler was stopped although it had not all the time there is.
        in_place: True if the message waits inside the invocation, and its handler runs again there.
    """

    delay: timedelta
    reason: str
    hop: bool = field(default=False, kw_only=True)
    failure: BaseException | None = field(default=None, kw_only=True)
    stopped: bool = field(default=False, kw_only=True)
    in_place: bool = field(default=False, kw_only=True)


def delivery_of(message: Message) -> Delivery:
    """Return the delivery of a message; it is made when it is first asked for, because most messages need none."""
    return message._delivery or Delivery(message)


def carried_in(texts: Mapping[str, str], *, moved_back: bool = False) -> Carried:
    """Return what headers carry; they are untrusted, and what cannot be read counts as absent.

    Args:
        texts: the headers.
        moved_back: True if the broker says that it dead-lettered the message, which somebody then moved back.
    """
    if not texts:
        return NOTHING_CARRIED
    # a copy that was refused is on its way there, unless the broker dead-lettered it while it waited
    if headers.FAILED_QUEUE_ADDRESS in texts and (moved_back or headers.REFUSED_SENDS not in texts):
        left_behind = tuple(filter(is_left_behind, texts))
        kept = {name: text for name, text in texts.items() if name not in left_behind}
        redrives = headers.read_count(texts, headers.REDRIVES) + 1
        return carried_in(kept).__replace__(left_behind=left_behind, redrives=redrives)
    prior_attempts = prior_attempts_in(texts)
    retry = texts.get(headers.UNIQUE_MESSAGE_ID, ""), texts.get(headers.ACKNOWLEDGEMENT_QUEUE, "")
    return Carried(
        message_id=texts.get(headers.MESSAGE_ID, ""),
        time_sent=headers.read_date(texts, headers.TIME_SENT),
        prior_attempts=prior_attempts,
        round=headers.read_count(texts, headers.DELAYED_RETRIES),
        delayed_retry_at=headers.read_date(texts, headers.DELAYED_RETRY_AT),
        first_delayed_retry_at=headers.read_date(texts, headers.FIRST_DELAYED_RETRY_AT),
        due_at=headers.read_date(texts, headers.DUE_AT),
        held_since=headers.read_date(texts, headers.HELD_SINCE),
        stopped=headers.STOPPED in texts,
        unreported=headers.UNREPORTED in texts,
        reported=headers.REPORTED in texts,
        granted=headers.read_count(texts, headers.GRANTED, prior_attempts),  # of which a copy with it has as many
        refused_sends=headers.read_count(texts, headers.REFUSED_SENDS) if FAILED_QUEUE in texts else 0,
        refused_since=texts.get(headers.REFUSED_SINCE, ""),
        attempts=headers.read_count(texts, headers.ATTEMPTS),
        first_failed_at=headers.read_date(texts, headers.FIRST_FAILED_AT),
        faults=tuple(name for name in texts if name.startswith(FIRST_TO_TRIM)),
        servicecontrol_retry=retry if all(retry) else None,
        is_control=texts.get(headers.CONTROL_MESSAGE) == "True" and not texts.keys() & TO_A_TIMEOUTS_QUEUE,
    )


def prior_attempts_in(texts: Mapping[str, str]) -> int:
    """Return the attempts of this round that earlier copies have had; 0 where no header of this package is beside their number.

    NServiceBus had a header of that name. A copy of this package's with the number also says since when it is held, or
    when the first attempt failed.
    """
    count = headers.read_count(texts, headers.PRIOR_ATTEMPTS)
    return count if count and any(name.startswith(headers.OWN) for name in texts) else 0


def in_this_life(texts: Mapping[str, str], carried: Carried) -> Mapping[str, str]:
    """Return headers as a handler gets them: without those of an earlier life."""
    kept = {name: text for name, text in texts.items() if name not in carried.left_behind}
    return kept | {headers.REDRIVES: str(carried.redrives)}


def carried_in_order(carried: Carried, *, refused_sends: int = 0) -> Carried:
    """Return what counts of it where messages are only redelivered, and the broker's count alone says where they are on the ladder."""
    return carried.__replace__(
        prior_attempts=0, round=0, due_at=None, held_since=None, stopped=False, unreported=False, reported=False,
        refused_sends=refused_sends,
    )  # fmt: skip


def restore_retry_state(delivery: Delivery, counter: Counter, max_immediate: int) -> None:
    """Restore the place on the ladder and the marks of a delivery from what the message carries and the broker counts."""
    limit = last_delivery_that_runs(delivery, counter, max_immediate)
    delivery.unreported, delivery.at_limit = is_unreported(delivery, limit), delivery.deliveries == limit
    delivery.suspect = delivery.deliveries > 1 or not delivery.originals_reported
    restore_place(delivery, delivery.carried.round, failures(delivery, counter))


def restore_place_in_order(delivery: Delivery, recoverability: Recoverability) -> None:
    """Restore round and attempt of a delivery where messages are only redelivered: the broker's count alone says them."""
    delivery.unreported = runs_left(delivery.deliveries, recoverability) < 0
    round_, delivery.deliveries = place_on_ladder(delivery.deliveries, recoverability)
    restore_place(delivery, round_, delivery.deliveries)


def restore_place(delivery: Delivery, round_: int, attempt: int) -> None:
    """Set round and attempt of a delivery; one that was attempted before needs more than its handler: its success is logged."""
    place(delivery.message, round=round_, attempt=attempt)
    delivery.is_plain = delivery.is_plain and not (delivery.unreported or delivery.is_retry)


def failures(delivery: Delivery, counter: Counter) -> int:
    """Return the failed attempts of this round, this one included: what the policy gets when the attempt fails."""
    return delivery.prior_attempts + (delivery.deliveries if counter == "native" else 1)


def unreported_failures(delivery: Delivery, counter: Counter) -> int:
    """Return the failed attempts of this round when the handler does not run now, for earlier deliveries were unreported."""
    return delivery.prior_attempts + (delivery.deliveries - 1 if counter == "native" else 1)


def is_retried_in_process(delivery: Delivery, platform: Platform) -> bool:
    """True if `Immediate(in_process=True)` has a delivery's immediate retries made by the invocation that it is in.

    A redelivery is left to the broker's count: the delivery before it may have ended its process in the middle of such
    retries.
    """
    return delivery.deliveries == 1 and not platform.redelivers_only


def is_unreported(delivery: Delivery, limit: int) -> bool:
    """True if more deliveries were made than the last one that runs."""
    return delivery.deliveries > limit


def last_delivery_that_runs(delivery: Delivery, counter: Counter, max_immediate: int) -> int:
    """Return the last delivery of this broker message at which its handler runs without asking the policy first.

    At least the first one runs: a setting that was lowered while copies carry more attempts is no unreported delivery.
    """
    allowed = granted(delivery, max_immediate) + 1 - delivery.prior_attempts
    if counter == "header":
        allowed = min(1, allowed)
    return max(1, allowed + UNREPORTED_ALLOWANCE)


def granted(delivery: Delivery, max_immediate: int) -> int:
    """Return the immediate retries that a round has: as the setting says, or as many as a policy granted beyond that."""
    return max(max_immediate, delivery.carried.granted)


def prior_attempts_of_deferral(delivery: Delivery) -> int:
    """Return the attempts that a deferral's copy carries: all made so far, this delivery being none."""
    return delivery.prior_attempts + delivery.deliveries - 1


def place_on_ladder(deliveries: int, recoverability: Recoverability) -> tuple[int, int]:
    """Return round and delivery within it, where the broker's count alone says them (SQS FIFO); past the last attempt it is the last."""
    place = min(deliveries, attempts_in_all(recoverability)) - 1
    round_, before = divmod(place, recoverability.immediate.max_retries + 1)
    return round_, before + 1


def runs_left(deliveries: int, recoverability: Recoverability) -> int:
    """Return how often a message that is only ever redelivered can come after this delivery, until it is past all attempts and the allowance."""
    return attempts_in_all(recoverability) + UNREPORTED_ALLOWANCE - deliveries


def attempts_in_all(recoverability: Recoverability) -> int:
    """Return the attempts of all rounds."""
    return (recoverability.immediate.max_retries + 1) * (recoverability.delayed.max_retries + 1)
