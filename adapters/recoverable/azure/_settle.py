"""Send the copies of an invocation: together, then each by itself, then elsewhere, and again while that may help."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from recoverable._errors import UnreportedFailure
from recoverable._flow.refusals import MOST_REFUSALS
from recoverable._flow.settle import NO_OUTCOME
from recoverable._ladder.backoff import FIRST_PAUSE, pauses
from recoverable._ladder.decision import deferral_after_refusal, give_up
from recoverable._ladder.faults import FAILED_QUEUE
from recoverable._ladder.settlement import Forward
from recoverable._limits import NO_DELAY
from recoverable._observe.log import log_safely
from recoverable._service_bus.answers import UNTRIED, Failure, Kind
from recoverable.azure._copies import copy_of
from recoverable.azure._messages import is_source
from recoverable.azure._waiting import LockLease
from recoverable.headers import MESSAGE_ID, REFUSED_SENDS

if TYPE_CHECKING:
    from recoverable._ladder.delivery import Delivery
    from recoverable._service_bus.wire import Copy
    from recoverable.azure._processor import Processing
    from recoverable.azure._settings import ServiceBusSettings

log = logging.getLogger("recoverable.settlement")

CONFIGURED, OF_THE_POLICY = (
    "Failed(error_queue=...), or the setting RECOVERABLE_ERROR_QUEUE",
    "the policy's MoveToError(error_queue=...)",
)
NO_COPY = f"its queue took no copy of it, and {NO_OUTCOME}"
PASSING = "Check the state of the queue '%s' and of the namespace if this lasts. The connection is '%s'."
ADVICE: Mapping[Kind, str] = {
    "missing": "Create the queue '%s', or correct its name. The connection is '%s'.",
    "denied": "Give the function's identity the role Azure Service Bus Data Sender on the queue '%s'. The connection is '%s'.",
    "closed": "Enable the queue '%s', or empty it. The connection is '%s'.",
    "limit": "Check the limits of the queue '%s' for size and properties. The connection is '%s'.",
}
"""Advice by the kind of a failure, and for one that may pass; with the queue and the connection's name."""


class CopyNotSent(Exception):
    """Raised when a copy could not be sent: the host then abandons the original and delivers it again."""

    __module__ = "recoverable.azure"  # the name under which users import it


class Way(NamedTuple):
    """A forwarding to try.

    Args:
        forward: the forwarding.
        bare: True if the copy lacks the headers that say why, which helps only where the copy broke a limit.
        gives_up: True if it takes the place of a retry, which helps only where the message's own queue refuses that for good.
    """

    forward: Forward
    bare: bool = False
    gives_up: bool = False

    @property
    def waits(self) -> bool:
        """True if the copy waits in the message's own queue until it is sent on."""
        return bool(self.forward.changes.get(REFUSED_SENDS))


class Letter:
    """A message whose copy is to be sent, and what came of it.

    Args:
        delivery: the original.
        forward: its settlement.
        deferred: True if the message waits without an attempt: no other way is tried, because its handler can run instead.

    `stays` is True if the copy goes to the queue that the message came from; `decided` is the first way to try; `taken` is the one that a
    queue took; `failure` is the first reason why one did not; `refusals` are the kinds of all reasons of a round.
    """

    def __init__(self, delivery: Delivery, forward: Forward, *, deferred: bool) -> None:
        self.delivery, self.deferred, self.stays = delivery, deferred, is_source(forward.to, delivery)
        self.decided = Way(forward)
        self.taken: Way | None = None
        self.failure: Failure | None = None
        self.refusals: set[Kind] = set()

    @property
    def is_hopeless(self) -> bool:
        """True if each copy of it breaks a limit: sending it again does not help."""
        return self.refusals == {"limit"}

    @property
    def replacement(self) -> Forward | None:
        """Return the settlement that took the place of the one that was decided, where the message waits, or its retry was given up."""
        if self.taken is None or self.taken is self.decided or not (self.taken.waits or self.stays):
            return None
        return self.taken.forward


class Sending(NamedTuple):
    """The work of sending copies.

    Args:
        work: has what waits, the clock and the connection's name.
        namespace: the Service Bus namespace.
        began: the time from which delays and the patience count.
        patience: for how many seconds sends are repeated.
    """

    work: Processing
    namespace: str
    began: datetime
    patience: float

    def copy(self, letter: Letter, way: Way) -> Copy:
        """Return the copy of a letter by one of its ways."""
        return copy_of(letter.delivery, way.forward, namespace=self.namespace, now=self.began)


