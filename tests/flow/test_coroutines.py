"""Coroutine handlers: so many at a time, cancelled in time, and every way to end is an attempt like that of plain functions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from threading import Barrier, Event
from typing import Any

import pytest

from builders import NOW, NOW_WRITTEN, QUEUE, Boom, delivery, environment, platform, recoverability, seconds
from flow.invocations import attempt, attempts, invocation, logged
from recoverable import Message
from recoverable._flow.invocation import Invocation
from recoverable._ladder.settlement import COMPLETE, Forward, Redeliver, Settlement
from recoverable.headers import DUE_AT, HELD_SINCE, MESSAGE_ID, PRIOR_ATTEMPTS, REPORTED, STOPPED
from recoverable.hosting import Deadline

SOON, PATIENCE = 0.01, 60.0
AT_ONCE = Redeliver(seconds(0))
Handler = Callable[[Message], Awaitable[None]]
current_tenant: ContextVar[str] = ContextVar("current_tenant", default="nobody")


def settled(
    handler: Handler, *ids: str, within: Invocation | None = None, concurrency: int = 1
) -> dict[str, Settlement]:
    """The settlements of messages with these ids."""
    deliveries = [delivery(id=id_) for id_ in ids or ("m-1",)]
    settlements = attempts(handler, deliveries, within or invocation(), concurrency)
    return {one.message.id: settlement for one, settlement in zip(deliveries, settlements, strict=True)}


def raising(error: BaseException) -> Handler:
    """A coroutine function that raises after it has waited."""

    async def handle(message: Message) -> None:
        await asyncio.sleep(0)
        raise error

    return handle


async def forever(message: Message) -> None:
    """Waits for what never comes, swallowing every `Exception`; ends by itself only to fail the test."""
    try:
        await asyncio.wait_for(asyncio.Event().wait(), PATIENCE)
    except Exception as error:
        raise AssertionError("it was not cancelled") from error


def handed_back(id_: str, **marks: str) -> Forward:
    """Return the settlement of a message for which there was no time."""
    kept = {MESSAGE_ID: id_, PRIOR_ATTEMPTS: None, HELD_SINCE: NOW_WRITTEN, REPORTED: None, DUE_AT: None}
    return Forward(QUEUE, seconds(0), {**kept, **marks})


def test_each_message_is_settled_by_how_its_own_handler_ended() -> None:
    async def handle(message: Message) -> None:
        await asyncio.sleep(0)
        if message.id == "b":
            raise Boom

    assert settled(handle, "a", "b", "c", concurrency=3) == {"a": COMPLETE, "b": AT_ONCE, "c": COMPLETE}


def test_one_at_a_time_they_run_in_their_order() -> None:
    steps: list[str] = []

    async def handle(message: Message) -> None:
        steps.append(f"{message.id} starts")
        await asyncio.sleep(0)
        steps.append(f"{message.id} ends")

    settled(handle, "a", "b")

    assert steps == ["a starts", "a ends", "b starts", "b ends"]


@pytest.mark.parametrize("concurrency", [1, 2, 3, 9])
def test_no_more_than_so_many_run_at_once(concurrency: int) -> None:
    running, most = 0, 0

    async def handle(message: Message) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(9):
            await asyncio.sleep(0)
        running -= 1

    settled(handle, *"abcdef", concurrency=concurrency)

    assert most == min(concurrency, 6)


FAILURES = [
    ValueError("no"),
    TimeoutError("theirs"),
    asyncio.CancelledError(),
    GeneratorExit(),
    ExceptionGroup("x", [Boom()]),
]


@pytest.mark.parametrize("error", FAILURES, ids=repr)
def test_whatever_a_coroutine_raises_is_a_failed_attempt(error: BaseException) -> None:
    running = invocation(left=PATIENCE)

    assert settled(raising(error), within=running) == {"m-1": AT_ONCE}
    assert running.interruption is None


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)], ids=repr)
def test_an_interruption_is_a_failed_attempt_that_is_kept_and_nothing_else_runs(error: BaseException) -> None:
    running = invocation()

    assert settled(raising(error), "a", "b", within=running) == {"a": AT_ONCE, "b": handed_back("b")}
    assert running.interruption is error


def test_a_handler_that_cancels_itself_has_failed_and_the_next_one_runs() -> None:
    async def handle(message: Message) -> None:
        if message.id == "a":
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
        await asyncio.sleep(0)

    assert settled(handle, "a", "b", within=invocation(left=PATIENCE)) == {"a": AT_ONCE, "b": COMPLETE}


def test_who_had_the_invocation_from_its_start_is_cancelled_and_has_failed(caplog: pytest.LogCaptureFixture) -> None:
    running = invocation(recoverability(0), left=SOON)

    settled(forever, "a", within=running)

    assert logged(caplog) == [("delayed_retry", "HandlerTimeout('stopped after 0.0 seconds')")]


def test_those_that_were_stopped_side_by_side_are_handed_back() -> None:
    stopped = {STOPPED: "1"}

    assert settled(forever, "a", "b", within=invocation(left=SOON), concurrency=2) == {
        "a": handed_back("a", **stopped),
        "b": handed_back("b", **stopped),
    }


def test_who_came_later_is_cancelled_and_handed_back() -> None:
    async def handle(message: Message) -> None:
        if message.id == "b":
            await forever(message)

    assert settled(handle, "a", "b", within=invocation(left=SOON)) == {
        "a": COMPLETE,
        "b": handed_back("b", **{STOPPED: "1"}),
    }


def test_who_had_its_own_time_has_failed() -> None:
    async def handle(message: Message) -> None:
        if message.id == "b":
            await forever(message)

    running = invocation(left=PATIENCE, handler_timeout=seconds(SOON))

    assert settled(handle, "a", "b", within=running) == {"a": COMPLETE, "b": AT_ONCE}


def test_a_time_out_of_the_handlers_own_making_is_an_ordinary_failure() -> None:
    async def handle(message: Message) -> None:
        if message.id == "b":
            raise TimeoutError("theirs")

    assert settled(handle, "a", "b", within=invocation(left=PATIENCE)) == {"a": COMPLETE, "b": AT_ONCE}


def test_the_log_shows_where_a_cancelled_handler_stood(caplog: pytest.LogCaptureFixture) -> None:
    settled(forever, within=invocation(recoverability(0), left=SOON))

    assert "in forever" in caplog.text


def test_a_handler_that_waits_when_it_is_cancelled_is_cancelled_again(caplog: pytest.LogCaptureFixture) -> None:
    steps: list[str] = []

    async def handle(message: Message) -> None:
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            steps.append("closes")
            await asyncio.sleep(PATIENCE)
            steps.append("closed")

    settled(handle, "m-1", within=invocation(recoverability(0), left=SOON))

    assert (steps, logged(caplog)) == (["closes"], [("delayed_retry", "HandlerTimeout('stopped after 0.0 seconds')")])


def test_a_task_is_left_as_a_handler_found_it_that_was_cancelled() -> None:
    found: list[int] = []

    async def handle(message: Message) -> None:
        found.append(getattr(asyncio.current_task(), "cancelling")())  # noqa: B009  # there is a task
        await forever(message)

    settled(handle, "m-1", "m-2", within=invocation(left=SOON))

    assert found == [0, 0]


def test_a_handler_that_finishes_although_it_is_cancelled_is_complete() -> None:
    async def handle(message: Message) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return

    assert settled(handle, within=invocation(left=SOON)) == {"m-1": COMPLETE}


def test_what_is_not_yet_due_does_not_run() -> None:
    held = delivery(due_at=NOW + seconds(5))

    (settlement,) = attempts(raising(Boom()), [held], invocation(), 1)

    assert isinstance(settlement, Forward)
    assert settlement.delay == seconds(5)


def test_invocations_share_one_event_loop() -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def handle(message: Message) -> None:
        loops.append(asyncio.get_running_loop())

    settled(handle)
    settled(handle)

    assert loops[0] is loops[1]


def test_plain_functions_in_two_threads_may_each_give_a_coroutine_at_once() -> None:
    both_run = Barrier(2, timeout=60)

    async def meet(message: Message) -> None:
        both_run.wait()

    def plain(_: int) -> Settlement:
        return attempt(meet, delivery(), invocation())

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(plain, range(2))) == [COMPLETE, COMPLETE]


def test_what_the_caller_set_is_seen_by_each_invocation() -> None:
    seen: list[str] = []

    async def handle(message: Message) -> None:
        seen.append(current_tenant.get())

    for tenant in ("north", "south"):
        token = current_tenant.set(tenant)
        settled(handle)
        current_tenant.reset(token)

    assert seen == ["north", "south"]


def test_a_coroutine_given_by_a_plain_function_is_cancelled_in_time_too(caplog: pytest.LogCaptureFixture) -> None:
    running = invocation(recoverability(0), left=SOON)

    attempt(lambda message: forever(message), delivery(), running)  # noqa: PLW0108  # a plain function

    assert logged(caplog) == [("delayed_retry", "HandlerTimeout('stopped after 0.0 seconds')")]


def test_a_plain_function_and_the_coroutine_that_it_gives_share_the_time_of_one_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def use_up_half(_message: Message) -> Any:
        Event().wait(0.3)
        return asyncio.sleep(0.3)

    attempt(use_up_half, delivery(), invocation(recoverability(0), left=0.4))

    assert logged(caplog) == [("delayed_retry", "HandlerTimeout('stopped after 0.4 seconds')")]


class Asked(Deadline):
    """A deadline whose clock leaps, so that it asks for each handler how much time is left."""

    __slots__ = ("_asked",)

    def now(self) -> float:
        """Return a later time at each call."""
        self._asked = getattr(self, "_asked", 0) + 1
        return float(self._asked)


def test_when_one_cannot_go_on_none_starts_in_a_later_invocation() -> None:
    handled: list[str] = []

    async def handle(message: Message) -> None:
        handled.append(message.id)
        await asyncio.sleep(0)

    def broken_clock() -> float:
        if clock_reads.pop() == "broken":
            raise RuntimeError
        return 9.0

    clock_reads = ["fine", "fine", "fine", "fine", "fine", "broken", "fine"]
    deadline = Asked(broken_clock)
    group = [delivery(id=f"m-{number}") for number in range(6)]
    broken = Invocation(recoverability(), platform(), environment(), deadline)
    with pytest.raises(RuntimeError):
        attempts(handle, group, broken, 2)
    before = len(handled)
    settled(handle, "later")

    assert handled[before:] == ["later"]
