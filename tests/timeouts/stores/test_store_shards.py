"""Test what every store promises of its shards: each is one dispatcher's at a time."""

from __future__ import annotations

from builders import seconds
from recoverable.timeouts import DynamoDbStore, Store
from waiting.rows import LEASE, NOW, claims, stored, take, timeout
from waiting.stores import Cloud
from waiting.world import DAY, HOUR


def test_a_shard_is_one_dispatchers(store: Store) -> None:
    stored(store, NOW)
    [mine] = claims(store, NOW)

    assert list(claims(store, NOW + seconds(59), owner="two")) == []
    assert [each.shard for each in claims(store, NOW + seconds(61), owner="two")] == [mine.shard]


def test_a_lease_that_was_renewed_lasts_longer(store: Store) -> None:
    stored(store, NOW)
    [mine] = claims(store, NOW)

    assert store.renew(mine, until=NOW + 2 * LEASE)
    assert list(claims(store, NOW + seconds(61), owner="two")) == []


def test_a_lease_that_another_has_is_not_renewed(store: Store) -> None:
    stored(store, NOW)
    [mine] = claims(store, NOW)
    list(claims(store, NOW + HOUR, owner="two"))

    assert not store.renew(mine, until=NOW + 2 * HOUR)


def test_giving_back_what_another_has_takes_nothing_from_it(store: Store) -> None:
    stored(store, NOW)
    [mine] = claims(store, NOW)
    list(claims(store, NOW + HOUR, owner="two"))
    store.release(mine)

    assert list(claims(store, NOW + HOUR, owner="three")) == []


def test_a_shard_given_back_is_free_at_once(store: Store) -> None:
    stored(store, NOW)
    [mine] = claims(store, NOW)
    store.release(mine)

    assert len(list(claims(store, NOW, owner="two"))) == 1


def test_a_lease_that_a_clock_far_ahead_has_taken_holds_up_nobody(store: Store) -> None:
    made = stored(store, NOW)
    list(claims(store, NOW + DAY, owner="fast"))

    assert take(store, NOW) == [made]


def test_timeouts_spread_over_all_shards(cloud: Cloud) -> None:
    store = cloud.store(DynamoDbStore)
    made = [stored(store, NOW + seconds(n)) for n in range(16)]

    assert {each.id.split("-")[1] for each in made} == set("01234567")
    assert take(store) == made


def test_shards_are_as_many_as_its_ids_say(store: Store) -> None:
    numbers = {int(timeout(NOW, shards=store.shards).id.split("-")[1]) for _ in range(64)}

    assert numbers == set(range(store.shards))