def send_copies(forwards: list[tuple[Delivery, Forward]], work: Processing, *, deferred: bool = False) -> list[Letter]:
    """Make the copies and send them; return what no queue took.

    Args:
        forwards: the originals of the copies, and where the copies go.
        work: what the invocation works with; a settlement that took the place of the one that was decided is recorded in it.
        deferred: True for messages that wait without an attempt: each send is tried once, because their handlers can run instead.

    Raises:
        ValueError: there is no such connection.
    """
    lease = work.invocation.lease
    # half of a batch's time is for the last round, which tries the other ways
    seconds = lease.seconds_left() if isinstance(lease, LockLease) else work.seconds_for_sends() / 2
    patience = 0.0 if deferred else min(work.patience, seconds)
    sending = Sending(work, work.broker.namespace, work.environment.clock(), patience)
    letters = [Letter(delivery, forward, deferred=deferred) for delivery, forward in forwards]
    # the largest first: Service Bus is more likely to refuse them, and copies sent before a refusal are sent again
    left = deliver(sorted(letters, key=lambda letter: -len(letter.delivery.native.get_body())), sending)
    record = work.invocation.record
    for letter in letters:
        if (instead := letter.replacement) is not None:
            work.invocation.settle(letter.delivery, instead)
            if letter.stays and record is not None:
                record.note_given_up(letter.delivery, instead, letter.delivery.error)
        elif record is not None and (taken := letter.taken) and taken.forward.to != letter.decided.forward.to:
            record.note_moved(letter.delivery, taken.forward.to)
    return left


def ways(letter: Letter, work: Processing) -> Iterator[Way]:
    """Yield the forwardings to try in turn, each where the one before was refused.

    A copy for the error queue goes to the configured one where the policy's refuses it; where it breaks a limit, without the headers
    that say why, then without any of ours; and at last to the message's own queue, from which it is sent on. A retry in a batch that
    its own queue refuses for good goes to the error queue, because its neighbours would otherwise run again; without headers of ours
    where it breaks a limit. A message delivered by itself is redelivered, until it came back too often.

    Args:
        letter: the message.
        work: says the configured error queue, and whether the message's neighbours are redelivered with it.
    """
    yield letter.decided
    delivery, forward, own = letter.delivery, letter.decided.forward, letter.stays
    if letter.deferred or (own and not (work.settings.batch or delivery.at_limit or delivery.unreported)):
        return
    settings = work.invocation.recoverability
    error_queue = settings.failed.error_queue or ""
    if own:
        error = delivery.error or (UnreportedFailure(NO_COPY) if delivery.unreported else None)
        if error is not None:
            platform, now = work.invocation.platform, work.environment.clock()
            moved = give_up(delivery, error, recoverability=settings, platform=platform, now=now)
            yield Way(moved, gives_up=True)
    elif forward.to.lower() != error_queue.lower():
        yield Way(Forward(error_queue, NO_DELAY, forward.changes))
    named = {MESSAGE_ID: delivery.message.id, FAILED_QUEUE: delivery.message.queue}
    faults = dict.fromkeys(delivery.carried.faults)  # of a copy that waited
    for changes in (named, {}):
        yield Way(Forward(error_queue, NO_DELAY, {**faults, **changes}), bare=True)
    if not own:
        yield Way(deferral_after_refusal(delivery, forward))


def deliver(letters: Sequence[Letter], sending: Sending) -> list[Letter]:
    """Send the letters, those to other queues before those to their own; return those that nothing took.

    After one that nothing took none is sent any more: all are redelivered, and would be sent again.
    """
    stuck: list[Letter] = []
    for own in (False, True):
        phase = [letter for letter in letters if letter.stays is own]
        if phase and not stuck:
            stuck = deliver_phase(phase, sending)
    log_outcome(letters, sending.work.settings)
    return stuck


def deliver_phase(letters: list[Letter], sending: Sending) -> list[Letter]:
    """Send letters again and again until they are taken or the patience ends; return those that nothing took."""
    stuck = send_round(letters, sending, final=sending.patience < FIRST_PAUSE)
    if not stuck or sending.patience < FIRST_PAUSE:
        return stuck
    if not any(letter.is_hopeless for letter in stuck):
        log_repetition(stuck, sending.patience)
    environment, rest = sending.work.environment, pauses(sending.patience)
    pause = next(rest, None)
    while stuck and pause is not None:
        if any(letter.is_hopeless for letter in stuck):  # it is redelivered at once, and must not be in a hot loop
            environment.sleep(pause + sum(rest))
            break
        environment.sleep(pause)
        pause = next(rest, None) if (environment.clock() - sending.began).total_seconds() < sending.patience else None
        stuck = send_round(stuck, sending, final=pause is None)
    return stuck


