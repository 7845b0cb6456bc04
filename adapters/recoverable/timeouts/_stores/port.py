"""Define the port to a store of timeouts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from recoverable.timeouts._stores.rows import Kept, Row, Selection
from recoverable.timeouts._stores.shards import Claim
from recoverable.timeouts._timeout import Timeout


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
        """Yield what is due, the oldest first, then what was kept and is to be tried again before the horizon; in pages, each read when it is needed."""

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
