"""Log copies that could not be sent to Service Bus, or are sent without a field."""

from __future__ import annotations

import logging

from recoverable.observe.log import log_safely

log = logging.getLogger("recoverable.settlement")


def log_failed_send(message_ids: list[str], to: str, error: Exception) -> None:
    """Log that copies could not be sent, what happens to their messages, and what to do."""
    text = (
        "Service Bus send to '%s' failed for %d messages (%s). They stay on the queue: one to be deferred is attempted "
        "now, the others will be redelivered. Check that the queue '%s' exists and the function may send to it."
    )
    extra = {"message_ids": message_ids, "queue": to}
    log_safely(log.warning, text, to, len(message_ids), type(error).__name__, to, extra=extra)


def log_ambiguous_fields(fields: frozenset[str], queue: str) -> None:
    """Log that copies lose some fields: they could otherwise get another message's, such as its correlation id."""
    text = (
        "Reading %s failed for a batch from '%s' (the host does not say which message has which). Their copies are sent "
        "without. Set the field on each message of this queue, or on none."
    )
    log_safely(log.warning, text, ", ".join(sorted(fields)), queue, extra={"queue": queue})
