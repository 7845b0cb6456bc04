"""Read and change the states of the shards in a DynamoDB table. Each change is one conditional write of the fields it concerns, so that no race is lost."""

from __future__ import annotations

import os

import recoverable.timeouts._dynamodb_items as layout
import recoverable.timeouts._shards as shards

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from recoverable.timeouts._dynamodb_items import Item
    from recoverable.timeouts._dynamodb_table import Table
    from recoverable.timeouts._shards import Claim, Fields, Shard
    from recoverable.timeouts._timeout import Location


class ShardStates:
    """The states of a table's shards.

    Args:
        table: the table.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def check_after_put(self, location: Location, now: int) -> Shard:
        """Return a shard's state after a timeout was stored in it. Count the timeout as late if the shard's owner may pass its minute."""
        state = self._get(location.shard) or self._create(location, now)
        may_be_late = layout.is_past(layout.bucket_of(location.due), state.taken_at)
        return self._count_late(location.shard) if may_be_late else state

    def is_untaken(self, shard: int, due: int, at: int) -> bool:
        """True if no dispatcher can have taken a timeout: `shards.is_untaken` of the state as it is now."""
        state = self._get(shard)
        return state is not None and shards.is_untaken(state, due, at)

    def claim(self, shard: int, owner: str, *, now: int, until: int, horizon: int) -> Shard | None:
        """Claim a shard; None when another has it, or is claiming it just now, or nothing was ever stored in it."""
        found = self._get(shard)
        taken = found and shards.claim_shard(found, owner, now=now, until=until, horizon=horizon)
        if not found or not taken:
            return None
        fields = {name: getattr(taken, name) for name in ("owner", "until", "horizon", "unsure", "taken_at")}
        expected = {name: getattr(found, name) for name in ("owner", "until", "horizon", "unsure")}
        if (changed := self._update_if(shard, expected, fields)) is not None:
            return changed
        state = self._get(shard)  # the claim may have succeeded, and only its answer was lost
        return state if state and (state.owner, state.until) == (taken.owner, taken.until) else None

    def renew(self, claim: Claim, until: int) -> bool:
        """Renew the lease; False when another has the shard."""
        return self._update_if(claim.shard, {"owner": claim.owner}, {"until": until}) is not None

    def release(self, claim: Claim) -> None:
        """Release a shard that the claim still has, and move its watermark over what was found empty, unless something was stored late."""
        mine: Fields = {"owner": claim.owner}
        back: Fields = shards.changes_on_release(claim)
        on_time = mine | {"late": claim.state.late}
        if self._update_if(claim.shard, on_time, back | {"watermark": claim.empty_until}) is None:
            self._update_if(claim.shard, mine, back)

    def schedule_kept_check(self, claim: Claim, at: int) -> None:
        """Have the pointers checked no later than at that moment, after the claim's owner has written one."""
        state = self._get(claim.shard)
        if state and state.owner == claim.owner:
            self._set_kept_check(claim.shard, at)
        else:
            self._schedule_late_check(claim.shard, at)

    def point_to(self, item: Item, shard: int, at: int) -> None:
        """Write a pointer to a timeout whose minute nobody may look at any more, so that it is looked at then."""
        self._table.put(layout.kept_pointer(item, shard, at, os.urandom(8).hex()))
        self._schedule_late_check(shard, at)

    def finish_kept_check(self, claim: Claim) -> None:
        """Set the next check of the pointers to the claim's `next_kept_at`, unless one was written late."""
        on_time: Fields = {"owner": claim.owner, "late": claim.state.late}
        if self._update_if(claim.shard, on_time, {"kept_at": claim.next_kept_at}) is None:
            self._set_kept_check(claim.shard, claim.next_kept_at)

    def _get(self, shard: int) -> Shard | None:
        item = self._table.get(layout.shard_key(shard))
        return None if item is None else layout.from_shard_item(item)

    def _create(self, location: Location, now: int) -> Shard:
        """Create a shard's state, and return it, or the state that another created first."""
        state = shards.new_shard(location.due, now)
        if self._table.put(layout.to_shard_item(location.shard, state), layout.NEW) is not None:
            return state
        existing = self._get(location.shard)
        assert existing is not None, location.shard  # a shard's state is never deleted
        return existing

    def _schedule_late_check(self, shard: int, at: int) -> None:
        """Have the pointers checked after one was written that a dispatcher may have missed, which reads them just now."""
        self._count_late(shard)
        self._set_kept_check(shard, at)

    def _set_kept_check(self, shard: int, at: int) -> None:
        self._table.update(layout.shard_key(shard), "SET kept_at = :at", "kept_at > :at", {":at": at})

    def _count_late(self, shard: int) -> Shard:
        key, one = layout.shard_key(shard), {":one": 1}
        changed = self._table.update(key, "ADD late :one", None, one, ReturnValues="ALL_NEW")
        assert changed is not None, shard  # it has no condition
        return layout.from_shard_item(changed)

    def _update_if(self, shard: int, expected: Fields, fields: Fields) -> Shard | None:
        """Change a shard's fields if others are as expected. Return the new state, or None when they are not."""
        values = {f":{name}": value for name, value in fields.items()}
        changed = self._table.update(
            layout.shard_key(shard),
            "SET " + ", ".join(f"#{name} = :{name}" for name in fields),
            " AND ".join(f"#{name} = :seen_{name}" for name in expected),
            values | {f":seen_{name}": value for name, value in expected.items()},
            ExpressionAttributeNames={f"#{name}": name for name in {**expected, **fields}},
            ReturnValues="ALL_NEW",
        )
        return None if changed is None else layout.from_shard_item(changed)
