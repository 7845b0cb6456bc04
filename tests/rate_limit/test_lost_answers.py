"""A store that starts or ends limiting, and whose answer is lost: the callbacks are made all the same, and once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from builders import Boom, Clock, delivery, seconds
from rate_limit.rate_limited import Calls, Instance, Notice, Store
from recoverable.rate_limit.state import CLOSED
from recoverable.rate_limit.store import LEAVE_ALONE_FOR

if TYPE_CHECKING:
    from collections.abc import Callable

    from recoverable.rate_limit.state import Circuit, Snapshot

DOWN = Boom("down")


class RefusedByItself(Store):
    """A store whose client tries again when an answer is lost, and is refused, because its first try was done."""

    def compare_and_set(self, seen: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Change; a lost answer is that of the second try."""
        lost, self.answer_lost = self.answer_lost, False
        changed = super().compare_and_set(seen, circuit, switch)
        return None if lost else changed


class Silenced(Store):
    """A store that gives no answer at all from the one that is lost until it is back."""

    def compare_and_set(self, seen: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Change."""
        silenced = self.answer_lost
        try:
            return super().compare_and_set(seen, circuit, switch)
        finally:
            self.away = self.away or silenced


class Late(Store):
    """A store that makes a change whose answer was lost when it is told to."""

    late: tuple[Snapshot, Circuit, str]

    def compare_and_set(self, seen: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Change, or keep the change for later."""
        if self.answer_lost:
            self.late, self.away = (seen, circuit, switch), True
        return super().compare_and_set(seen, circuit, switch)

    def arrive(self) -> None:
        """Make the change now."""
        self.answer_lost = self.away = False
        super().compare_and_set(*self.late)


class Slow(Store):
    """A store during whose answer others act."""

    def __init__(self) -> None:
        super().__init__()
        self.others: list[Callable[[], object]] = []

    def compare_and_set(self, seen: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Change, and let one of the others act."""
        changed = super().compare_and_set(seen, circuit, switch)
        if self.others:
            self.others.pop()()
        return changed


def two(calls: Calls, clock: Clock, store: Store) -> tuple[Instance, Instance]:
    """Two instances that share a store."""
    limit = calls.limit(1, store=store)
    return Instance(limit, clock), Instance(limit, clock)


@pytest.mark.parametrize("kind", [Store, RefusedByItself])
def test_a_start_whose_answer_was_lost_is_called_back_at_once(kind: type[Store]) -> None:
    """Whoever waits for another invocation may have none."""
    calls, clock, store = Calls(), Clock(), kind()
    one, _ = two(calls, clock, store)
    store.answer_lost = True
    one.fail()
    at_once = list(calls)
    one.fail(3)

    assert (at_once, calls) == (["started"], ["started"])


@pytest.mark.parametrize("kind", [Store, RefusedByItself])
def test_an_end_whose_answer_was_lost_is_called_back_at_once(kind: type[Store]) -> None:
    calls, clock, store = Calls(), Clock(), kind()
    one, _ = two(calls, clock, store)
    one.fail()
    clock.advance(seconds(1))
    limiter = one.limiter()
    limiter.delay_before_attempt(delivery())
    store.answer_lost = True
    limiter.succeeded()
    at_once = list(calls)
    for _ in range(3):
        one.attempt()

    assert (store.read().circuit, at_once, calls) == (CLOSED, ["started", "ended"], ["started", "ended"])


def test_a_start_whose_answer_was_lost_is_called_back_though_another_has_probed_since() -> None:
    calls, clock, store = Calls(), Clock(), Silenced()
    one, other = two(calls, clock, store)
    store.answer_lost = True
    one.fail()
    store.away = False
    clock.advance(LEAVE_ALONE_FOR)
    probed = other.attempt(DOWN, of=delivery(deliveries=2))
    one.fail()

    assert probed is not None
    assert calls == ["started"]


def test_an_answer_on_its_way_is_not_lost_though_another_thread_sees_the_switch_before() -> None:
    calls, clock, store = Calls(), Clock(), Slow()
    one, _ = two(calls, clock, store)
    store.others.append(lambda: one.attempt(DOWN, of=delivery(deliveries=2)))
    one.fail()
    one.fail()

    assert calls == ["started"]


def test_a_switch_about_which_nothing_can_be_learnt_is_called_back_when_the_store_is_back() -> None:
    calls, clock, store = Calls(), Clock(), Silenced()
    one, _ = two(calls, clock, store)
    store.answer_lost = True
    one.fail()
    store.away = False
    clock.advance(LEAVE_ALONE_FOR)
    before = list(calls)
    one.fail(3)

    assert (before, calls) == ([], ["started"])


def test_no_other_instance_calls_back_for_it() -> None:
    calls, clock, store = Calls(), Clock(), Silenced()
    one, other = two(calls, clock, store)
    store.answer_lost = True
    one.fail()
    store.away = False
    other.fail(3)

    assert calls == []


def test_a_start_that_was_not_made_is_not_called_back() -> None:
    calls, clock, store = Calls(), Clock(), Store()
    one, _ = two(calls, clock, store)
    store.meanwhile = store.go_away
    one.fail()
    store.away = False
    one.attempt()

    assert (store.read().circuit, calls) == (CLOSED, [])


def test_a_start_that_arrives_late_is_called_back_late() -> None:
    calls, clock, store = Calls(), Clock(), Late()
    one, _ = two(calls, clock, store)
    store.answer_lost = True
    one.fail()
    store.away = False
    clock.advance(LEAVE_ALONE_FOR)
    one.attempt()
    before = list(calls)
    store.arrive()
    one.attempt(DOWN, of=delivery(deliveries=2))

    assert (before, calls) == ([], ["started"])


def test_a_store_that_is_away_after_an_answer_was_lost_is_left_alone_as_ever() -> None:
    calls, clock, store = Calls(), Clock(), Silenced()
    one, _ = two(calls, clock, store)
    store.answer_lost = True
    one.fail(21)
    asked = store.reads
    store.away = False
    clock.advance(LEAVE_ALONE_FOR)
    one.fail()

    assert (asked, calls) == (2, ["started"])


@pytest.mark.parametrize("kind", [Store, Silenced])
def test_a_start_whose_answer_was_lost_while_another_thread_looked_is_ended_by_its_success(kind: type[Store]) -> None:
    calls, clock, store = Calls(), Clock(), kind()
    one, _ = two(calls, clock, store)
    looked = one.limiter()
    store.meanwhile, store.answer_lost = lambda: looked.delay_before_attempt(delivery(deliveries=2)), True
    one.fail()
    looked.succeeded()
    store.away = False
    clock.advance(LEAVE_ALONE_FOR)
    one.attempt()

    assert store.read().circuit == CLOSED


def test_the_log_tells_of_it() -> None:
    clock, store = Clock(), Store()
    one, _ = two(Calls(), clock, store)
    store.answer_lost = True
    one.fail(2)

    assert one.told[-1] == Notice(
        "info", "The circuit breaker was armed by this instance, though the store's answer was lost."
    )
    assert "calls the store again when it next needs it" in one.told[0].text
