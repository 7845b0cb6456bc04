"""Measure how exact delays are: a thousand of them, from a second to a month, in virtual time; and where the first is far off."""

from __future__ import annotations

from datetime import timedelta
from math import exp, log
from random import Random

import pytest

from builders import seconds
from recoverable.timeouts import Store
from waiting.stores import Cloud
from waiting.world import DAY, MINUTE, Shop

SHORTEST, LONGEST, HOW_MANY = 1.0, 30 * 86_400.0, 1_000
MOST = seconds(2)


@pytest.mark.slow
def test_no_delay_is_ended_early_or_more_than_two_seconds_late(local_store: Store) -> None:
    shop, chance = Shop(local_store), Random(7)
    due = {}
    for _ in range(HOW_MANY):
        delay = timedelta(seconds=exp(chance.uniform(log(SHORTEST), log(LONGEST))))
        due[shop.timeouts.schedule("orders", "hello", delay=delay)] = shop.now() + delay
    shop.run_each_minute(30 * DAY + seconds(120))
    errors = {message_id: [time - due[message_id] for time in times] for message_id, times in shop.arrived.items()}
    latest = max(error for [error] in errors.values())

    print(f"{len(errors):,} delays, {min(min(errors.values())[0], latest)} to {latest} late")  # noqa: T201  # the figure
    assert errors.keys() == due.keys()
    assert all(timedelta(0) <= error <= MOST for [error] in errors.values())


def test_a_first_one_in_a_month_does_not_make_others_late(moto: Cloud) -> None:
    shop = Shop(moto.store())
    shop.timeouts.schedule("orders", "hello", delay=30 * DAY)
    due = {}
    for minutes in (16, 18, 20, 21):
        at = shop.now() + minutes * MINUTE
        due[shop.timeouts.schedule("orders", "hello", at=at)] = [at]
    shop.run_each_minute(25 * MINUTE)

    assert dict(shop.arrived) == due
