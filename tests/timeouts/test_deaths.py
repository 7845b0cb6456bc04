"""Test that a dispatcher that crashes at any point loses nothing, and sends few messages twice."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest

from builders import seconds
from recoverable.timeouts import Dispatcher, DynamoDBStore, SqliteStore, StoreUnavailable
from recoverable.timeouts.dispatching.run import CHUNK
from recoverable.timeouts.stores.rows import Kept, Selection
from waiting.rows import NOW, claims, keep, poll, stored, take, timeout
from waiting.stores import Cloud, OneShard
from waiting.world import HOUR, MINUTE, Meddled, Shop

ROWS = 40


class Killed(BaseException):
    """Raised when the process is killed."""


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


class Point:
    """A hook that disturbs a boto3 client at its n-th call, before it is sent."""

    def __init__(self, cloud: Cloud, store: DynamoDBStore, strike: Callable[[], object], nth: int) -> None:
        self.calls, self._strike, self._nth, self._busy = 0, strike, nth, False
        self.client = cloud.client("dynamodb")
        self.client.meta.events.register("before-call.dynamodb", self._called)
        self.store = OneShard(store._table.name, client=self.client, page=2)

    @property
    def struck(self) -> bool:
        return self.calls >= self._nth

    def _called(self, **_: object) -> None:
        self.calls += 1
        if self.calls == self._nth:
            self._strike()


def kill() -> None:
    raise Killed


def every_point(cloud: Cloud, scenario: Callable[[DynamoDBStore, int], bool]) -> int:
    """Play a scenario once for each point, until there are no more, and return how many there were."""
    for nth in count(1):
        if not scenario(cloud.store(), nth):
            return nth - 1
    raise AssertionError


def due(n: int) -> datetime:
    """Return due times in one shard, over several minutes."""
    return NOW - seconds(40 * n)


@pytest.mark.slow
def test_a_death_at_any_call_to_dynamodb_loses_nothing(moto: Cloud) -> None:
    def scenario(store: DynamoDBStore, nth: int) -> bool:
        made = {stored(store, due(n), body=f"{n}").body for n in range(4)}
        point = Point(moto, store, kill, nth)
        shop = Shop(point.store, receiving=False)
        mortal = shop.new_dispatcher(clock=lambda: NOW)
        with suppress(Killed):
            mortal.run()
        again = {each.body for each in take(store, NOW + 2 * MINUTE)}
        assert {*shop.bodies("orders"), *again} == made, f"death before call {nth}"
        return point.struck

    assert every_point(moto, scenario) > 7


@pytest.mark.slow
@pytest.mark.parametrize("tried_before", [False, True])
def test_a_death_at_any_call_to_dynamodb_loses_nothing_that_cannot_be_sent(moto: Cloud, *, tried_before: bool) -> None:
    def scenario(store: DynamoDBStore, nth: int) -> bool:
        made = [stored(store, due(n), to="gone") for n in reversed(range(3))]
        if tried_before:
            keep_all(store)
        point = Point(moto, store, kill, nth)
        with suppress(Killed):
            Shop(point.store).new_dispatcher(clock=lambda: NOW + MINUTE).run()
        again = take(store, NOW + 3 * MINUTE) + take(store, NOW + 2 * HOUR)
        assert sorted(again, key=lambda each: each.id) == made, f"death before call {nth}"
        return point.struck

    assert every_point(moto, scenario) > 7


@pytest.mark.slow
@pytest.mark.parametrize("something_kept", [False, True])
@pytest.mark.parametrize("late_by", [due(5), due(7)], ids=["after the watermark", "before the watermark"])
def test_what_is_stored_at_any_point_of_a_poll_is_dispatched(
    moto: Cloud, late_by: datetime, *, something_kept: bool
) -> None:
    def scenario(store: DynamoDBStore, nth: int) -> bool:
        stored(store, due(6))
        if something_kept:
            keep_all(store)
        late: list[str] = []
        point = Point(moto, store, lambda: late.append(stored(store, late_by).id), nth)
        first = [each.id for each in take(point.store)]
        second = [each.id for each in take(store, NOW + MINUTE)]
        assert len(first + second) == 1 + len(late), f"stored before call {nth}"
        return point.struck

    assert every_point(moto, scenario) > 7


def keep_all(store: DynamoDBStore) -> None:
    """Keep what is due, to be tried again now; the watermark passes it."""
    for claim in claims(store, NOW):
        for page in store.due(claim):
            store.keep(claim, [Kept(row, "gone") for row in page], retry_at=NOW)
        store.release(claim)


@pytest.mark.slow
def test_what_is_stored_while_a_poll_runs_at_any_point_of_it_is_dispatched(moto: Cloud) -> None:
    def scenario(store: DynamoDBStore, nth: int) -> bool:
        stored(store, due(6))
        taken: list[str] = []
        point = Point(moto, store, lambda: taken.extend(each.id for each in take(store)), nth)
        late = timeout(due(1), correlation="saga-1")
        point.store.put(late, now=NOW)
        taken += [each.id for each in take(store, NOW + MINUTE)]
        assert late.id in taken, f"polled before call {nth}"
        return point.struck

    assert every_point(moto, scenario) > 2


@pytest.mark.slow
def test_what_one_who_lost_the_shard_keeps_at_any_point_of_a_poll_is_tried_again(moto: Cloud) -> None:
    def scenario(store: DynamoDBStore, nth: int) -> bool:
        stored(store, NOW)
        keep(store, retry_in=2 * MINUTE)
        take(store, NOW + MINUTE)
        made = stored(store, NOW + 5 * MINUTE)
        [slow] = claims(store, NOW + 4 * MINUTE, owner="slow")
        kept = [Kept(row, "gone") for page in store.due(slow) for row in page]
        point = Point(moto, store, lambda: store.keep(slow, kept, retry_at=NOW + 10 * MINUTE), nth)
        poll(point.store, NOW + 6 * MINUTE)  # looks at what is kept, five minutes after it was last tried
        again = {each.id for minutes in (7, 12) for each in take(store, NOW + minutes * MINUTE)}
        assert made.id in again, f"kept before call {nth}"
        return point.struck

    assert every_point(moto, scenario) > 5


def test_what_a_migration_has_hidden_before_its_store_was_told_of_it_is_dispatched_once_it_is_shown(
    moto: Cloud,
) -> None:
    store, made = moto.store(), timeout(NOW - MINUTE)

    def fail() -> None:
        raise ConnectionError

    with pytest.raises(StoreUnavailable):
        Point(moto, store, fail, 2).store.put(made, now=NOW)
    stored(store, NOW + HOUR)
    [row] = [row for page in store.scan(Selection()) for row in page if row.id == made.id]
    hidden = store.hold_for_migration(row)
    state = store.put(made, now=NOW)
    store.release_from_migration([row])

    assert (hidden, state, take(store)) == (True, "held", [made])


@pytest.mark.slow
def test_what_is_stored_in_spite_of_errors_is_dispatched(moto: Cloud) -> None:
    def scenario(store: DynamoDBStore, nth: int) -> bool:
        stored(store, due(6))
        take(store)

        def fail() -> None:
            raise ConnectionError

        point = Point(moto, store, fail, nth)
        late = timeout(due(6) - timedelta(days=1))
        try:
            point.store.put(late, now=NOW)
        except StoreUnavailable:
            point.store.put(late, now=NOW)  # as who has it stored does, for it was not confirmed
        assert late.id in {each.id for each in take(store, NOW + MINUTE)}, f"error before call {nth}"
        return point.struck

    assert every_point(moto, scenario) > 2
