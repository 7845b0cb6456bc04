"""Rate limiting on one instance and on several: when it starts, which messages it admits, when it ends, and which callbacks are called."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from builders import NOW, Boom, Clock, delivery, seconds
from rate_limit.rate_limited import Calls, Instance, Notice, Store, delay_before, limited, two
from recoverable import RateLimit
from recoverable._rate_limit.state import CLOSED
from recoverable._rate_limit.store import LEAVE_ALONE_FOR

if TYPE_CHECKING:
    from recoverable._ladder.delivery import Delivery

DOWN = Boom("down")


def test_it_starts_when_so_many_attempts_in_a_row_fail() -> None:  # upstream: When_messages_never_succeed
    calls = Calls()
    instance = Instance(calls.limit(5), Clock())

    instance.fail(4)
    before = list(calls)
    instance.fail(1)

    assert (before, calls) == ([], ["started"])


def test_it_does_not_start_below_the_threshold() -> None:  # upstream: When_messages_never_succeed
    calls = Calls()
    instance = Instance(calls.limit(100), Clock())

    assert instance.fail(10) == ["attempted"] * 10
    assert calls == []


def test_a_success_in_between_starts_the_count_anew() -> None:
    calls = Calls()
    instance = Instance(calls.limit(3), Clock())

    for _ in range(5):
        instance.fail(2)
        instance.attempt()

    assert (calls, instance.breaker.alert) == ([], False)


def test_attempts_are_a_wait_apart() -> None:  # upstream: When_messages_never_succeed_with_delays_specified
    clock, attempts = Clock(), []
    instance = Instance(RateLimit(1, seconds(2)), clock)
    for number in range(100):
        before = clock.now
        if instance.attempt(DOWN, of=delivery(id=f"m-{number}"), takes=seconds(0.25)) and clock.now > before:
            attempts.append(before)
        clock.advance(seconds(0.25))

    gaps = {(late - early).total_seconds() for early, late in pairwise(attempts)}
    assert len(attempts) > 10
    assert gaps == {2.25}


def test_the_first_success_ends_it() -> None:  # upstream: When_messages_succeed_after_throttling
    calls, clock = Calls(), Clock()
    instance = Instance(calls.limit(2, wait=seconds(5)), clock)

    instance.fail(2)
    clock.advance(seconds(5))
    results = [instance.attempt() for _ in range(3)]

    assert (results, calls, instance.breaker.alert) == (["attempted"] * 3, ["started", "ended"], False)


def test_what_is_not_attempted_is_held_without_its_handler() -> None:
    instance = Instance(RateLimit(1), Clock())
    instance.fail()

    wait = instance.attempt(AssertionError("the handler ran"))

    assert isinstance(wait, timedelta)
    assert timedelta(0) < wait <= seconds(5)


def test_the_failure_that_starts_it_and_those_of_probes_count_as_no_attempts() -> None:
    clock = Clock()
    instance = Instance(RateLimit(2), clock)

    first, second = instance.fail(2)
    clock.advance(seconds(1))
    probe = instance.attempt(DOWN)

    assert first == "attempted"
    assert isinstance(second, timedelta)
    assert isinstance(probe, timedelta)


def test_a_message_held_for_too_long_goes_on_with_its_ladder() -> None:
    instance = Instance(RateLimit(1), Clock())
    instance.fail()
    old = delivery(held_since=NOW - timedelta(hours=24))

    assert instance.attempt(DOWN, of=old) == "attempted"


def test_a_failure_that_does_not_count_neither_starts_it_nor_waits() -> None:
    calls, clock = Calls(), Clock()
    instance = Instance(calls.limit(1, counts=lambda error: not isinstance(error, KeyError)), clock)

    bug = [instance.attempt(KeyError("sku")) for _ in range(5)]
    instance.fail()
    clock.advance(seconds(1))
    probe_with_bug = instance.attempt(KeyError("sku"))

    assert (bug, probe_with_bug, calls) == (["attempted"] * 5, "attempted", ["started"])
    assert limited(instance.breaker.snapshot.circuit)[1] == clock.now + seconds(1)


def test_a_predicate_that_raises_is_logged_and_the_failure_counts() -> None:
    calls = Calls()
    instance = Instance(calls.limit(1, counts=lambda error: 1 // 0 == 0), Clock())

    instance.fail()

    assert calls == ["started"]
    assert instance.notices[0] == Notice(
        "warning",
        "RateLimit(counts) failed (ZeroDivisionError). The failure counts. Check the function in RateLimit(counts).",
    )


def test_callbacks_that_raise_are_logged_and_change_nothing() -> None:
    def broken() -> None:
        raise RuntimeError("no pager")

    clock = Clock()
    instance = Instance(RateLimit(1, on_started=broken, on_ended=broken), clock)
    [held] = instance.fail()
    clock.advance(seconds(1))

    assert isinstance(held, timedelta)
    assert instance.attempt() == "attempted"
    assert [notice.text.partition(" failed (")[0] for notice in instance.notices] == [
        "The circuit breaker is now in the armed state: 1 attempts in a row failed. One message is attempted every 0:00:01, the others wait.",
        "RateLimit(on_started)",
        "The circuit breaker is now disarmed, 0:00:01 after it was armed: an attempt succeeded.",
        "RateLimit(on_ended)",
    ]


def test_a_prober_that_dies_is_waited_for_no_longer_than_its_lease() -> None:
    clock = Clock()
    instance = Instance(RateLimit(1), clock)
    instance.fail()
    clock.advance(seconds(1))

    dying = delay_before(instance.limiter(), delivery())
    clock.advance(seconds(29.9))
    early = instance.attempt()
    clock.advance(seconds(0.1))

    assert dying is None
    assert isinstance(early, timedelta)
    assert instance.attempt() == "attempted"


def test_instances_that_share_a_store_take_turns() -> None:
    clock = Clock()
    one, other = two(Calls(), clock, Store())
    one.fail(2)
    other.fail(1)
    clock.advance(seconds(1))

    assert delay_before(one.limiter(), delivery()) is None
    assert isinstance(delay_before(other.limiter(), delivery()), timedelta)


def test_an_instance_that_was_unaware_has_its_first_failure_counted_as_none() -> None:
    one, other = two(Calls(), Clock(), Store())
    one.fail(2)

    [first] = other.fail(1)

    assert isinstance(first, timedelta)


HELD, REDELIVERED = delivery(held_since=NOW), delivery(deliveries=2)


@pytest.mark.parametrize("waiting", [HELD, REDELIVERED], ids=["held", "redelivered"])
def test_a_new_instance_asks_before_it_attempts_what_has_waited_or_come_before(waiting: Delivery) -> None:
    one, new = two(Calls(), Clock(), Store())
    one.fail(2)

    assert isinstance(new.attempt(DOWN, of=waiting), timedelta)
    assert new.attempt(of=delivery()) != "attempted"


@pytest.mark.parametrize("waiting", [HELD, REDELIVERED], ids=["held", "redelivered"])
def test_a_success_ends_it_on_an_instance_where_nothing_ever_failed(waiting: Delivery) -> None:
    calls, clock, store = Calls(), Clock(), Store()
    one, new = two(calls, clock, store)
    one.fail(2)
    clock.advance(seconds(1))

    assert new.attempt(of=waiting) == "attempted"
    assert (store.read().circuit, calls) == (CLOSED, ["started", "ended"])


def test_a_success_anywhere_ends_it_everywhere_and_calls_back_once() -> None:
    calls, clock, store = Calls(), Clock(), Store()
    one, other = two(calls, clock, store)
    one.fail(2)
    other.fail(2)
    clock.advance(seconds(1))
    other.attempt()

    assert (store.read().circuit, calls) == (CLOSED, ["started", "ended"])
    assert one.attempt(DOWN) == "attempted"


def test_a_count_of_before_does_not_start_it_again_at_the_first_failure_after_it_ended() -> None:
    calls, clock = Calls(), Clock()
    one, other = two(calls, clock, Store(), failures=5)
    one.fail(5)
    other.fail(1)
    clock.advance(seconds(1))
    one.attempt()
    other.fail(4)

    assert calls == ["started", "ended"]


def test_of_two_that_race_to_start_it_one_calls_back() -> None:
    calls, clock, store = Calls(), Clock(), Store()
    one, other = two(calls, clock, store)
    one.fail(1)
    other.fail(1)
    store.meanwhile = other.fail
    one.fail(1)

    assert calls == ["started"]


def test_of_two_that_race_to_probe_one_does() -> None:
    clock, store = Clock(), Store()
    one, other = two(Calls(), clock, store)
    one.fail(2)
    other.fail(1)
    clock.advance(seconds(1))
    answers = list[timedelta | None]()
    store.meanwhile = lambda: answers.append(delay_before(other.limiter(), delivery(id="other")))
    answers.append(delay_before(one.limiter(), delivery(id="one")))

    assert answers[0] is None
    assert isinstance(answers[1], timedelta)


def test_a_success_ends_it_though_another_claims_the_next_probe_at_that_moment() -> None:
    calls, clock, store = Calls(), Clock(), Store()
    one, other = two(calls, clock, store)
    one.fail(2)
    other.fail(1)
    clock.advance(seconds(31))
    limiter = one.limiter()
    delay_before(limiter, delivery())
    clock.advance(seconds(31))
    store.meanwhile = lambda: delay_before(other.limiter(), delivery())
    limiter.after(delivery(), None)

    assert (store.read().circuit, calls) == (CLOSED, ["started", "ended"])


def test_an_invocation_asks_the_store_once_and_only_when_something_failed() -> None:
    store, clock = Store(), Clock()
    instance = Instance(RateLimit(3, store=store), clock)
    for _ in range(10):
        instance.attempt()
    untroubled, limiter = store.reads, instance.limiter()
    for _ in range(10):
        instance.attempt(DOWN, limiter=limiter)

    assert (untroubled, store.reads) == (0, 1)


def test_without_its_store_an_instance_goes_on_by_what_it_knows() -> None:
    calls, clock, store = Calls(), Clock(), Store()
    instance = Instance(calls.limit(2, store=store), clock)
    store.unavailable = True
    first, second = instance.fail(2)
    clock.advance(seconds(1))
    instance.attempt()

    assert (first, instance.breaker.alert, calls) == ("attempted", False, [])
    assert isinstance(second, timedelta)
    assert [notice.text.partition(":")[0].partition(" (")[0] for notice in instance.notices] == [
        "Calling the circuit's store failed",
        "The circuit breaker is now in the armed state",
        "The circuit breaker is now disarmed, 0",
    ]


def test_an_unavailable_store_is_not_called_for_a_while() -> None:
    clock, store = Clock(), Store()
    instance = Instance(RateLimit(100, store=store), clock)
    store.unavailable = True

    instance.fail(20)
    asked = store.reads
    store.come_back(clock)
    instance.fail(3)

    assert (asked, store.reads) == (1, 4)


def test_a_store_that_dies_while_limited_keeps_nobody_limited() -> None:
    calls, clock, store = Calls(), Clock(), Store()
    one, other = two(calls, clock, store)
    one.fail(2)
    store.unavailable = True
    clock.advance(seconds(1))

    assert [one.attempt(), one.attempt(), other.attempt()] == ["attempted"] * 3


def test_what_ended_while_the_store_was_unavailable_ends_for_all_at_a_success_when_it_is_back() -> None:
    calls, clock, store = Calls(), Clock(), Store()
    one, _ = two(calls, clock, store)
    one.fail(2)
    store.unavailable = True
    clock.advance(seconds(1))
    one.attempt()
    store.unavailable = False
    too_soon = [one.attempt(), *calls]
    clock.advance(LEAVE_ALONE_FOR)
    one.attempt()

    assert too_soon == ["attempted", "started"]
    assert (store.read().circuit, calls, one.breaker.alert) == (CLOSED, ["started", "ended"], False)


def test_a_store_that_comes_back_limited_is_freed_by_the_next_success() -> None:
    calls, clock, store = Calls(), Clock(), Store()
    one, _ = two(calls, clock, store)
    one.fail(2)
    store.unavailable = True
    clock.advance(seconds(1))
    one.attempt()
    store.come_back(clock)
    one.fail(1)
    clock.advance(seconds(1))
    one.attempt()

    assert (store.read().circuit, calls) == (CLOSED, ["started", "ended"])


@pytest.mark.parametrize("failures", [1, 2, 7])
def test_an_attempt_of_an_untroubled_instance_asks_and_changes_nothing(failures: int) -> None:
    store = Store()
    instance = Instance(RateLimit(failures, store=store), Clock())

    assert (instance.attempt(), store.reads, store.read().version) == ("attempted", 0, 0)


def test_a_probe_that_outlived_its_lease_does_not_release_another_probe() -> None:
    clock = Clock()
    instance = Instance(RateLimit(1), clock)
    instance.fail()
    clock.advance(seconds(1))
    slow, next_one = instance.limiter(), instance.limiter()
    slow_message = delivery(id="slow")
    delay_before(slow, slow_message)
    clock.advance(seconds(30))
    delay_before(next_one, delivery(id="next"))
    turn = limited(instance.breaker.snapshot.circuit)
    slow.after(slow_message, DOWN)

    assert limited(instance.breaker.snapshot.circuit) == turn
