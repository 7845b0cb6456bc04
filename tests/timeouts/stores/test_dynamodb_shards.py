"""Test the states of the DynamoDB store's shards: late timeouts of many writers, and answers that are lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from builders import seconds
from waiting.rows import NOW, claims, stored, take
from waiting.stores import Cloud, OneShard, Twice
from waiting.world import DAY, HOUR, MINUTE


def test_sixty_that_store_late_timeouts_in_one_shard_at_once_are_all_heard(cloud: Cloud) -> None:
    store = cloud.store()
    stored(store, NOW - HOUR)
    take(store)
    writers = [OneShard(store._table.name, client=cloud.client("dynamodb")) for _ in range(60)]
    start = Barrier(len(writers))

    def store_late(number: int) -> str:
        start.wait(30)
        return stored(writers[number], NOW - DAY + seconds(number)).id

    with ThreadPoolExecutor(len(writers)) as at_once:
        late = set(at_once.map(store_late, range(len(writers))))

    assert {each.id for each in take(store, NOW + MINUTE)} == late


def test_a_shard_that_was_taken_without_an_answer_is_ones_own(moto: Cloud) -> None:
    """The client makes the call again, and hears that somebody has it: itself."""
    store = moto.store()
    table: Any = Twice(store._shards._table)
    store._shards._table = table
    made = stored(store, NOW)

    assert take(store) == [made]
    assert list(claims(store, NOW, owner="two")) != []
