"""Define the port to a store of timeouts: what a store does, what it takes and returns, and its errors."""

from __future__ import annotations

from datetime import timedelta

from recoverable._frozen import Frozen, field

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from typing import Any, Protocol

    from recoverable.timeouts._shards import Claim
    from recoverable.timeouts._timeout import Timeout
else:
    Protocol = object  # a store is found by its methods; `typing` need not be imported at cold start


WAITING, HELD, DISPATCHED, CANCELLED, MIGRATED = "waiting", "held", "dispatched", "cancelled", "migrated"
"""The states of a timeout in a store: it waits, a migration holds it, or it is finished."""

CANCELLING = "cancelling"
"""The state of a timeout for the moment in which a cancel finds out if a dispatcher has it already."""


PAGE, MAX_PAGE = 100, 10_000
"""Rows of a page, unless a store is given another number, and the most that one may have: a page of DynamoDB's is 1 MB."""

KEEP_FINISHED = timedelta(days=1)
"""How long the outcome of a finished timeout is kept."""


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


class Store(Protocol):
    """A store that keeps timeouts until they are due. Each method raises `StoreUnavailable` when it could not be done."""

    @property
    def shards(self) -> int:
        """Return how many dispatchers can work at once."""

    def put(self, timeout: Timeout, *, now: datetime, again: bool = False) -> str:
        """Store a timeout. It replaces one that was migrated, or, if `again`, one that was cancelled; any other that exists stays as it is.

        Return the state that it has then: WAITING, HELD, DISPATCHED, CANCELLED or MIGRATED. Raise `TooLarge` when it does not fit.
        """

    def cancel(self, timeout_id: str, *, now: datetime) -> bool:
        """Cancel a timeout: True when it will not be dispatched, also if it was cancelled before; False when it is none, or may have been taken."""

    def was_scheduled(self, timeout_id: str) -> bool:
        """True if a timeout with this id is stored that was not cancelled, dispatched ones included."""

    def ids_by_correlation(self, correlation: str) -> Sequence[str]:
        """Return the ids of the timeouts that wait with this correlation."""

    def claim(self, shard: int, owner: str, *, now: datetime, until: datetime, horizon: datetime) -> Claim | None:
        """Claim a shard for a while, to dispatch what is due until the horizon; None when another has it or it is empty."""

    def renew(self, claim: Claim, *, until: datetime) -> bool:
        """Renew the lease; False when another has the shard."""

    def due(self, claim: Claim) -> Iterator[Sequence[Row]]:
        """Yield what is due, the oldest first, then what was kept and is to be tried again before the horizon; in pages, each read when it is needed.

        An empty page now and then lets the caller renew its lease, or stop.
        """

    def mark_dispatched(self, rows: Sequence[Row], *, now: datetime) -> None:
        """Mark these as dispatched."""

    def keep(self, claim: Claim, /, rows: Sequence[Kept], *, retry_at: datetime) -> None:
        """Set aside what cannot be dispatched, until it is tried again; what is finished stays so.

        A timeout with `retry_at` at the claim's horizon cannot be cancelled, and this claim does not read it again.
        """

    def release(self, claim: Claim) -> None:
        """Release the shard, and move its watermark over what was read and found empty."""

    def scan(self, selection: Selection) -> Iterator[Sequence[Row]]:
        """Yield all that waits and fits the selection, also what a migration holds or what is kept; in pages."""

    def hold_for_migration(self, row: Row, target: str = "") -> bool:
        """Hide a timeout from dispatchers; False when it is gone, or may have been taken.

        Rows show the target from then on, as `held_for`.
        """

    def release_from_migration(self, rows: Sequence[Row]) -> None:
        """Let dispatchers see these again."""

    def mark_migrated(self, rows: Sequence[Row], *, now: datetime) -> None:
        """Mark these as migrated."""


def checked_store(owner: str, store: Any) -> Any:
    """Return the store of a `Timeouts` or `Dispatcher` after checking that it is one.

    Raises:
        TypeError: it is none, such as the name of a table.
    """
    if isinstance(store, type) or not all(hasattr(store, name) for name in ("put", "claim", "shards")):
        table = store if isinstance(store, str) else "timeouts"
        raise TypeError(f"{owner}(store) is {store!r}; write a store, such as DynamoDbStore({table!r})")
    return store
