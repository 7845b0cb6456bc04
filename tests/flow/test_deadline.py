"""The deadline with a real timer: it stops a handler in time, leaves others alone, and restores the signal handler of before."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import NoReturn

import pytest

from builders import Boom, delivery, seconds
from flow.invocations import attempt, invocation
from recoverable import Message
from recoverable._errors import TimeUp
from recoverable._flow.deadline import AGAIN, Deadline
from recoverable._ladder.settlement import Redeliver

SOON, TIMEOUT = 0.1, 60.0


def busy_until(deadline: float) -> None:
    """Run Python code until then, at the latest."""
    while time.monotonic() < deadline:
        pass


def forever(_: object = None) -> NoReturn:
    """Work on and on, swallowing every `Exception`; end only to fail the test."""
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        with suppress(Exception):
            busy_until(deadline)
    raise AssertionError("it was not stopped")


@pytest.mark.parametrize("given", [SOON, 0.0, -1.0])
def test_a_handler_is_stopped_even_when_it_swallows_every_exception(given: float) -> None:
    with Deadline() as deadline, pytest.raises(TimeUp):
        deadline.call(given, forever, None)


def test_a_handler_that_waits_for_its_threads_when_it_is_stopped_is_stopped_again() -> None:
    stopped, waits = threading.Event(), list[bool]()

    def handle(_: object) -> None:
        with ThreadPoolExecutor() as pool:  # whose end is to wait for what it runs
            pool.submit(lambda: waits.append(stopped.wait(TIMEOUT / 3))).result()

    try:
        with Deadline() as deadline, pytest.raises(TimeUp):
            deadline.call(SOON, handle, None)
        assert waits == []
    finally:
        stopped.set()


def test_a_handler_whose_event_loop_swallows_what_a_callback_raises_is_stopped_again() -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, _context: None)
        loop.call_soon(busy_until, time.monotonic() + 3 * SOON)
        await asyncio.sleep(TIMEOUT)

    with Deadline() as deadline, pytest.raises(TimeUp):
        deadline.call(SOON, lambda _: asyncio.run(work()), None)


def test_once_it_has_ended_a_stopped_handler_is_stopped_no_more() -> None:
    with Deadline() as deadline:
        with pytest.raises(TimeUp):
            deadline.call(SOON, forever, None)
        busy_until(time.monotonic() + AGAIN + SOON)


def test_a_handler_in_time_gives_its_result() -> None:
    with Deadline() as deadline:
        assert deadline.call(TIMEOUT, str.upper, "done") == "DONE"


def test_what_a_handler_raises_passes() -> None:
    def failing(_: object) -> None:
        raise Boom

    with Deadline() as deadline, pytest.raises(Boom):
        deadline.call(TIMEOUT, failing, None)


def test_after_the_handler_the_timer_s_signal_is_ignored() -> None:
    with Deadline() as deadline:
        deadline.call(SOON, lambda _: None, None)
        busy_until(time.monotonic() + 3 * SOON)

        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_each_handler_gets_its_own_time() -> None:
    with Deadline() as deadline:
        deadline.call(SOON, lambda _: None, None)
        deadline.call(TIMEOUT, lambda _: busy_until(time.monotonic() + 3 * SOON), None)

        with pytest.raises(TimeUp):
            deadline.call(SOON, forever, None)


def test_a_timer_that_would_ring_after_the_handlers_time_is_set_anew() -> None:
    with Deadline() as deadline:
        deadline.call(TIMEOUT, lambda _: None, None)
        rings_in, _ = deadline.call(TIMEOUT - 1, lambda _: signal.getitimer(signal.ITIMER_REAL), None)

    assert 0 < rings_in <= TIMEOUT - 1


def test_a_signal_that_comes_early_stops_nobody() -> None:
    def handle(_: object) -> str:
        signal.raise_signal(signal.SIGALRM)
        return "done"

    with Deadline() as deadline:
        assert deadline.call(TIMEOUT, handle, None) == "done"


def test_after_an_early_ring_the_handler_is_still_stopped_in_its_own_time() -> None:
    def handle(_: object) -> NoReturn:
        signal.setitimer(signal.ITIMER_REAL, SOON / 10)  # as a timer of the handler before would ring
        forever()

    with Deadline() as deadline, pytest.raises(TimeUp):
        deadline.call(3 * SOON, handle, None)


@pytest.fixture
def ours() -> Iterator[list[int]]:
    """Install a signal handler and a timer, as a test's own time limit does, and yield a list with an entry for each time that the timer rang."""
    rung: list[int] = []
    before, timer = signal.signal(signal.SIGALRM, lambda number, _: rung.append(number)), TIMEOUT
    remaining, _ = signal.setitimer(signal.ITIMER_REAL, timer)
    yield rung
    signal.signal(signal.SIGALRM, before)
    signal.setitimer(signal.ITIMER_REAL, remaining)


