"""What each store of a circuit must do, as tests that those of a store inherit."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

from builders import NOW, Clock, delivery, seconds
from rate_limit.rate_limited import Calls, Instance, delay_before
from recoverable._rate_limit.state import CLOSED, Open, Snapshot

if TYPE_CHECKING:
    from recoverable.hosting import CircuitStore

NewStore = Callable[[], "CircuitStore"]
LIMITED = Open(NOW, NOW + seconds(1))
LATER = Open(NOW, NOW + seconds(31))


class CircuitContract:
    """The tests; a subclass brings the fixture `new_store`, whose stores all keep the same circuit, untouched so far."""

    ROUNDS = 5
    """How often many instances race for one change."""

    def test_an_untouched_circuit_is_normal(self, new_store: NewStore) -> None:
        assert new_store().read().circuit == CLOSED

    def test_what_one_instance_writes_another_reads(self, new_store: NewStore) -> None:
        one, other = new_store(), new_store()
        changed = one.compare_and_set(one.read(), LIMITED)

        assert changed is not None
        assert changed.circuit == LIMITED
        assert other.read() == changed

    def test_it_can_be_changed_again_and_again(self, new_store: NewStore) -> None:
        store = new_store()
        seen = store.read()
        for circuit in (LIMITED, LATER, CLOSED, LIMITED, CLOSED):
            changed = store.compare_and_set(seen, circuit)
            assert changed is not None
            seen = changed

        assert store.read() == seen

    def test_of_two_that_saw_the_same_the_first_wins(self, new_store: NewStore) -> None:
        one, other = new_store(), new_store()
        seen = one.read(), other.read()
        first, second = one.compare_and_set(seen[0], LIMITED), other.compare_and_set(seen[1], LATER)

        assert (first is not None, second, one.read().circuit) == (True, None, LIMITED)

    def test_the_same_state_is_not_the_same_version(self, new_store: NewStore) -> None:
        store = new_store()
        first = store.compare_and_set(store.read(), LIMITED)
        assert first is not None
        store.compare_and_set(store.compare_and_set(first, CLOSED) or first, LIMITED)

        assert (store.compare_and_set(first, LATER), store.read().circuit) == (None, LIMITED)

    def test_what_was_never_seen_cannot_be_changed(self, new_store: NewStore) -> None:
        store = new_store()

        assert (store.compare_and_set(Snapshot(CLOSED), LIMITED), store.read().circuit) == (None, CLOSED)

    def test_of_many_at_once_one_wins_each_time(self, new_store: NewStore) -> None:
        many, rounds = 8, self.ROUNDS
        start = Barrier(many)

        def race(store: CircuitStore) -> list[bool]:
            won = []
            for _ in range(rounds):
                seen = store.read()
                start.wait(60)
                won.append(store.compare_and_set(seen, LIMITED) is not None)
                start.wait(60)
            return won

        with ThreadPoolExecutor(many) as pool:
            results = list(pool.map(race, [new_store() for _ in range(many)]))

        assert [sum(won) for won in zip(*results, strict=True)] == [1] * rounds

    def test_instances_are_limited_and_freed_through_it(self, new_store: NewStore) -> None:
        calls, clock = Calls(), Clock()
        one, other = (Instance(calls.limit(2, store=new_store()), clock) for _ in range(2))
        one.fail(2)
        other.fail(1)
        held = delay_before(other.limiter(), delivery())
        clock.advance(seconds(1))

        assert held is not None
        assert (other.attempt(), one.attempt()) == ("attempted", "attempted")
        assert (calls, one.notices[1:], [each.level for each in other.notices]) == (["started", "ended"], [], ["info"])