def send_round(letters: list[Letter], sending: Sending, *, final: bool) -> list[Letter]:
    """Send letters together, and those that were not sent one by one; return those that are still there.

    Args:
        letters: the letters.
        sending: what it works with.
        final: True in the last round, in which a failure that may pass leads to the next way too.
    """
    copies = [sending.copy(letter, letter.decided) for letter in letters]
    failures = sending.work.send(copies)
    failed = []
    for letter, failure in zip(letters, failures, strict=True):
        if failure is None:
            letter.taken = letter.decided
        else:
            failed.append(letter)
            letter.failure = letter.failure or (None if failure is UNTRIED else failure)
    if not final and not any(failure and failure.is_for_good for failure in failures):
        return failed
    answers = {copy.to: each for copy, each in zip(copies, failures, strict=True) if each and each.is_of_the_entity}
    for place, letter in enumerate(failed):
        if not send_by_first_way(letter, sending, answers, final=final):
            return failed[place:]
    return []


def send_by_first_way(letter: Letter, sending: Sending, answers: dict[str, Failure], *, final: bool) -> bool:
    """Send one letter by the first way that takes it; return False if none does.

    Where access to another queue is denied and its own queue refuses too, the credentials may be at fault: it is repeated.

    Args:
        letter: the letter.
        sending: what it works with.
        answers: the answers in this round of queues that refuse whatever they are sent; further ones are added.
        final: as above.
    """
    letter.refusals.clear()
    failure: Failure | None = None
    for way in ways(letter, sending.work):
        if way.bare and not (failure and may_fit_when_smaller(letter.delivery, failure)):
            continue
        if way.gives_up and not (failure and failure.is_for_good):
            continue
        copy = sending.copy(letter, way)
        failure = answers.get(copy.to) or sending.work.send([copy], alone=True)[0]
        if failure is None:
            letter.taken = way
            if not letter.refusals:  # it was refused only because of others in its batch
                letter.failure = None
            return True
        letter.failure = letter.failure or failure
        letter.refusals.add(failure.kind)
        if failure.is_of_the_entity:
            answers[copy.to] = failure
        if not (failure.is_for_good or final):
            return False
    return False


def may_fit_when_smaller(delivery: Delivery, failure: Failure) -> bool:
    """True if a copy without the headers that say why may be taken; also after an answer that nobody knows, once that has lasted too long."""
    return failure.fits_when_smaller or (failure.is_unknown and delivery.carried.refused_sends >= MOST_REFUSALS)


def log_repetition(letters: Sequence[Letter], patience: float) -> None:
    """Log that sends failed and are repeated for a while."""
    text = "Service Bus send to '%s' failed for %d messages (%s). It is repeated for up to %g s."
    for to, failure, _, ids in failed_sends(letters):
        extra = {"message_ids": ids, "queue": to}
        log_safely(log.warning, text, to, len(ids), failure.reason, patience, extra=extra)


def log_outcome(letters: Sequence[Letter], settings: ServiceBusSettings) -> None:
    """Log what became of messages whose copies a queue refused, and what to do."""
    for to, failure, consequence, ids in failed_sends(letters):
        level = log.error if failure.kind in ("missing", "denied") else log.warning
        text = f"Service Bus send to '%s' failed for %d messages (%s). %s {ADVICE.get(failure.kind, PASSING)}"
        if failure.kind == "missing":
            is_configured = to == settings.recoverability.failed.error_queue
            text += f" Its name is in {CONFIGURED if is_configured else OF_THE_POLICY}."
        extra = {"message_ids": ids, "queue": to}
        log_safely(level, text, to, len(ids), failure.reason, consequence, to, settings.connection, extra=extra)


def failed_sends(letters: Sequence[Letter]) -> Iterator[tuple[str, Failure, str, list[str]]]:
    """Yield queues with a failure that messages met there, what became of these, and their ids."""
    groups: dict[tuple[str, str, str, str], tuple[Failure, list[str]]] = {}
    for letter in letters:
        if (failure := letter.failure) is not None:
            key = letter.decided.forward.to, failure.kind, failure.reason, consequence_of(letter)
            groups.setdefault(key, (failure, []))[1].append(letter.delivery.message.id)
    for (to, _, _, consequence), (failure, ids) in groups.items():
        yield to, failure, consequence, ids


def consequence_of(letter: Letter) -> str:
    """Return what becomes of a message whose copy was refused, as a sentence."""
    taken = letter.taken
    if taken is None:
        return "Its handler runs now." if letter.deferred else "They stay on the queue and will be redelivered."
    if taken is letter.decided:
        return "They were sent when it was repeated."
    if taken.bare:
        return f"They were moved to '{taken.forward.to}' without the headers that say why."
    if taken.waits:
        seconds = taken.forward.delay.total_seconds()
        return f"Their copies wait in '{taken.forward.to}' for {seconds:g} s and are sent on then; no handler runs for them."
    return f"They were moved to the error queue '{taken.forward.to}' instead."
