"""Leave out of a batch of several messages what the host mixes up between them."""

from __future__ import annotations

from functools import cache
from logging import getLogger
from typing import TYPE_CHECKING, Any

from recoverable._observe.log import log_safely
from recoverable.azure._messages import ARRAYS
from recoverable.nservicebus.folding import MessageWithFields

if TYPE_CHECKING:
    from azure.functions import ServiceBusMessage  # noqa: TID251  # for types alone


def without_ambiguous_fields(natives: list[ServiceBusMessage], queue: str) -> list[Any]:
    """Return the messages of a batch without the fields of which the host does not say which message has which; log which these are.

    Args:
        natives: the messages.
        queue: the name of the queue they came from.
    """
    if not (absent := ambiguous_fields(natives)):
        return natives
    log_ambiguous_fields(absent, queue)
    fields = dict.fromkeys(absent | {"label"} if "subject" in absent else absent)
    return [MessageWithFields(native, fields) for native in natives]


def ambiguous_fields(natives: list[ServiceBusMessage]) -> frozenset[str]:
    """Return the text fields that some messages of a batch have and others not: each without one shifts those of the others."""
    metadata = natives[0].metadata or {}
    given = {field: metadata.get(array) for field, array in ARRAYS.items()}
    return frozenset(
        field for field, values in given.items() if isinstance(values, list) and 0 < len(values) < len(natives)
    )


@cache
def log_ambiguous_fields(fields: frozenset[str], queue: str) -> None:
    """Log, once for a queue in a process, that its messages and their copies lack some fields: they could have another message's."""
    text = (
        "Reading %s failed for a batch from '%s' (the host does not say which message has which). Messages and their copies "
        "are without. Set the field on each message of this queue, or on none."
    )
    log = getLogger("recoverable.settlement").warning
    log_safely(log, text, ", ".join(sorted(fields)), queue, extra={"queue": queue})
