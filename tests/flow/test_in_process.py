"""Immediate retries that the same invocation makes, on both clouds, and what is left over when its time is up."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from builders import ERROR_QUEUE, NOW_WRITTEN, QUEUE, Boom, delivery, platform, seconds
from flow.invocations import Handler, Rung, attempt, attempts, invocation
from observe.clouds import World, climb, observed, on_both_clouds, serve
from recoverable import Delayed, Facts, Failed, Immediate, Message, RateLimit, Recoverability
from recoverable._ladder.settlement import COMPLETE, Forward, Platform, Redeliver
from recoverable.extensions import Observe
from recoverable.headers import DUE_AT, FIRST_FAILED_AT, HELD_SINCE, MESSAGE_ID, PRIOR_ATTEMPTS, REPORTED, STOPPED
from recoverable_local.testing import ServiceBusWorld, SqsWorld

AT_ONCE = Redeliver(seconds(0))


def in_process(immediate: int = 2, delayed: int = 1, **more: Any) -> Recoverability:
    """Return two immediate retries in process, and one delayed retry after 10 seconds."""
    settings = Immediate(immediate, in_process=True), Delayed(delayed, timedelta(seconds=10)), Failed(ERROR_QUEUE)
    return Recoverability(*settings, **more)


def left_over(attempts_made: int) -> Forward:
    """Return the copy that carries attempts, all of which were reported."""
    changes = {
        MESSAGE_ID: "m-1",
        PRIOR_ATTEMPTS: str(attempts_made),
        REPORTED: "1",
        DUE_AT: None,
        FIRST_FAILED_AT: NOW_WRITTEN,
    }
    return Forward(QUEUE, seconds(0), changes)


class Orders:
    """A handler that fails so often, notes round and attempt, and may take a while or do something else at a run.

    Args:
        failures: how often it fails before it succeeds.
    """

    def __init__(self, failures: int = 1_000) -> None:
        self.seen: list[tuple[int, int]] = []
        self._failures = failures

    def __call__(self, message: Message) -> None:
        self.seen.append((message.round, message.attempt))
        if len(self.seen) <= self._failures:
            raise Boom(f"at attempt {message.attempt}")


class Countdown:
    """The seconds of an invocation, of which each look takes one."""

    def __init__(self, seconds_left: float) -> None:
        self._left = seconds_left

    def __call__(self) -> float:
        self._left -= 1
        return self._left + 1


def invocations(world: World) -> int:
    """Return how many invocations there were."""
    return len({event.invocation for event in world.timeline() if event.what == "attempted"})


@on_both_clouds
def test_all_attempts_of_the_ladder_are_made_in_one_invocation_a_round(world: type[World]) -> None:
    made, orders = world(), Orders()

    climb(made, orders, in_process())

    assert orders.seen == [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)]
    assert len(made.queue(ERROR_QUEUE)) == 1
    assert invocations(made) == 2


@on_both_clouds
def test_a_message_that_fails_once_costs_no_call(world: type[World]) -> None:
    made, orders = world(), Orders(failures=1)

    climb(made, orders, in_process())

    assert (orders.seen, made.queue(QUEUE)) == ([(0, 1), (0, 2)], [])


@pytest.mark.parametrize("on", [platform(), platform("header"), platform("header", shared_process=True)])
def test_each_counter_counts_them(on: Platform) -> None:
    orders = Orders(failures=2)

    assert attempt(orders, delivery(), invocation(in_process(), on)) == COMPLETE
    assert orders.seen == [(0, 1), (0, 2), (0, 3)]


def test_a_copy_goes_on_with_the_count_that_it_carries() -> None:
    orders = Orders(failures=1)

    assert attempt(orders, delivery(prior_attempts=1, attempt=2), invocation(in_process())) == COMPLETE
    assert orders.seen == [(0, 2), (0, 3)]


def test_a_redelivery_is_left_to_the_broker() -> None:
    orders = Orders()

    assert attempt(orders, delivery(deliveries=2, attempt=2), invocation(in_process(5))) == AT_ONCE
    assert orders.seen == [(0, 2)]


@pytest.mark.parametrize("on", [platform(), platform("header")])
def test_what_is_left_over_when_time_is_up_carries_its_count_on_a_clean_copy(on: Platform) -> None:
    orders, running = Orders(), invocation(in_process(9), on)
    running.seconds_for_retries = Countdown(1)

    assert attempt(orders, delivery(), running) == left_over(2)
    assert orders.seen == [(0, 1), (0, 2)]


def test_the_copy_of_a_suspect_says_nothing_of_its_deliveries() -> None:
    suspect, running = delivery(), invocation(in_process(9))
    suspect.suspect, running.seconds_for_retries = True, lambda: 0.0

    settlement = attempt(Orders(), suspect, running)

    assert settlement == Forward(QUEUE, seconds(0), {**left_over(1).changes, REPORTED: None})


def test_an_attempt_that_is_stopped_counts_none_and_hands_back_those_before_it() -> None:
    class StoppedAtTheSecond(Rung):
        __slots__ = ()

        def observed(self, handler: Any) -> Any:
            stopped = super().observed(handler)
            return lambda message: (stopped if message.attempt == 2 else handler)(message)

    running = invocation(in_process(9), left=9.0, deadline=StoppedAtTheSecond)

    settlement = attempt(Orders(), delivery(), running)

    changes = {**left_over(1).changes, HELD_SINCE: NOW_WRITTEN, STOPPED: "1"}
    del changes[FIRST_FAILED_AT]  # a deferral says nothing of failures
    assert settlement == Forward(QUEUE, seconds(0), changes)


def test_after_an_interruption_the_rest_goes_on_in_a_copy() -> None:
    running = invocation(in_process())

    assert attempt(Handler(KeyboardInterrupt()), delivery(), running) == left_over(1)


def test_each_message_of_several_at_once_has_the_retries_of_its_own() -> None:
    seen: list[tuple[str, int]] = []

    async def handle(message: Message) -> None:
        seen.append((message.id, message.attempt))
        if message.id != "good":
            raise Boom

    deliveries = [delivery(id=name) for name in ("a", "good", "b")]
    settlements = attempts(handle, deliveries, invocation(in_process(2, 0)), 2)

    assert sorted(seen) == [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("b", 3), ("good", 1)]
    assert [settlement == COMPLETE for settlement in settlements] == [False, True, False]


def test_what_a_handler_did_to_its_message_is_gone_at_the_next_attempt() -> None:
    found: list[object] = []

    def handle(message: Message) -> None:
        found.append(message.native.setdefault("note", message.attempt))
        raise Boom

    attempt(handle, delivery(native={}), invocation(in_process()))

    assert found == [1, 2, 3]


def test_its_neighbours_count_as_waiting_while_a_message_is_retried() -> None:
    running = invocation(in_process(2, 0))

    attempt(Orders(), delivery(), running)

    assert (running.started, running.finished) == (3, 1)


@on_both_clouds
def test_callbacks_are_told_of_each_attempt(world: type[World]) -> None:
    told: list[tuple[str, int, int, int]] = []

    def note(facts: Facts, message: Message) -> None:
        told.append((facts.action, facts.round, facts.attempt, message.attempt))

    observe = Observe(on_immediate_retry=note, on_delayed_retry=note, on_error=note)
    climb(world(), Orders(), observed(in_process(1), observe))

    assert told == [
        ("immediate_retry", 0, 1, 1),
        ("delayed_retry", 0, 2, 2),
        ("immediate_retry", 1, 1, 1),
        ("move_to_error", 1, 2, 2),
    ]


@on_both_clouds
def test_each_attempt_passes_the_rate_limit(world: type[World]) -> None:
    made, orders = world(), Orders(failures=3)
    limit = RateLimit(2, timedelta(seconds=20))

    climb(made, orders, in_process(5, rate_limit=limit))

    assert orders.seen == [(0, 1), (0, 2), (0, 2), (0, 2)]


@pytest.mark.parametrize("order", ["FIFO", "ordered session"])
def test_where_order_is_kept_it_is_ignored_with_a_warning(order: str, caplog: pytest.LogCaptureFixture) -> None:
    orders, on = Orders(failures=1), platform(redelivers_only=True)

    assert attempt(orders, delivery(), invocation(in_process(), on)) == AT_ONCE
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "Immediate(in_process=True) is ignored where the order of messages is kept. This message is redelivered for its "
        "retry. Leave in_process out for this queue."
    ]


def test_after_a_crash_the_broker_counts_so_the_round_has_as_many_attempts_more_as_it_lost() -> None:
    world, orders = SqsWorld(), Orders()

    def handle(message: Message) -> None:
        if len(orders.seen) == 2:
            orders.seen.append((message.round, message.attempt))
            world.kill()
        orders(message)

    serve(world, handle, in_process(2, 0))
    world.send(QUEUE, "an order")
    world.run()

    assert orders.seen == [(0, 1), (0, 2), (0, 3), (0, 2), (0, 3)]
    assert len(world.queue(ERROR_QUEUE)) == 1


def test_on_functions_retries_start_in_the_first_half_of_the_time_alone() -> None:
    world, orders = ServiceBusWorld(), Orders(failures=3)

    def handle(message: Message) -> None:
        world.spend(100)
        orders(message)

    serve(world, handle, in_process(9))
    world.send(QUEUE, "an order")
    world.run()

    assert orders.seen == [(0, 1), (0, 2), (0, 3), (0, 4)]
    assert invocations(world) == 2


@on_both_clouds
def test_a_process_that_has_ended_makes_no_retry(world: type[World]) -> None:
    made, runs = world(), list[int]()

    def handle(message: Message) -> None:
        runs.append(message.attempt)
        if len(runs) == 1:
            made.kill()

    climb(made, handle, in_process(5))

    assert runs == [1, 2]
