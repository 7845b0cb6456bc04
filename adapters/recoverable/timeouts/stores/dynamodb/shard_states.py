"""The states of the shards in a DynamoDB table: each change is one conditional write of the fields that it is about, so that none is a race to lose."""

from __future__ import annotations

from recoverable.timeouts.stores import shards
from recoverable.timeouts.stores.buckets import bucket_of, is_past
from recoverable.timeouts.stores.dynamodb.items import NEW, number, shard_key, text
from recoverable.timeouts.stores.shards import Shard

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from typing import Any

    from recoverable.timeouts.ids import Location
    from recoverable.timeouts.stores.dynamodb.items import Item
    from recoverable.timeouts.stores.dynamodb.table import Table
    from recoverable.timeouts.stores.shards import Claim, Fields

NUMBERS = ("horizon", "kept_at", "late", "taken_at", "unsure", "until", "watermark")


class ShardStates:
    """The shards of a table.

    Args:
        table: the table.
    """

    __slots__ = ("_table",)

    def __init__(self, table: Table) -> None:
        self._table = table

    def check_after_put(self, location: Location, now: int) -> Shard:
        """A shard's state after a timeout was stored in it, which is noted as late if whoever has the shard may pass its minute."""
        state = self._get(location.shard) or self._create(location, now)
        return self._count_late(location.shard) if is_past(bucket_of(location.due), state.taken_at) else state

    def claim(self, shard: int, owner: str, *, now: int, until: int, horizon: int) -> Shard | None:
        """Take a shard; None when another has it, or is taking it just now, or nothing was ever stored in it."""
        found = self._get(shard)
        taken = found and shards.claim_shard(found, owner, now=now, until=until, horizon=horizon)
        if not found or not taken:
            return None
        fields = {name: getattr(taken, name) for name in ("owner", "until", "horizon", "unsure", "taken_at")}
        expected = {name: getattr(found, name) for name in ("owner", "until", "horizon", "unsure")}
        return self._update_if(shard, expected, fields) or self._confirm_claim(shard, taken)

    def renew(self, claim: Claim, until: int) -> bool:
        """Keep a shard for longer; False when another has it."""
        return self._update_if(claim.shard, {"owner": claim.owner}, {"until": until}) is not None

    def release(self, claim: Claim) -> None:
        """Give a shard back, if it is still the claim's; what was found empty is passed, unless something came late."""
        mine: Fields = {"owner": claim.owner}
        back: Fields = shards.changes_on_release(claim)
        on_time = mine | {"late": claim.state.late}
        if self._update_if(claim.shard, on_time, back | {"watermark": claim.empty_until}) is None:
            self._update_if(claim.shard, mine, back)

    def schedule_kept_check(self, claim: Claim, at: int) -> None:
        """Have those that are pointed to looked at no later than at that moment, now that the claim's owner has pointed to one."""
        state = self._get(claim.shard)
        if state and state.owner == claim.owner:
            self._set_kept_check(claim.shard, at)
        else:
            self.schedule_late_check(claim.shard, at)

    def schedule_late_check(self, shard: int, at: int) -> None:
        """The same after somebody other than its owner has pointed to one: whoever looks just now may not have expected it."""
        self._count_late(shard)
        self._set_kept_check(shard, at)

    def finish_kept_check(self, claim: Claim) -> None:
        """Those that are pointed to were tried, and the next is to be at the claim's `next_kept_at`, unless one came late."""
        on_time: Fields = {"owner": claim.owner, "late": claim.state.late}
        if self._update_if(claim.shard, on_time, {"kept_at": claim.next_kept_at}) is None:
            self._set_kept_check(claim.shard, claim.next_kept_at)

    def _get(self, shard: int) -> Shard | None:
        item = self._table.get(shard_key(shard))
        return None if item is None else from_shard_item(item)

    def _confirm_claim(self, shard: int, taken: Shard) -> Shard | None:
        """A shard's state if it was taken after all, and only the answer was lost."""
        state = self._get(shard)
        return state if state and (state.owner, state.until) == (taken.owner, taken.until) else None

    def _create(self, location: Location, now: int) -> Shard:
        """The state with which a shard begins, or with which another has begun it."""
        state = shards.new_shard(location.due, now)
        if self._table.put(to_shard_item(location.shard, state), NEW):
            return state
        begun = self._get(location.shard)
        assert begun is not None, location.shard  # what begins a shard never goes
        return begun

    def _set_kept_check(self, shard: int, at: int) -> None:
        self._table.update(
            shard_key(shard),
            UpdateExpression="SET kept_at = :at",
            ConditionExpression="kept_at > :at",
            ExpressionAttributeValues={":at": number(at)},
        )

    def _count_late(self, shard: int) -> Shard:
        change: dict[str, Any] = {"UpdateExpression": "ADD late :one", "ExpressionAttributeValues": {":one": number(1)}}
        changed = self._table.update(shard_key(shard), ReturnValues="ALL_NEW", **change)
        assert changed is not None, shard  # it has no condition
        return from_shard_item(changed)

    def _update_if(self, shard: int, expected: Fields, fields: Fields) -> Shard | None:
        """Change a shard's fields if others are as they were expected; the shard then, or None when they are not."""
        values = {f":{name}": to_value(value) for name, value in fields.items()}
        changed = self._table.update(
            shard_key(shard),
            UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in fields),
            ConditionExpression=" AND ".join(f"#{name} = :seen_{name}" for name in expected),
            ExpressionAttributeNames={f"#{name}": name for name in {**expected, **fields}},
            ExpressionAttributeValues=values | {f":seen_{name}": to_value(expected[name]) for name in expected},
            ReturnValues="ALL_NEW",
        )
        return None if changed is None else from_shard_item(changed)


def to_shard_item(shard: int, state: Shard) -> Item:
    """The item of a shard's state."""
    numbers = {name: number(getattr(state, name)) for name in NUMBERS}
    return {**shard_key(shard), **numbers, "owner": text(state.owner)}


def from_shard_item(item: Item) -> Shard:
    """The state that an item says."""
    return Shard(owner=item["owner"]["S"], **{name: int(item[name]["N"]) for name in NUMBERS})


def to_value(value: int | str) -> dict[str, str]:
    """A field's value as DynamoDB has it."""
    return text(value) if isinstance(value, str) else number(value)
