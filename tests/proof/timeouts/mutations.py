"""List mistakes that the timeouts do not make: a replaced function, the kind of schedule that shows it, and the promise that it breaks."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from datetime import datetime
from typing import Any

from proof.mistakes import Mutation
from recoverable.timeouts import DynamoDbStore, Timeouts
from recoverable.timeouts._dispatcher import Run
from recoverable.timeouts._dynamodb_items import key_of
from recoverable.timeouts._dynamodb_shards import ShardStates
from recoverable.timeouts._shards import Shard, claim_shard
from recoverable.timeouts._store import Kept
from recoverable.timeouts._timeout import to_microseconds

minute, keep = DynamoDbStore._due_in_minute, DynamoDbStore.keep
send, send_or_store = Run._send, Timeouts._send_or_store


def mark_first(run: Run, ready: Sequence[Any]) -> Any:
    """Mark before send."""
    run._store.mark_dispatched([each.row for each in ready], now=run._clock())
    return send(run, ready)


def always(*args: object) -> bool:
    """Take each minute for over; or each timeout for one that nobody has taken."""
    return True


def left_behind(store: DynamoDbStore, claim: Any, bucket: int) -> Generator[Any, None, bool]:
    """Take each minute that was read for empty."""
    yield from minute(store, claim, bucket)
    return False


def never(*args: object) -> bool:
    """Cancel nothing; or find nothing that is stored."""
    return False


def taken_from_anyone(shard: Shard, owner: str, *, now: int, until: int, horizon: int) -> Shard | None:
    """Claim a shard without a look at its lease."""
    return claim_shard(shard.__replace__(owner=""), owner, now=now, until=until, horizon=horizon)


def without_a_look(states: ShardStates, location: Any, now: int) -> Shard:
    """Store without a look at the shard afterwards, if it has begun."""
    return states._get(location.shard) or states._create(location, now)


def set_aside_first(store: DynamoDbStore, claim: Any, rows: Sequence[Kept], *, retry_at: datetime) -> None:
    """Set timeouts aside before anything points to them."""
    for kept in rows:
        values = {":at": to_microseconds(retry_at)}
        store._table.update(key_of(kept.row.native), "SET retry_at = :at", "attribute_exists(pk)", values)
    keep(store, claim, rows, retry_at=retry_at)


def restored_alone(store: DynamoDbStore, item: Any, _location: Any) -> Any:
    """Let a hidden timeout wait again, and write no pointer to it."""
    return store._table.update(key_of(item), "REMOVE outcome, expires", ReturnValues="ALL_NEW")


def without_delay(timeout: Any, delay: int, *, fifo: bool) -> dict[str, Any]:
    """Send now what is due later."""
    return {"MessageGroupId": "g", "MessageDeduplicationId": timeout.id} if fifo else {}


def unconfirmed(timeouts: Timeouts, timeout: Any, now: datetime, *, keyed: bool) -> None:
    """Take what is there for stored, although nobody may look for it."""
    if not (keyed and timeouts._store.was_scheduled(timeout.id)):
        send_or_store(timeouts, timeout, now, keyed=keyed)


HERE, MOVED, FILE = "timeouts", "timeouts, migrated", "timeouts in SQLite"
MUTATIONS = (
    Mutation("mark before send", "timeouts._dispatcher.Run._send", mark_first, HERE, "LOST"),
    Mutation("the watermark passes what waits", "timeouts._dynamodb_store.DynamoDbStore._due_in_minute", left_behind, HERE, "PASSED"),
    Mutation("no look after storing", "timeouts._dynamodb_shards.ShardStates.check_after_put", without_a_look, HERE, "PASSED"),
    Mutation("set aside before it is pointed to", "timeouts._dynamodb_store.DynamoDbStore.keep", set_aside_first, HERE, "LOST"),
    Mutation("unconditional claim", "timeouts._shards.claim_shard", taken_from_anyone, HERE, "TWICE"),
    Mutation("delay dropped", "timeouts._sending.delivery_fields", without_delay, HERE, "EARLY"),
    Mutation("what may be taken is cancelled", "timeouts._shards.is_untaken", always, FILE, "CANCELLED"),
    Mutation("what may be taken is cancelled in a table", "timeouts._dynamodb_shards.ShardStates.is_untaken", always, HERE, "CANCELLED"),
    Mutation("nothing points to what waits again", "timeouts._dynamodb_store.DynamoDbStore._restore", restored_alone, HERE, "PASSED"),
    Mutation("a second cancel is denied", "timeouts._dynamodb_items.is_cancelled", never, HERE, "LOST"),
    Mutation("a key is not looked for", "timeouts._dynamodb_store.DynamoDbStore.was_scheduled", never, HERE, "TWICE"),
    Mutation("a key that is found is not confirmed", "timeouts._scheduling.Timeouts._send_or_store", unconfirmed, HERE, "LOST"),
    Mutation("moved without being hidden", "timeouts._dynamodb_store.DynamoDbStore.hold_for_migration", always, MOVED, "TWICE"),
)  # fmt: skip
