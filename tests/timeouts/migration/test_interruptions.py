"""Test migrations that a target refuses, or that end before they are done: nothing is lost."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from itertools import count
from typing import Any

import pytest

from builders import seconds
from recoverable.timeouts import Store, Timeout
from recoverable_local.timeouts import SqliteStore
from recoverable_operate._migration.moving import CHUNK, SendResult, StoreTarget, abort, migrate
from waiting.moving import moved
from waiting.rows import ALL, NOW, stored, take
from waiting.stores import PAGE
from waiting.world import HOUR, Meddled


class Killed(BaseException):
    """Raised when the process is killed."""


class Answering:
    """A target that gives one answer.

    Args:
        sent: the answer.
        address: identifies it.
    """

    name = "the test"

    def __init__(self, sent: SendResult, address: str = "the test") -> None:
        self._sent, self.asked, self.address = sent, 0, address

    def reason_to_skip(self, timeout: Timeout, now: datetime) -> None:
        return None

    def send(self, timeouts: Sequence[Timeout], now: datetime) -> SendResult:
        self.asked += 1
        return self._sent


def test_what_the_target_refuses_is_dispatched_from_where_it_is(store: Store) -> None:
    made = stored(store, NOW + HOUR)
    said: list[str] = []
    refusing = Answering(SendResult(refused={made.id: "no"}))
    summary = migrate(store, refusing, ALL, lambda: NOW, dry_run=False, on_progress=str, on_skipped=said.append)

    assert dict(summary.skipped) == {"the test did not take it (no), so the dispatcher sees it again": 1}
    assert said == [f"{made.id}: the test did not take it (no), so the dispatcher sees it again"]
    assert take(store, NOW + HOUR) == [made]


def test_what_the_target_may_have_stays_held_until_it_is_migrated_again(local_store: Store, other: Store) -> None:
    made = stored(local_store, NOW + HOUR)
    summary = moved(local_store, Answering(SendResult(unconfirmed={made.id: "no answer"}), "other"))

    assert dict(summary.skipped) == {"the test may have it (no answer), so it stays held until migrate or abort": 1}
    assert take(local_store, NOW + HOUR) == []
    moved(local_store, StoreTarget(other, "other"))
    assert take(other, NOW + HOUR) == [made]


def test_what_one_target_may_have_is_not_sent_to_another(store: Store, other: Store) -> None:
    made = stored(store, NOW + HOUR)
    moved(store, Answering(SendResult(unconfirmed={made.id: "no answer"})))
    elsewhere = StoreTarget(other, "other")
    refused = moved(store, elsewhere)
    abort(store, ALL, dry_run=False)
    moved(store, elsewhere)

    why = "the test may have it, from an earlier migration; migrate there again, or abort first"
    assert (refused.changed, dict(refused.skipped)) == (0, {why: 1})
    assert take(other, NOW + HOUR) == [made]


def test_a_target_that_gives_out_ends_the_migration_and_hides_nothing_more(local_store: Store) -> None:
    """Else one that does not answer would hide the whole store."""
    made = [stored(local_store, NOW + HOUR + seconds(n)) for n in range(2 * PAGE)]
    target = Answering(SendResult(failed="away"))
    summary = moved(local_store, target)

    assert (summary.stopped, target.asked) == ("away", 1)
    assert take(local_store, NOW + 2 * HOUR) == made


def test_what_an_aborted_migration_held_is_dispatched(local_store: Store) -> None:
    made = stored(local_store, NOW + HOUR)
    moved(local_store, Answering(SendResult(unconfirmed={made.id: "no answer"})))
    assert (abort(local_store, ALL, dry_run=True).changed, take(local_store, NOW + HOUR)) == (1, [])

    assert abort(local_store, ALL, dry_run=False).changed == 1
    assert take(local_store, NOW + 2 * HOUR) == [made]


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("aborted", [False, True])
def test_an_end_at_any_call_loses_nothing(side: str, *, aborted: bool) -> None:
    """Moved on afterwards, each fires once, for a store knows what it has; aborted, those of one chunk may fire twice."""
    for nth in count(1):
        source, target = SqliteStore(page=15), SqliteStore()
        wanted = {stored(source, NOW + HOUR + seconds(n)).id for n in range(2 * CHUNK)}
        calls = iter(range(1, 10_000))
        latest = [0]

        def die(_name: str, calls: Any = calls, latest: list[int] = latest, nth: int = nth) -> None:
            latest[0] = next(calls)
            if latest[0] == nth:
                raise Killed

        mortal: Any = Meddled(source, **{side: die})
        with suppress(Killed):
            moved(mortal, StoreTarget(Meddled(target, **{side: die}), "other"))
        if aborted:
            abort(source, ALL, dry_run=False)
        else:
            moved(source, StoreTarget(target, "other"))
        fired = [each.id for store in (source, target) for each in take(store, NOW + 2 * HOUR)]
        source.close()
        target.close()
        assert set(fired) == wanted, f"end {side} call {nth}"
        assert len(fired) - len(wanted) <= (CHUNK if aborted else 0)
        if latest[0] < nth:
            break
