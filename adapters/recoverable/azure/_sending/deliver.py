"""Send what an invocation forwards: first together, then each by itself, then elsewhere, and again while that may help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from recoverable._ladder.delivery import Delivery
from recoverable._ladder.refused_sends import pauses
from recoverable._service_bus.answers import Refusal, refusal_of
from recoverable._service_bus.group_commit import NotTried
from recoverable.azure._copies import Copy
from recoverable.azure._log import log_outcome, log_repetition
from recoverable.azure._sending.fallbacks import Way
from recoverable.azure._sending.letter import Letter


class Sending(NamedTuple):
    """What sending works with.

    Args:
        copy: makes the copy for a delivery and a way.
        send: sends copies, alone or in batches; returns for each the reason why it was not sent, or None.
        connection: the name of the connection, for the log.
        patience: for how long sends are repeated.
        sleep: waits for so many seconds.
        clock: returns the time.
    """

    copy: Callable[[Delivery, Way], Copy]
    send: Callable[..., list[Exception | None]]
    connection: str
    patience: timedelta
    sleep: Callable[[float], None]
    clock: Callable[[], datetime]


def deliver(letters: Sequence[Letter], sending: Sending) -> list[Letter]:
    """Send the letters, those to other queues before those to their own; return those that nothing took.

    After one that nothing took none is sent any more: all are redelivered, and would be sent again.
    """
    for own in (False, True):
        phase = [letter for letter in letters if letter.stays is own]
        if phase and (stuck := deliver_phase(phase, sending)):
            log_outcome(letters, sending.connection)
            return stuck
    log_outcome(letters, sending.connection)
    return []


def deliver_phase(letters: list[Letter], sending: Sending) -> list[Letter]:
    """Send letters again and again until they are taken or the patience ends; return those that nothing took."""
    began, rest = sending.clock(), list(pauses(sending.patience.total_seconds()))
    stuck = send_round(letters, sending, final=not rest)
    if stuck and rest:
        log_repetition(stuck, sending.patience)
    for number, pause in enumerate(rest, 1):
        if not stuck:
            return []
        if any(letter.is_hopeless for letter in stuck):  # it is redelivered at once, and must not be in a hot loop
            sending.sleep(sum(rest[number - 1 :]))
            return stuck
        sending.sleep(pause)
        is_over = number == len(rest) or sending.clock() - began >= sending.patience
        stuck = send_round(stuck, sending, final=is_over)
        if is_over:
            break
    return stuck


def send_round(letters: list[Letter], sending: Sending, *, final: bool) -> list[Letter]:
    """Send letters together, and those that were not sent one by one; return those that are still there.

    Args:
        letters: the letters.
        sending: what it works with.
        final: True in the last round, in which a transient failure leads to the next way too.
    """
    errors = sending.send([sending.copy(letter.delivery, letter.ways[0]) for letter in letters])
    failed = []
    for letter, error in zip(letters, errors, strict=True):
        if error is None:
            letter.taken = letter.ways[0]
        else:
            failed.append(letter)
            letter.error = letter.error or (None if isinstance(error, NotTried) else error)
    together = {refusal_of(error) for error in errors if error is not None}
    if together <= {"transient"} and not final:
        return failed
    for place, letter in enumerate(failed):
        if not send_alone(letter, sending, final=final):
            return failed[place:]
    return []


def send_alone(letter: Letter, sending: Sending, *, final: bool) -> bool:
    """Send one letter by the first way that takes it; return False if none does."""
    letter.refusals.clear()
    kind: Refusal | None = None
    for way in letter.ways:
        if way.bare and kind != "limit":
            continue
        [error] = sending.send([sending.copy(letter.delivery, way)], alone=True)
        if error is None:
            letter.taken = way
            letter.error = (
                letter.error if letter.refusals else None
            )  # it was refused only because of others in its batch
            return True
        kind = letter.refused(error)
        if kind == "transient" and not final:
            return False
    return False


def in_sending_order(letters: Sequence[Letter]) -> list[Letter]:
    """Return the letters with the largest first: Service Bus is more likely to refuse these, and what is sent before is sent again."""
    return sorted(letters, key=lambda letter: -len(letter.delivery.message.body))
