"""The deadline with a real timer: it stops a handler in time, leaves others alone, and restores the signal handler of before."""

from __future__ import annotations

import asyncio
import gc
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, cast

import pytest

from builders import Boom, delivery, message, seconds
from flow.invocations import attempt, invocation
from recoverable import Message
from recoverable._flow.deadline import AGAIN, FOREVER, LOOK_EVERY
from recoverable._flow.flow import attempt_all, drive
from recoverable._ladder.settlement import Redeliver
from recoverable.hosting import Deadline, TimeUp

if TYPE_CHECKING:
    from recoverable._flow.flow import Steps

SOON, TIMEOUT = 0.1, 60.0


class Given(Deadline):
    """A deadline that runs one handler after the other as the flow does, each for as long as a test says."""

    __slots__ = ("_given",)

    def __init__(self) -> None:
        super().__init__(lambda: self._given)
        self._given = FOREVER

    def call(self, seconds: float, handler: Callable[[Any], Any], argument: object) -> Any:
        """Return what the handler returns in that time, or raise what it raises."""
        ended: list[Any] = []

        def steps() -> Steps:
            error = yield (cast("Message", argument),), self.seconds_left()
            if error is not None:
                raise error

        self._given, self._look_at = seconds, -FOREVER
        drive(steps(), lambda given: ended.append(handler(given)), self)
        return ended[0]


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
    with Given() as deadline, pytest.raises(TimeUp):
        deadline.call(given, forever, None)


def test_a_handler_that_waits_for_its_threads_when_it_is_stopped_is_stopped_again() -> None:
    stopped, waits = threading.Event(), list[bool]()

    def handle(_: object) -> None:
        with ThreadPoolExecutor() as pool:  # whose end is to wait for what it runs
            pool.submit(lambda: waits.append(stopped.wait(TIMEOUT / 3))).result()

    try:
        with Given() as deadline, pytest.raises(TimeUp):
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

    with Given() as deadline, pytest.raises(TimeUp):
        deadline.call(SOON, lambda _: asyncio.run(work()), None)


def test_once_it_has_ended_a_stopped_handler_is_stopped_no_more() -> None:
    with Given() as deadline:
        with pytest.raises(TimeUp):
            deadline.call(SOON, forever, None)
        busy_until(time.monotonic() + AGAIN + SOON)


def test_a_handler_in_time_gives_its_result() -> None:
    with Given() as deadline:
        assert deadline.call(TIMEOUT, str.upper, "done") == "DONE"


def test_what_a_handler_raises_passes() -> None:
    def failing(_: object) -> None:
        raise Boom

    with Given() as deadline, pytest.raises(Boom):
        deadline.call(TIMEOUT, failing, None)


def test_after_the_handler_the_timer_s_signal_is_ignored() -> None:
    with Given() as deadline:
        deadline.call(TIMEOUT, lambda _: None, None)
        signal.setitimer(signal.ITIMER_REAL, SOON)  # as if its time were over soon
        busy_until(time.monotonic() + 3 * SOON)

        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_each_handler_gets_its_own_time() -> None:
    with Given() as deadline:
        deadline.call(TIMEOUT, lambda _: None, None)
        signal.setitimer(signal.ITIMER_REAL, SOON)  # as if its time were over soon
        deadline.call(TIMEOUT, lambda _: busy_until(time.monotonic() + 3 * SOON), None)

        with pytest.raises(TimeUp):
            deadline.call(SOON, forever, None)


def test_a_timer_that_would_ring_after_the_handlers_time_is_set_anew() -> None:
    with Given() as deadline:
        deadline.call(TIMEOUT, lambda _: None, None)
        rings_in, _ = deadline.call(TIMEOUT - 1, lambda _: signal.getitimer(signal.ITIMER_REAL), None)

    assert 0 < rings_in <= TIMEOUT - 1


def test_a_signal_that_comes_early_stops_nobody() -> None:
    def handle(_: object) -> str:
        signal.raise_signal(signal.SIGALRM)
        return "done"

    with Given() as deadline:
        assert deadline.call(TIMEOUT, handle, None) == "done"


def test_after_an_early_ring_the_handler_is_still_stopped_in_its_own_time() -> None:
    def handle(_: object) -> NoReturn:
        signal.setitimer(signal.ITIMER_REAL, SOON / 10)  # as a timer of the handler before would ring
        forever()

    with Given() as deadline, pytest.raises(TimeUp):
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

    with suppress(Boom), Given() as deadline:
        deadline.call(2 * TIMEOUT, lambda _: None, None)
        if fails:
            raise Boom

    assert signal.getsignal(signal.SIGALRM) == before
    assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= TIMEOUT


def test_a_timer_that_should_have_rung_meanwhile_rings_afterwards(ours: list[int]) -> None:
    signal.setitimer(signal.ITIMER_REAL, SOON)
    with Given() as deadline:
        deadline.call(TIMEOUT, lambda _: busy_until(time.monotonic() + 3 * SOON), None)
        assert ours == []

    end = time.monotonic() + TIMEOUT
    while not ours and time.monotonic() < end:
        pass

    assert ours == [signal.SIGALRM]


