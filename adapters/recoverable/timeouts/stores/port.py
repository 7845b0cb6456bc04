"""The port to a store of timeouts: its verbs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from recoverable.timeouts.stores.rows import Kept, Row, Selection
from recoverable.timeouts.stores.shards import Claim
from recoverable.timeouts.timeout import Timeout


class Store(Protocol):
    """Keeps timeouts until they are due. Each verb raises `StoreUnavailable` when it could not be done."""

    @property
    def shards(self) -> int:
        """How many dispatchers can work at once."""

    def put(self, timeout: Timeout, *, now: datetime, again: bool = False) -> str:
        """Store a timeout, also over one that was migrated, or, if `again`, over one that was cancelled; any other that is there stays as it is.

        Gives what it is there then: WAITING, HELD, DISPATCHED, CANCELLED or MIGRATED. `TooLarge` when it does not fit.
        """

    def cancel(self, timeout_id: str, *, now: datetime) -> bool:
        """Cancel a timeout: True when it will not be dispatched, also if it was cancelled before; False when it is none, or may have been taken."""

    def was_scheduled(self, timeout_id: str) -> bool:
        """Whether a timeout is stored that has come, or will: not one that was cancelled."""

    def ids_by_correlation(self, correlation: str) -> Sequence[str]:
        """The ids of the timeouts that wait with that correlation."""

    def claim(self, shard: int, owner: str, *, now: datetime, until: datetime, horizon: datetime) -> Claim | None:
        """Take a shard for a while, to dispatch what is due until the horizon; None when another has it or it is empty."""

    def renew(self, claim: Claim, *, until: datetime) -> bool:
        """Keep the shard for longer; False when another has it."""

    def due(self, claim: Claim) -> Iterator[Sequence[Row]]:
        """What is due, the oldest first, then what was kept and is to be tried again before the horizon; in pages, each read when asked for."""

    def mark_dispatched(self, rows: Sequence[Row], *, now: datetime) -> None:
        """Note that these are dispatched."""

    def keep(self, claim: Claim, /, rows: Sequence[Kept], *, retry_at: datetime) -> None:
        """Set aside what cannot be dispatched, until it is tried again; not what is done with.

        What is to be tried again at the claim's horizon cannot be cancelled, and is not read again by this claim.
        """

    def release(self, claim: Claim) -> None:
        """Give the shard back; what was read and found empty is passed."""

    def scan(self, selection: Selection) -> Iterator[Sequence[Row]]:
        """All that wait and fit the selection, also those that a migration holds or that are kept; in pages."""

    def hold_for_migration(self, row: Row) -> bool:
        """Hide a timeout from dispatchers, for a migration; False when it is gone, or may have been taken."""

    def release_from_migration(self, rows: Sequence[Row]) -> None:
        """Let dispatchers see them again."""

    def mark_migrated(self, rows: Sequence[Row], *, now: datetime) -> None:
        """Note that these are elsewhere now."""
