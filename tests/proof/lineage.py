"""Record of which delivery a copy was made, and why; as a text, for either cloud's trace field."""

from __future__ import annotations

from typing import Literal, NamedTuple, cast

from recoverable import headers
from recoverable._ladder.faults import FAILED_QUEUE
from recoverable._ladder.settlement import Forward

Why = Literal["error", "delayed retry", "immediate retry", "deferral", "hop"]


class Origin(NamedTuple):
    """The origin of a copy: a broker message, the number of its delivery, and the reason."""

    parent: str
    delivery: int
    why: Why


def to_text(origin: Origin) -> str:
    """Return the origin as a text."""
    return "|".join(map(str, origin))


def origin_from(text: str | None) -> Origin | None:
    """Parse an origin; None for a message of a sender."""
    if text is None:
        return None
    parent, delivery, why = text.split("|")
    return Origin(parent, int(delivery), cast("Why", why))


def reason_for(forward: Forward) -> Why:
    """Return why a copy is made, by the headers that only such a copy sets."""
    if FAILED_QUEUE in forward.changes:
        return "error"
    if headers.REFUSED_SENDS in forward.changes:  # it was given up before, and is sent on or waits again
        return "hop"
    if headers.DELAYED_RETRIES in forward.changes:
        return "delayed retry"
    if forward.changes.get(headers.HELD_SINCE):
        return "deferral"
    return "immediate retry" if headers.PRIOR_ATTEMPTS in forward.changes else "hop"
