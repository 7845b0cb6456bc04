"""Define what a store of timeouts takes and returns, and its errors."""

from __future__ import annotations

from recoverable._frozen import Frozen, field

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from recoverable.timeouts._timeout import Timeout


WAITING, HELD, DISPATCHED, CANCELLED, MIGRATED = "waiting", "held", "dispatched", "cancelled", "migrated"
"""The states of a timeout in a store: it waits, a migration holds it, or it is finished."""

CANCELLING = "cancelling"
"""The state of a timeout for the moment in which a cancel finds out if a dispatcher has it already."""


class StoreUnavailable(Exception):
    """Raised when the store did not do what it was asked: what was to be stored is not stored, what was to be dispatched waits."""


class TooLarge(ValueError):
    """Raised for a timeout that is too large for the store."""


for _error in (StoreUnavailable, TooLarge):
    _error.__module__ = "recoverable.timeouts.store"  # the name under which they have always been logged


class Row(Frozen):
    """A stored timeout.

    Args:
        id: the timeout's id; any other text in a row that something else wrote.
        timeout: the timeout; None when it cannot be read.
        problem: the reason why it cannot be read.
        kept: True if it was set aside before.
        held: True if a migration holds it.
        held_for: the address of that migration's target; empty where it is not known.
        native: the store's own record of it.
    """

    id: str
    timeout: Timeout | None
    problem: str = field(default="", kw_only=True)
    kept: bool = field(default=False, kw_only=True)
    held: bool = field(default=False, kw_only=True)
    held_for: str = field(default="", kw_only=True)
    native: Any = field(default=None, kw_only=True)


class Kept(Frozen):
    """A row that cannot be dispatched.

    Args:
        row: the row.
        reason: the reason.
    """

    row: Row
    reason: str


class Selection(Frozen):
    """The timeouts that a migration is about.

    Args:
        cutoff: only those due at that time or later; None for all.
        endpoint: only those that this endpoint had stored; None for all.
    """

    cutoff: datetime | None = None
    endpoint: str | None = None
