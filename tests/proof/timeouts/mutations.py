"""List mistakes that the timeouts do not make: a replaced function, the kind of schedule that shows it, and the promise that it breaks."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from datetime import datetime
from typing import Any

from proof.mistakes import Mutation
from recoverable.timeouts.dispatching.run import Run
from recoverable.timeouts.scheduling import Timeouts
from recoverable.timeouts.stores.dynamodb.ending import Ending
from recoverable.timeouts.stores.dynamodb.items import key_in
from recoverable.timeouts.stores.dynamodb.reading import Reading
from recoverable.timeouts.stores.dynamodb.shard_states import ShardStates
from recoverable.timeouts.stores.rows import Kept
from recoverable.timeouts.stores.shards import Shard, claimed

minute, send, keep, send_or_store = Reading._minute, Run._send, Ending.keep, Timeouts._send_or_store


def mark_first(run: Run, ready: Sequence[Any]) -> Any:
    """Mark before send."""
    run._store.mark([each.row for each in ready], now=run._clock())
    return send(run, ready)


def always(*args: object) -> bool:
    """Take each minute for over; or each timeout for one that nobody has taken."""
    return True


def left_behind(reading: Reading, claim: Any, bucket: int) -> Generator[Any, None, bool]:
    """Take each minute that was read for empty."""
    yield from minute(reading, claim, bucket)
    return False


def never(*args: object) -> bool:
    """Cancel nothing; or find nothing that is stored."""
    return False


def taken_from_anyone(shard: Shard, owner: str, *, now: int, until: int, horizon: int) -> Shard | None:
    """Claim a shard without a look at its lease."""
    return claimed(shard.__replace__(owner=""), owner, now=now, until=until, horizon=horizon)


def without_a_look(states: ShardStates, place: Any, now: int) -> Shard:
    """Store without a look at the shard afterwards, if it has begun."""
    return states._get(place.shard) or states._begun(place, now)


def set_aside_first(ending: Ending, claim: Any, rows: Sequence[Kept], retry_at: int) -> None:
    """Set timeouts aside before anything points to them."""
    for kept in rows:
        ending._table.update(
            key_in(kept.row.native),
            UpdateExpression="SET retry_at = :at",
            ConditionExpression="attribute_exists(pk)",
            ExpressionAttributeValues={":at": {"N": str(retry_at)}},
        )
    keep(ending, claim, rows, retry_at)


def without_delay(timeout: Any, delay: int, *, fifo: bool) -> dict[str, Any]:
    """Send now what is due later."""
    return {"MessageGroupId": "g", "MessageDeduplicationId": timeout.id} if fifo else {}


def unconfirmed(timeouts: Timeouts, timeout: Any, now: datetime, *, keyed: bool) -> None:
    """Take what is there for stored, although nobody may look for it."""
    if not (keyed and timeouts._store.comes(timeout.id)):
        send_or_store(timeouts, timeout, now, keyed=keyed)


HERE, MOVED, FILE = "timeouts", "timeouts, migrated", "timeouts in SQLite"
MUTATIONS = (
    Mutation("mark before send", "timeouts.dispatching.run.Run._send", mark_first, HERE, "LOST"),
    Mutation("the watermark passes what waits", "timeouts.stores.dynamodb.reading.Reading._minute", left_behind, HERE, "PASSED"),
    Mutation("no look after storing", "timeouts.stores.dynamodb.shard_states.ShardStates.after_put", without_a_look, HERE, "PASSED"),
    Mutation("set aside before it is pointed to", "timeouts.stores.dynamodb.ending.Ending.keep", set_aside_first, HERE, "LOST"),
    Mutation("unconditional claim", "timeouts.stores.shards.claimed", taken_from_anyone, HERE, "TWICE"),
    Mutation("delay dropped", "timeouts.sending.addressed", without_delay, HERE, "EARLY"),
    Mutation("what may be taken is cancelled", "timeouts.stores.shards.is_untaken", always, FILE, "CANCELLED"),
    Mutation("a second cancel is denied", "timeouts.stores.dynamodb.ending.is_cancelled", never, HERE, "LOST"),
    Mutation("a key is not looked for", "timeouts.stores.dynamodb.store.DynamoDBStore.comes", never, HERE, "TWICE"),
    Mutation("a key that is found is not confirmed", "timeouts.scheduling.Timeouts._send_or_store", unconfirmed, HERE, "LOST"),
    Mutation("moved without being hidden", "timeouts.stores.dynamodb.ending.Ending.hide", always, MOVED, "TWICE"),
)  # fmt: skip
