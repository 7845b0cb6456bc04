"""Which copy was made of which delivery, and why, whatever a cloud writes it into."""

from __future__ import annotations

from typing import Literal, NamedTuple, cast

from recoverable import headers
from recoverable.recovery.faults import FAILED_QUEUE
from recoverable.recovery.settlement import Forward

Why = Literal["error", "delayed retry", "immediate retry", "deferral", "hop"]


class Origin(NamedTuple):
    """What a copy was made of: a broker message, in which of its deliveries, and why."""

    parent: str
    delivery: int
    why: Why


def written(origin: Origin) -> str:
    """The origin as a text."""
    return "|".join(map(str, origin))


def origin_from(text: str | None) -> Origin | None:
    """The origin that a text tells; None for what a sender has sent."""
    if text is None:
        return None
    parent, delivery, why = text.split("|")
    return Origin(parent, int(delivery), cast("Why", why))


def why(forward: Forward) -> Why:
    """Why a copy is made, told by the headers that only such a copy sets."""
    if FAILED_QUEUE in forward.changes:
        return "error"
    if headers.DELAYED_RETRIES in forward.changes:
        return "delayed retry"
    if forward.changes.get(headers.HELD_SINCE):
        return "deferral"
    return "immediate retry" if headers.PRIOR_ATTEMPTS in forward.changes else "hop"
