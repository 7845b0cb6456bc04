"""What a store of timeouts hands over and is handed, and its errors."""

from __future__ import annotations

from ..frozen import Frozen
from .shards import NEVER

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from .shards import Shard
    from .timeout import Timeout


WAITING, HELD, DISPATCHED, CANCELLED, MIGRATED = "waiting", "held", "dispatched", "cancelled", "migrated"
"""What a timeout is in a store: it waits, a migration has it, or it is done with."""


class StoreUnavailable(Exception):
    """The store did not do what it was asked; what was to be stored is not, what was to be dispatched waits."""


class TooLarge(ValueError):
    """The store cannot take a timeout of this size."""


class Row(Frozen):
    """A row of a store.

    Args:
        id: the timeout's id, as far as it is one.
        timeout: the timeout; None when it cannot be read.
        problem: why it cannot be read.
        kept: whether it was set aside before.
        hidden: whether a migration holds it.
        native: the store's own record of it.
    """

    __slots__ = ("hidden", "id", "kept", "native", "problem", "timeout")
    id: str
    timeout: Timeout | None
    problem: str
    kept: bool
    hidden: bool
    native: Any

    def __init__(
        self,
        id: str,  # noqa: A002  # the field's standard name
        timeout: Timeout | None,
        *,
        problem: str = "",
        kept: bool = False,
        hidden: bool = False,
        native: Any = None,
    ) -> None:
        self._assign(id=id, timeout=timeout, problem=problem, kept=kept, hidden=hidden, native=native)


class Kept(Frozen):
    """A row that cannot be dispatched.

    Args:
        row: the row.
        reason: why.
    """

    __slots__ = ("reason", "row")
    row: Row
    reason: str

    def __init__(self, row: Row, reason: str) -> None:
        self._assign(row=row, reason=reason)


class Selection(Frozen):
    """Which timeouts a migration is about.

    Args:
        cutoff: only those due at that time or later; None for all.
        endpoint: only those that this endpoint had stored; None for all.
    """

    __slots__ = ("cutoff", "endpoint")
    cutoff: datetime | None
    endpoint: str | None

    def __init__(self, cutoff: datetime | None = None, endpoint: str | None = None) -> None:
        self._assign(cutoff=cutoff, endpoint=endpoint)


class Claim:
    """A shard in the hands of a dispatcher.

    Args:
        shard: its number.
        owner: the dispatcher.
        state: the shard's state when it was taken.
        horizon: what is due until then is to be dispatched, in microseconds since 1970.
    """

    __slots__ = ("doubtful", "horizon", "next_kept", "owner", "passed", "shard", "state")

    def __init__(self, shard: int, owner: str, state: Shard, horizon: int) -> None:
        self.shard, self.owner, self.state, self.horizon = shard, owner, state, horizon
        self.passed = state.watermark  # how far it was read and found empty
        self.next_kept = NEVER  # when what is kept is to be tried again, as far as was seen
        self.doubtful = False  # whether something that still waits may have been sent
