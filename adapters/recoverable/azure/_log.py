"""Log copies that a queue did not take, and text fields that messages of a batch lack."""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING

from recoverable._observe.log import log_safely
from recoverable._service_bus.answers import refusal_of
from recoverable.azure._sending.fallbacks import is_deferral

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from recoverable.azure._sending.letter import Letter

log = logging.getLogger("recoverable.settlement")

SETTINGS = "Failed(error_queue=...), the setting RECOVERABLE_ERROR_QUEUE, or the policy's MoveToError(error_queue=...)"

ADVICE = {
    "missing": f"Create the queue '%s', or correct its name: {SETTINGS}. The connection is '%s'.",
    "denied": "Give the function's identity the role Azure Service Bus Data Sender on the queue '%s'. The connection is '%s'.",
    "closed": "Enable the queue '%s', or empty it. The connection is '%s'.",
    "limit": "Check the limits of the queue '%s' for size and properties. The connection is '%s'.",
    "transient": "Check the state of the queue '%s' and of the namespace if this lasts. The connection is '%s'.",
}
"""What to do, by the reason why a send failed; with the queue and the connection's name."""


def log_repetition(letters: Sequence[Letter], patience: timedelta) -> None:
    """Log that sends failed and are repeated for a while."""
    text = "Service Bus send to '%s' failed for %d messages (%s). It is repeated for up to %g s."
    for (to, kind, _), group in grouped(letters).items():
        extra = {"message_ids": ids(group), "queue": to}
        log_safely(log.warning, text, to, len(group), kind, patience.total_seconds(), extra=extra)


def log_outcome(letters: Sequence[Letter], connection: str) -> None:
    """Log what becomes of messages whose copies a queue refused, and what to do."""
    refused = [letter for letter in letters if letter.error is not None]
    for (to, kind, consequence), group in grouped(refused).items():
        assert group[0].error is not None
        reason = refusal_of(group[0].error)
        level = log.error if reason in ("missing", "denied") else log.warning
        text = f"Service Bus send to '%s' failed for %d messages (%s). %s {ADVICE[reason]}"
        extra = {"message_ids": ids(group), "queue": to}
        log_safely(level, text, to, len(group), kind, consequence, to, connection, extra=extra)


def grouped(letters: Sequence[Letter]) -> dict[tuple[str, str, str], list[Letter]]:
    """Return letters by their queue, the type of their error, and what becomes of them."""
    groups: dict[tuple[str, str, str], list[Letter]] = {}
    for letter in letters:
        key = letter.ways[0].forward.to, type(letter.error).__name__, consequence_of(letter)
        groups.setdefault(key, []).append(letter)
    return groups


def consequence_of(letter: Letter) -> str:
    """Return what becomes of a message whose copy was refused, as a sentence."""
    taken = letter.taken
    if taken is None:
        return (
            "Its handler runs now."
            if is_deferral(letter.delivery)
            else "They stay on the queue and will be redelivered."
        )
    if taken is letter.ways[0]:
        return "They were sent when it was repeated."
    if taken.bare:
        return f"They were moved to '{taken.forward.to}' without the headers that say why."
    if taken.waits:
        seconds = taken.forward.delay.total_seconds()
        return f"Their copies wait in '{taken.forward.to}' for {seconds:g} s and are sent on then; no handler runs for them."
    return f"They were moved to the error queue '{taken.forward.to}' instead."


def ids(letters: Sequence[Letter]) -> list[str]:
    """Return the ids of the messages."""
    return [letter.delivery.message.id for letter in letters]


@cache
def log_ambiguous_fields(fields: frozenset[str], queue: str) -> None:
    """Log, once in a process, that messages and copies lack some fields: they could otherwise have another message's."""
    text = (
        "Reading %s failed for a batch from '%s' (the host does not say which message has which). Messages and their copies "
        "are without. Set the field on each message of this queue, or on none."
    )
    log_safely(log.warning, text, ", ".join(sorted(fields)), queue, extra={"queue": queue})
