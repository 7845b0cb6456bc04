"""Test that a dispatcher that crashes at any point loses nothing, and sends few messages twice."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

import pytest

from builders import seconds
from recoverable.timeouts import Dispatcher, DynamoDbStore
from recoverable.timeouts._dispatcher import CHUNK
from recoverable_local.timeouts import SqliteStore
from waiting.points import Killed, Point, due, every_point, keep_all, kill
from waiting.rows import NOW, stored, take
from waiting.world import HOUR, MINUTE, Meddled, Shop

ROWS = 40


class Countdown:
    """A hook that kills or disturbs at the n-th call of all.

    Args:
        nth: from 1.
        error: what is raised there.
    """

    def __init__(self, nth: int, error: Callable[[], BaseException] = Killed) -> None:
        self._nth, self._error, self.calls = nth, error, 0

    def __call__(self, *_: object, **__: object) -> None:
        self.calls += 1
        if self.calls == self._nth:
            raise self._error()

    @property
    def struck(self) -> bool:
        """Return True if there was an n-th call."""
        return self.calls >= self._nth


def shop_with_rows() -> tuple[Shop, SqliteStore, set[str]]:
    """Return a shop with forty messages that are due, for two queues and one that does not exist."""
    store = SqliteStore(page=15)
    shop = Shop(store, queues=("orders", "bank"))
    queues = ("orders", "bank", "orders", "gone")
    scheduled = [shop.timeouts.schedule(queues[n % 4], "hello", delay=HOUR + seconds(n)) for n in range(ROWS)]
    shop.world.run(for_=HOUR)
    return shop, store, {scheduled[n] for n in range(ROWS) if n % 4 != 3}


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("what", ["store", "SQS"])
def test_a_death_at_any_call_loses_nothing(what: str, side: str) -> None:
    twice = []
    for nth in count(1):
        shop, store, wanted = shop_with_rows()
        death = Countdown(nth)
        given: dict[str, Any] = {"client": shop.world.client, "clock": shop.now}
        mortal = Dispatcher(
            **{"store": Meddled(store, **{side: death}) if what == "store" else store,
               **given, **({"client": Meddled(shop.world.client, **{side: death})} if what == "SQS" else {})}
        )  # fmt: skip
        with suppress(Killed):
            mortal.run()
        shop.run_each_minute(5 * MINUTE)
        store.close()
        assert set(shop.arrived) == wanted, f"death {side} call {nth} to {what}"
        twice.append(sum(len(times) - 1 for times in shop.arrived.values()))
        if not death.struck:
            break

    assert max(twice) <= CHUNK
    assert len(twice) > 5


def test_a_death_between_two_pages_of_any_read_loses_nothing() -> None:
    for pages in range(4):
        shop, store, wanted = shop_with_rows()
        dying = DyingPages(store, pages)
        with pytest.raises(Killed):
            Dispatcher(dying, client=shop.world.client, clock=shop.now).run()
        shop.run_each_minute(5 * MINUTE)
        store.close()

        assert set(shop.arrived) == wanted


class DyingPages:
    """A store whose reading ends with a crash after so many pages."""

    def __init__(self, store: SqliteStore, pages: int) -> None:
        self._store, self._pages = store, pages

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def due(self, claim: Any) -> Any:
        for number, page in enumerate(self._store.due(claim)):
            if number == self._pages:
                break
            yield page
        raise Killed


def test_a_death_at_any_call_to_dynamodb_loses_nothing() -> None:
    def scenario(store: DynamoDbStore, nth: int) -> bool:
        made = {stored(store, due(n), body=f"{n}").body for n in range(4)}
        point = Point(store, kill, nth)
        shop = Shop(point.store, receiving=False)
        mortal = shop.new_dispatcher(clock=lambda: NOW)
        with suppress(Killed):
            mortal.run()
        again = {each.body for each in take(store, NOW + 2 * MINUTE)}
        assert {*shop.bodies("orders"), *again} == made, f"death before call {nth}"
        return point.struck

    assert every_point(scenario) > 7


@pytest.mark.parametrize("tried_before", [False, True])
def test_a_death_at_any_call_to_dynamodb_loses_nothing_that_cannot_be_sent(*, tried_before: bool) -> None:
    def scenario(store: DynamoDbStore, nth: int) -> bool:
        made = [stored(store, due(n), to="gone") for n in reversed(range(3))]
        if tried_before:
            keep_all(store)
        point = Point(store, kill, nth)
        with suppress(Killed):
            Shop(point.store).new_dispatcher(clock=lambda: NOW + MINUTE).run()
        again = take(store, NOW + 3 * MINUTE) + take(store, NOW + HOUR + 5 * MINUTE)
        assert sorted(again, key=lambda each: each.id) == made, f"death before call {nth}"
        return point.struck

    assert every_point(scenario) > 7
