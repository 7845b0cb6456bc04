"""A handler that runs into the time kept for settling is stopped: it has failed when it had all the time there was, else it is handed back."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from datetime import timedelta
from threading import Thread
from time import monotonic, sleep
from typing import Any

import pytest

from aws.harness import AMPLE, Context, Mapping, NearTheEnd, ladder, sqs_endpoint
from aws.records import event, record
from recoverable import Message
from servers.queues import Queue


def mapping(orders: Queue, error: Queue, handler: Callable[[Message], Any], context: Context, **more: Any) -> Mapping:
    settings = ladder(error, immediate=more.pop("immediate", 0))
    return Mapping(orders, sqs_endpoint(handler, settings, **more), contexts=lambda: context)


def failures(error: Queue) -> list[tuple[str, str]]:
    """Return body and exception type of the messages in the error queue."""
    kind = "NServiceBus.ExceptionInfo.ExceptionType"
    return sorted((copy.body, copy.headers[kind]) for copy in error.arrived())


def slow(message: Message) -> None:
    if message.text != "quick":
        sleep(5)


def stubborn(message: Message) -> None:
    """Work slowly, and swallow every failure."""
    end = monotonic() + 5
    while monotonic() < end:
        try:
            slow(message)
        except Exception:  # noqa: BLE001  # the point of it
            pass
        else:
            return


async def slow_coroutine(message: Message) -> None:
    if message.text != "quick":
        await asyncio.sleep(5)


def returns_a_coroutine(message: Message) -> Any:
    return slow_coroutine(message)


slow_handlers = pytest.mark.parametrize("handler", [slow, stubborn, slow_coroutine, returns_a_coroutine])


@slow_handlers
def test_a_handler_that_had_the_invocation_from_its_start_is_stopped_and_has_failed(
    orders: Queue, error: Queue, handler: Callable[[Message], Any]
) -> None:
    orders.send("slow")

    reported = mapping(orders, error, handler, NearTheEnd()).poll()

    assert (reported, failures(error)) == ([], [("slow", "recoverable.HandlerTimeout")])


@slow_handlers
def test_a_handler_that_had_less_is_stopped_and_its_message_handed_back(
    orders: Queue, error: Queue, handler: Callable[[Message], Any]
) -> None:
    orders.send("quick")
    orders.send("slow")

    reported = mapping(orders, error, handler, NearTheEnd()).poll()

    assert (reported, failures(error), [copy.body for copy in orders.arrived()]) == ([], [], ["slow"])


@slow_handlers
def test_a_handler_that_had_its_own_limit_is_stopped_and_has_failed(
    orders: Queue, error: Queue, handler: Callable[[Message], Any]
) -> None:
    for body in ("quick", "slow", "slow too"):
        orders.send(body)

    mapping(orders, error, handler, Context(), handler_timeout=timedelta(seconds=0.2)).run_dry()

    timeout = "recoverable.HandlerTimeout"
    assert failures(error) == [("slow", timeout), ("slow too", timeout)]


def test_a_message_that_was_handed_back_runs_first_the_next_time_and_then_times_out_as_a_failure(
    orders: Queue, error: Queue
) -> None:
    orders.send("quick")
    orders.send("slow")
    mapping(orders, error, slow, NearTheEnd()).poll()
    orders.send("quick")
    context = NearTheEnd()

    def uses_it_up(message: Message) -> None:
        try:
            slow(message)
        finally:
            context.seconds = AMPLE - 0.1

    mapping(orders, error, uses_it_up, context).poll()

    assert failures(error) == [("slow", "recoverable.HandlerTimeout")]
    assert [copy.body for copy in orders.arrived()] == ["quick"]  # for which no time was left


@pytest.mark.parametrize("deliveries", [1, 2], ids=["for the first time", "again"])
def test_the_timer_of_each_handler_rings_no_later_than_its_time_ends(deliveries: int) -> None:
    context = Context(2 * AMPLE)
    in_time: list[bool] = []

    def handle(_message: Message) -> None:
        began, time_left = monotonic(), context.seconds - AMPLE
        for _ in range(2):
            in_time.append(0 < signal.getitimer(signal.ITIMER_REAL)[0] <= time_left)
            signal.raise_signal(signal.SIGALRM)  # an early ring sets the timer anew
        context.seconds -= 0.5
        while monotonic() < began + 0.01:  # then the context is asked again
            pass

    records = [record(message_id=str(number), deliveries=deliveries) for number in (1, 2)]
    sqs_endpoint(handle, ladder("error"))(event(*records), context)

    assert in_time == [True] * 4


async def waits_beside_one_that_blocks_the_loop(message: Message) -> None:
    """Wait for a moment, which lasts until nobody blocks the event loop any more."""
    await asyncio.sleep(0)
    if message.text == "blocks":
        sleep(1)
    await asyncio.sleep(0.02)


def test_coroutines_that_ran_side_by_side_when_the_time_ended_have_not_failed(orders: Queue, error: Queue) -> None:
    for body in ("waits", "blocks", "waits too"):
        orders.send(body)

    mapping(orders, error, waits_beside_one_that_blocks_the_loop, NearTheEnd(), concurrency=3).poll()

    assert failures(error) == []
    assert sorted(copy.body for copy in orders.arrived()) == ["blocks", "waits", "waits too"]


def test_a_coroutine_that_was_stopped_beside_others_runs_alone_the_next_time_and_then_times_out_as_a_failure(
    orders: Queue, error: Queue
) -> None:
    for body in ("slow", "quick", "slow too"):
        orders.send(body)

    Mapping(orders, sqs_endpoint(slow_coroutine, ladder(error), concurrency=3), contexts=NearTheEnd).run_dry()

    timeout = "recoverable.HandlerTimeout"
    assert failures(error) == [("slow", timeout), ("slow too", timeout)]


def test_the_handler_s_own_time_limit_counts_as_a_failure_when_the_invocation_has_little_more_time(
    orders: Queue, error: Queue
) -> None:
    orders.send("quick")
    orders.send("slow")

    mapping(orders, error, slow, NearTheEnd(), handler_timeout=timedelta(seconds=0.1)).poll()

    assert failures(error) == [("slow", "recoverable.HandlerTimeout")]


def test_the_signal_is_given_back_and_the_timer_stopped_after_the_invocation(orders: Queue, error: Queue) -> None:
    before = signal.getsignal(signal.SIGALRM)
    orders.send("quick")

    mapping(orders, error, slow, Context()).poll()

    assert (signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)) == (before, (0.0, 0.0))


def test_the_signal_is_given_back_when_the_handler_was_stopped(orders: Queue, error: Queue) -> None:
    before = signal.getsignal(signal.SIGALRM)
    orders.send("slow")

    mapping(orders, error, slow, NearTheEnd()).poll()

    assert (signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)) == (before, (0.0, 0.0))


def test_a_signal_that_comes_before_the_time_is_up_stops_nothing(orders: Queue, error: Queue) -> None:
    """Such as the signal for the message before, when it comes late."""
    runs: list[str] = []

    def interrupted(message: Message) -> None:
        os.kill(os.getpid(), signal.SIGALRM)
        runs.append(message.text)

    orders.send("hello")
    mapping(orders, error, interrupted, Context()).run_dry()

    assert (runs, failures(error)) == (["hello"], [])


def test_on_another_thread_a_handler_is_not_stopped(orders: Queue, error: Queue) -> None:
    def brief(message: Message) -> None:
        sleep(0.1)

    orders.send("hello")
    endpoint = mapping(orders, error, brief, Context(), handler_timeout=timedelta(seconds=0.02))
    thread = Thread(target=endpoint.poll)
    thread.start()
    thread.join()

    assert (endpoint.raised, orders.count(), error.count()) == ([], 0, 0)
