"""A store that starts or ends limiting, and whose answer is lost: the callbacks are made all the same, and once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, Literal

import pytest

from builders import Boom, Clock, delivery, seconds
from rate_limit.rate_limited import Calls, Notice, Store, delay_before, two
from recoverable import StoreUnavailable
from recoverable._rate_limit.state import CLOSED
from recoverable._rate_limit.store import LEAVE_ALONE_FOR

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
    delay_before(limiter, delivery())
    store.answer_lost = True
    limiter.after(delivery(), None)
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


def test_a_start_that_arrives_after_another_was_tried_is_called_back_too() -> None:
    calls, clock, store = Calls(), Clock(), Late()
    one, _ = two(calls, clock, store, failures=1)
    store.answer_lost = True
    one.fail()
    first = store.late
    store.come_back(clock)
    one.attempt(DOWN)
    second_was_tried, store.late = store.late != first, first
    store.come_back(clock)
    store.arrive()
    one.attempt(DOWN, of=delivery(deliveries=2))

    assert (second_was_tried, calls) == (True, ["started"])


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
    store.meanwhile, store.answer_lost = lambda: delay_before(looked, delivery(deliveries=2)), True
    one.fail()
    looked.after(delivery(), None)
    store.come_back(clock)
    one.attempt()

    assert store.read().circuit == CLOSED


class SlowForLong(Store):
    """A store that does what it is asked, and whose answers come too late while it is slow; that of a read is had at the next one, as in
    stores that make their calls by `SharedCalls`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.slow = True
        self.overdue: Snapshot | None = None

    def read(self) -> Snapshot:
        """Read, and return what the read before this one found."""
        found, self.overdue = self.overdue, super().read()
        if not self.slow:
            return self.overdue
        if found is None:
            raise StoreUnavailable("it is slow")
        return found

    def compare_and_set(self, seen: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Change, without an answer while it is slow."""
        self.answer_lost, self.overdue = self.slow, None
        return super().compare_and_set(seen, circuit, switch)


def test_a_start_in_a_store_that_is_slow_for_long_is_called_back_late_and_once() -> None:
    calls, clock, store = Calls(), Clock(), SlowForLong()
    one, _ = two(calls, clock, store, failures=1)
    called = []
    for _ in range(12):
        clock.advance(LEAVE_ALONE_FOR)
        one.attempt(DOWN, of=delivery(deliveries=2))
        called.append(list(calls))
    store.slow = False
    for _ in range(4):
        clock.advance(LEAVE_ALONE_FOR)
        one.attempt(of=delivery(deliveries=2))

    assert (called[0], called[-1], calls) == ([], ["started"], ["started", "ended"])


def test_threads_that_fail_while_a_store_is_slow_open_the_circuit_once() -> None:
    calls, clock, store = Calls(), Clock(), Silenced()
    one, _ = two(calls, clock, store, failures=1)
    store.answer_lost, changing, over = True, Event(), Event()

    def waits() -> None:
        changing.set()
        assert over.wait(60)

    store.meanwhile = waits
    with ThreadPoolExecutor(4) as threads:
        first = threads.submit(one.fail)
        assert changing.wait(60)
        others = [threads.submit(one.attempt, DOWN, of=delivery(id=f"m-{number}")) for number in range(3)]
        for each in others:
            each.result(60)
        over.set()
        first.result(60)
    store.come_back(clock)
    one.fail()

    armed = [notice.text for notice in one.notices if "is now in the armed state" in notice.text]
    assert (len(armed), calls) == (1, ["started"])


def test_a_start_is_called_back_once_though_another_thread_gets_an_answer_while_its_own_is_lost() -> None:
    calls, clock, store = Calls(), Clock(), Silenced()
    one, _ = two(calls, clock, store, failures=1)
    store.answer_lost = True
    log = one.breaker.log

    def comes_back(level: Literal["info", "warning"], text: str) -> None:
        log(level, text)
        if "armed state" in text:
            store.come_back(clock)
            one.breaker.refresh(clock.now)

    one.breaker.log = comes_back
    one.fail(3)

    assert calls == ["started"]


def test_the_lost_answer_is_logged() -> None:
    clock, store = Clock(), Store()
    one, _ = two(Calls(), clock, store, failures=1)
    store.answer_lost = True
    one.fail(2)

    assert one.notices[-1] == Notice(
        "info", "The circuit breaker was armed by this instance, though the store's answer was lost."
    )
    assert "calls the store again when it next needs it" in one.notices[0].text
