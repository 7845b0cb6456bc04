"""Test dispatchers and writers whose clocks are wrong."""

from __future__ import annotations

from typing import Any

import pytest

from recoverable.timeouts import Store
from waiting.world import DAY, HOUR, MINUTE, Shop


@pytest.mark.parametrize("skew", [-DAY, -HOUR, -MINUTE], ids=str)
def test_a_dispatcher_whose_clock_is_slow_is_late_by_that_and_loses_nothing(local_store: Store, skew: Any) -> None:
    shop = Shop(local_store)
    shop.dispatcher = shop.new_dispatcher(clock=lambda: shop.now() + skew)
    due, message_id = shop.now() + HOUR, shop.timeouts.schedule("orders", "hello", delay=HOUR)
    shop.run_each_minute(HOUR - skew + MINUTE)

    assert shop.arrived[message_id] == [due - skew]


def test_dispatchers_whose_clocks_differ_lose_nothing(local_store: Store) -> None:
    shop = Shop(local_store)
    skewed = [shop.new_dispatcher(clock=lambda by=by: shop.now() + by * MINUTE) for by in (-7, 5, 0)]
    scheduled = {shop.timeouts.schedule("orders", "hello", delay=HOUR + n * MINUTE) for n in range(30)}
    for n in range(120):
        skewed[n % 3].run()
        shop.world.run(for_=MINUTE)

    assert set(shop.arrived) == scheduled
    assert {len(times) for times in shop.arrived.values()} == {1}


@pytest.mark.parametrize("skew", [-DAY, -HOUR, HOUR, DAY], ids=str)
def test_what_is_stored_by_a_clock_that_is_wrong_is_not_lost(local_store: Store, skew: Any) -> None:
    shop = Shop(local_store)
    shop.run_each_minute(HOUR)
    due = shop.now() + 2 * HOUR
    shop.timeouts = type(shop.timeouts)(local_store, client=shop.world.client, clock=lambda: shop.now() + skew)
    message_id = shop.timeouts.schedule("orders", "hello", delay=2 * HOUR)
    shop.run_each_minute(2 * HOUR + abs(skew) + MINUTE)

    assert shop.arrived[message_id] == [max(due + skew, shop.arrived[message_id][0])]