def test_without_a_time_limit_signal_and_timer_are_not_changed(ours: list[int]) -> None:
    before = signal.getsignal(signal.SIGALRM)

    with Given():
        assert signal.getsignal(signal.SIGALRM) == before


def test_a_handler_that_runs_an_invocation_of_its_own_is_still_stopped() -> None:
    def handle(_: object) -> NoReturn:
        with Given() as inner:
            inner.call(TIMEOUT, lambda _: None, None)
        forever()

    with Given() as deadline, pytest.raises(TimeUp):
        deadline.call(SOON, handle, None)


def test_so_is_one_whose_own_invocation_has_no_limit() -> None:
    def handle(_: object) -> NoReturn:
        with Given():
            forever()

    with Given() as deadline, pytest.raises(TimeUp):
        deadline.call(SOON, handle, None)


def test_off_the_main_thread_a_handler_runs_to_its_end() -> None:
    results: list[str] = []

    def handle() -> None:
        with Given() as deadline:
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
    settlement = attempt(place_order, delivery(), invocation(left=SOON))

    assert settlement == Redeliver(seconds(0))
    assert re.search(r"HandlerTimeout: stopped after \d+\.\d seconds", caplog.text)
    assert "in busy_until" in caplog.text


class Behind(Deadline):
    """A deadline whose clock is so far behind that a handler's time is over when its timer has still long to run."""

    __slots__ = ()

    @staticmethod
    def now() -> float:
        """Return a time that has passed."""
        return time.monotonic() - 2 * TIMEOUT


def test_a_timer_that_rings_between_two_handlers_stops_nothing() -> None:
    running, seen = invocation(left=TIMEOUT, deadline=Behind), list[str]()

    def one_late() -> Iterator[Message]:
        yield message(id="in time")
        signal.raise_signal(signal.SIGALRM)
        yield message(id="after the ring")

    with running.deadline:
        attempt_all(one_late(), running, lambda each: seen.append(each.id))

    assert seen == ["in time", "after the ring"]


def test_the_host_is_asked_again_when_a_handler_may_have_taken_time() -> None:
    class Stepping(Deadline):
        __slots__ = ()
        clock = iter([100.0, 100.0, 100.0 + LOOK_EVERY])

        def now(self) -> float:
            return next(self.clock)

    answers = [30.0, 20.0]
    deadline = Stepping(lambda: answers.pop(0))

    assert [deadline.seconds_left() for _ in range(3)] == [30.0, 30.0, 20.0]


def test_without_a_limit_handlers_have_for_ever() -> None:
    assert (Deadline().seconds_left(), Deadline(None, 9.0).seconds_left()) == (FOREVER, 9.0)


def limited(seconds: float) -> None:
    """Do what `timeout-decorator` does around a function: set signal and timer, clear the timer, restore the signal's handler."""
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    time.sleep(2 * LOOK_EVERY)  # what is limited so waits for something
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


USES: dict[str, Callable[[Any], object]] = {
    "its timer is cleared": lambda _: limited(TIMEOUT),
    "its handler stays": lambda _: signal.signal(signal.SIGALRM, lambda *_: None),
    "the default stays, which ends the process": lambda _: signal.signal(signal.SIGALRM, signal.SIG_DFL),
    "the signal is ignored": lambda _: signal.signal(signal.SIGALRM, signal.SIG_IGN),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_handler_is_stopped_although_one_before_it_used_the_signal(use: Callable[[Any], object]) -> None:
    with Given() as deadline:
        deadline.call(TIMEOUT, use, None)

        with pytest.raises(TimeUp):
            deadline.call(SOON, forever, None)


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_after_a_handler_that_used_the_signal_that_of_before_is_restored_all_the_same(
    ours: list[int], use: Callable[[Any], object]
) -> None:
    before = signal.getsignal(signal.SIGALRM)

    with Given() as deadline:
        deadline.call(TIMEOUT, use, None)
        deadline.call(TIMEOUT, lambda _: None, None)

    assert signal.getsignal(signal.SIGALRM) == before
    assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= TIMEOUT


def test_a_deadline_is_freed_at_once() -> None:
    gc.disable()
    try:
        attempt(lambda _: None, delivery(), invocation(left=TIMEOUT, deadline=Once))

        assert [each for each in gc.get_objects() if type(each) is Once] == []
    finally:
        gc.enable()


class Once(Deadline):
    """A deadline of one test alone."""

    __slots__ = ()


def test_where_no_alarm_can_be_set_the_handlers_behind_run_all_the_same() -> None:
    """Elsewhere than in the main thread, and on Windows."""
    ran: list[int] = []

    def handle() -> None:
        with Deadline(lambda: TIMEOUT, TIMEOUT) as deadline:
            for number in range(3):
                deadline.seconds_left()
                deadline.arm()
                ran.append(number)
            assert deadline.handler is None

    with ThreadPoolExecutor(1) as pool:
        pool.submit(handle).result()

    assert ran == [0, 1, 2]