@pytest.mark.parametrize("fails", [True, False], ids=["after a failure", "after a success"])
def test_the_signal_handler_and_the_timer_of_before_are_restored(ours: list[int], fails: bool) -> None:  # noqa: FBT001  # the table's column
    before = signal.getsignal(signal.SIGALRM)

    with suppress(Boom), Deadline() as deadline:
        deadline.call(2 * TIMEOUT, lambda _: None, None)
        if fails:
            raise Boom

    assert signal.getsignal(signal.SIGALRM) == before
    assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= TIMEOUT


def test_a_timer_that_should_have_rung_meanwhile_rings_afterwards(ours: list[int]) -> None:
    signal.setitimer(signal.ITIMER_REAL, SOON)
    with Deadline() as deadline:
        deadline.call(TIMEOUT, lambda _: busy_until(time.monotonic() + 3 * SOON), None)
        assert ours == []

    end = time.monotonic() + TIMEOUT
    while not ours and time.monotonic() < end:
        pass

    assert ours == [signal.SIGALRM]


def test_without_a_time_limit_signal_and_timer_are_not_changed(ours: list[int]) -> None:
    before = signal.getsignal(signal.SIGALRM)

    with Deadline():
        assert signal.getsignal(signal.SIGALRM) == before


def test_a_handler_that_runs_an_invocation_of_its_own_is_still_stopped() -> None:
    def handle(_: object) -> NoReturn:
        with Deadline() as inner:
            inner.call(TIMEOUT, lambda _: None, None)
        forever()

    with Deadline() as deadline, pytest.raises(TimeUp):
        deadline.call(SOON, handle, None)


def test_so_is_one_whose_own_invocation_has_no_limit() -> None:
    def handle(_: object) -> NoReturn:
        with Deadline():
            forever()

    with Deadline() as deadline, pytest.raises(TimeUp):
        deadline.call(SOON, handle, None)


def test_off_the_main_thread_a_handler_runs_to_its_end() -> None:
    results: list[str] = []

    def handle() -> None:
        with Deadline() as deadline:
            deadline.call(SOON, lambda _: busy_until(time.monotonic() + 3 * SOON), None)
            results.append(deadline.call(SOON, str.upper, "done"))

    thread = threading.Thread(target=handle)
    thread.start()
    thread.join(TIMEOUT)

    assert results == ["DONE"]


def test_an_attempt_is_stopped_where_it_stands(caplog: pytest.LogCaptureFixture) -> None:
    def place_order(message: Message) -> None:
        forever()

    caplog.set_level("INFO", logger="recoverable")
    with Deadline() as deadline:
        settlement = attempt(place_order, delivery(), invocation(left=SOON, deadline=deadline))

    assert settlement == Redeliver(seconds(0))
    assert "HandlerTimeout: stopped after 0.1 seconds" in caplog.text
    assert "in busy_until" in caplog.text
