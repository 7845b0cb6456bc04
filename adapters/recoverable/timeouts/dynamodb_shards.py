"""The states of the shards in a DynamoDB table, each changed only as it was seen."""

from __future__ import annotations

from . import shards
from .dynamodb_items import number, shard_item, shard_key, shard_of
from .store import StoreUnavailable

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable

    from .dynamodb_table import Table
    from .ids import Place
    from .shards import Shard

NEW = "attribute_not_exists(pk)"

RACES = 20
"""How often a shard's state is changed anew after somebody else has changed it."""


class ShardStates:
    """The shards of a table.

    Args:
        table: the table.
    """

    __slots__ = ("_table",)

    def __init__(self, table: Table) -> None:
        self._table = table

    def after_put(self, place: Place, now: int) -> Shard:
        """A shard's state after a timeout was stored in it."""
        seen: list[Shard | None] = []

        def after(shard: Shard | None) -> Shard | None:
            seen.append(shard)
            return shards.after_put(shard, place.due, now)

        state = self.change(place.shard, after) or seen[-1]
        assert state is not None  # for the first timeout changes it
        return state

    def change(self, shard: int, change: Callable[[Shard | None], Shard | None]) -> Shard | None:
        """Change a shard's state as it is now; what it is then, or None when it is not changed."""
        for race in range(RACES):
            item = self._table.get(shard_key(shard))
            changed = change(shard_of(item) if item else None)
            if changed is None:
                return None
            revision = int(item["revision"]["N"]) if item else 0
            unchanged = ("revision = :seen", {":seen": number(revision)}) if item else (NEW, None)
            if self._table.put(shard_item(shard, changed, revision + 1), *unchanged):
                return changed
            self._table.pause(race)
        raise StoreUnavailable(f"DynamoDB: shard {shard} was changed by others again and again")
