"""A store that starts or ends limiting, and whose answer is lost: the callbacks are made all the same, and once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from builders import Boom, Clock, delivery, seconds
from rate_limit.rate_limited import Calls, Notice, Store, two
from recoverable._rate_limit.state import CLOSED

if TYPE_CHECKING:
    from collections.abc import Callable

    from recoverable._rate_limit.state import Circuit, Snapshot

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
            self.unavailable = self.unavailable or silenced


class Late(Store):
    """A store that makes a change, whose answer was lost, when the test wants it."""

    late: tuple[Snapshot, Circuit, str]

    def compare_and_set(self, seen: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Change, or keep the change for later."""
        if self.answer_lost:
            self.late, self.unavailable = (seen, circuit, switch), True
        return super().compare_and_set(seen, circuit, switch)

    def arrive(self) -> None:
        """Make the change now."""
        self.answer_lost = self.unavailable = False
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


@pytest.mark.parametrize("kind", [Store, RefusedByItself])
def test_a_start_whose_answer_was_lost_is_called_back_at_once(kind: type[Store]) -> None:
    """Whoever waits for another invocation may have none."""
    calls, clock, store = Calls(), Clock(), kind()
    one, _ = two(calls, clock, store, failures=1)
    store.answer_lost = True
    one.fail()
    at_once = list(calls)
    one.fail(3)

    assert (at_once, calls) == (["started"], ["started"])


@pytest.mark.parametrize("kind", [Store, RefusedByItself])
def test_an_end_whose_answer_was_lost_is_called_back_at_once(kind: type[Store]) -> None:
    calls, clock, store = Calls(), Clock(), kind()
    one, _ = two(calls, clock, store, failures=1)
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
    one, other = two(calls, clock, store, failures=1)
    store.answer_lost = True
    one.fail()
    store.come_back(clock)
    probed = other.attempt(DOWN, of=delivery(deliveries=2))
    one.fail()

    assert probed is not None
    assert calls == ["started"]


def test_an_answer_on_its_way_is_not_lost_though_another_thread_sees_the_switch_before() -> None:
    calls, clock, store = Calls(), Clock(), Slow()
    one, _ = two(calls, clock, store, failures=1)
    store.others.append(lambda: one.attempt(DOWN, of=delivery(deliveries=2)))
    one.fail()
    one.fail()

    assert calls == ["started"]


def test_a_switch_about_which_nothing_can_be_learnt_is_called_back_when_the_store_is_back() -> None:
    calls, clock, store = Calls(), Clock(), Silenced()
    one, _ = two(calls, clock, store, failures=1)
    store.answer_lost = True
    one.fail()
    store.come_back(clock)
    before = list(calls)
    one.fail(3)

    assert (before, calls) == ([], ["started"])


def test_no_other_instance_calls_back_for_it() -> None:
    calls, clock, store = Calls(), Clock(), Silenced()
    one, other = two(calls, clock, store, failures=1)
    store.answer_lost = True
    one.fail()
    store.unavailable = False
    other.fail(3)

    assert calls == []


def test_a_start_that_was_not_made_is_not_called_back() -> None:
    calls, clock, store = Calls(), Clock(), Store()
    one, _ = two(calls, clock, store, failures=1)
    store.meanwhile = store.become_unavailable
    one.fail()
    store.unavailable = False
    one.attempt()

    assert (store.read().circuit, calls) == (CLOSED, [])


def test_a_start_that_arrives_late_is_called_back_late() -> None:
    calls, clock, store = Calls(), Clock(), Late()
    one, _ = two(calls, clock, store, failures=1)
    store.answer_lost = True
    one.fail()
    store.come_back(clock)
    one.attempt()
    before = list(calls)
    store.arrive()
    one.attempt(DOWN, of=delivery(deliveries=2))

    assert (before, calls) == ([], ["started"])


def test_a_store_that_is_unavailable_after_a_lost_answer_is_not_called_for_a_while() -> None:
    calls, clock, store = Calls(), Clock(), Silenced()
    one, _ = two(calls, clock, store, failures=1)
    store.answer_lost = True
    one.fail(21)
    asked = store.reads
    store.come_back(clock)
    one.fail()

    assert (asked, calls) == (2, ["started"])


@pytest.mark.parametrize("kind", [Store, Silenced])
def test_a_start_whose_answer_was_lost_while_another_thread_looked_is_ended_by_its_success(kind: type[Store]) -> None:
    calls, clock, store = Calls(), Clock(), kind()
    one, _ = two(calls, clock, store, failures=1)
    looked = one.limiter()
    store.meanwhile, store.answer_lost = lambda: looked.delay_before_attempt(delivery(deliveries=2)), True
    one.fail()
    looked.succeeded()
    store.come_back(clock)
    one.attempt()

    assert store.read().circuit == CLOSED


def test_the_lost_answer_is_logged() -> None:
    clock, store = Clock(), Store()
    one, _ = two(Calls(), clock, store, failures=1)
    store.answer_lost = True
    one.fail(2)

    assert one.notices[-1] == Notice(
        "info", "The circuit breaker was armed by this instance, though the store's answer was lost."
    )
    assert "calls the store again when it next needs it" in one.notices[0].text
