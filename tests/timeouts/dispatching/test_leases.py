"""Test that a dispatcher which sends slowly keeps its shard, and that one which lost it stops."""

from __future__ import annotations

from typing import Any

from builders import Clock, seconds
from recoverable.timeouts import Dispatcher, Report, SqliteStore
from recoverable.timeouts._dispatcher_run import CHUNK
from waiting.rows import stored
from waiting.world import MINUTE, Meddled, Shop


def test_a_dispatcher_that_loses_its_shard_while_it_sends_stops_at_the_next_chunk() -> None:
    store, clock = SqliteStore(), Clock()
    shop = Shop(store, receiving=False)
    for n in range(3 * CHUNK):
        stored(store, clock() + seconds(n), to="orders")

    def lose(name: str) -> None:
        if name == "send_message_batch":
            clock.advance(seconds(21))  # three batches of a chunk outlast the lease
            store.claim(0, "another", now=clock(), until=clock() + MINUTE, horizon=clock())

    slow: Any = Meddled(shop.world.client, before=lose)

    assert Dispatcher(store, client=slow, clock=clock).run() == Report(dispatched=CHUNK, behind=0.0)
    store.close()


def test_a_dispatcher_that_sends_slowly_keeps_its_shard() -> None:
    store, clock, taken = SqliteStore(), Clock(), list[object]()
    shop = Shop(store, receiving=False)
    for n in range(3 * CHUNK):
        stored(store, clock() + seconds(n), to="orders")

    def wait(name: str) -> None:
        if name == "send_message_batch":
            clock.advance(seconds(10))
            taken.append(store.claim(0, "another", now=clock(), until=clock() + MINUTE, horizon=clock()))

    slow: Any = Meddled(shop.world.client, before=wait)

    assert Dispatcher(store, client=slow, clock=clock).run().dispatched == 3 * CHUNK
    assert taken == [None] * len(taken)
    store.close()
