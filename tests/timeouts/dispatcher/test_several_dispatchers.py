"""Test several dispatchers at once: what is due is sent once, and where their clocks disagree, a page twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import pytest

from builders import Clock, seconds
from recoverable.timeouts import Dispatcher, DynamoDbStore, Report
from recoverable.timeouts._dispatcher import CHUNK
from recoverable_local.timeouts import SqliteStore
from waiting.backlog import CountingSqs, fill
from waiting.rows import NOW, stored
from waiting.stores import PAGE, Cloud
from waiting.world import MINUTE, Meddled, Shop


@pytest.mark.slow
def test_two_on_a_thousand_lose_nothing_and_send_nothing_twice(moto: Cloud) -> None:
    sqs: Any = CountingSqs()
    made = moto.store(DynamoDbStore)
    fill(made, 1_000, NOW)
    dispatchers = [
        Dispatcher(DynamoDbStore(made._table.name, client=moto.client("dynamodb")), client=sqs, clock=lambda: NOW)
        for _ in range(2)
    ]
    with ThreadPoolExecutor() as at_once:
        reports = [running.result() for running in [at_once.submit(each.run) for each in dispatchers]]

    print(f"{sqs.came.total() - len(sqs.came)} of {len(sqs.came):,} came twice; {reports}")  # noqa: T201  # the figure
    assert (len(sqs.came), sqs.came.total()) == (1_000, 1_000)
    assert all(report.dispatched for report in reports)


def test_one_that_takes_a_shard_from_another_sends_at_most_a_page_twice() -> None:
    """The clock of one is ten minutes ahead: to it, each lease of the other is over. It comes in at each call of the other."""
    number, most = 45, 0
    for nth in count(1):
        store, sqs = SqliteStore(page=PAGE), CountingSqs()
        fill(store, number, NOW)
        given: dict[str, Any] = {"client": sqs}
        hasty = Dispatcher(store, clock=lambda: NOW + seconds(600), **given)
        calls = iter(range(1, 1_000))

        def come_in(_name: str, calls: Any = calls, nth: int = nth, hasty: Dispatcher = hasty) -> None:
            if next(calls) == nth:
                hasty.run()

        interrupted: Any = Meddled(store, before=come_in)
        Dispatcher(interrupted, clock=lambda: NOW, **given).run()
        Dispatcher(store, clock=lambda: NOW + seconds(600), **given).run()
        store.close()
        assert len(sqs.came) == number, f"taken before call {nth}"
        most = max(most, sqs.came.total() - number)
        if next(calls) <= nth:
            break

    print(f"at most {most} of {number} came twice, in {nth} places")  # noqa: T201  # the figure
    assert 0 < most <= PAGE


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
