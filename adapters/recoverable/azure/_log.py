"""Log, once in a process, what is wrong with the messages of a queue or with host.json."""

from __future__ import annotations

import logging
from functools import cache

from recoverable._observe.log import log_safely

log = logging.getLogger("recoverable.settlement")


@cache
def log_ambiguous_fields(fields: frozenset[str], queue: str) -> None:
    """Log that messages and copies lack some fields: they could otherwise have another message's."""
    text = (
        "Reading %s failed for a batch from '%s' (the host does not say which message has which). Messages and their copies "
        "are without. Set the field on each message of this queue, or on none."
    )
    log_safely(log.warning, text, ", ".join(sorted(fields)), queue, extra={"queue": queue})


@cache
def log_host_problem(problem: str) -> None:
    """Log what the Functions host would not take from host.json."""
    log_safely(log.warning, "Reading host.json failed: %s. Waits inside an invocation go by the default.", problem)
