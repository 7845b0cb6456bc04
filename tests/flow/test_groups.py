"""Handlers that run tasks in an `asyncio.TaskGroup`, which puts even one exception into a group: under both drivers, and when they are stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, NoReturn

import pytest

from builders import QUEUE, Boom, delivery, recoverability, seconds
from flow.invocations import attempt, attempts, invocation, logged
from recoverable import Message, MessageDeserializationError, RetryAfter
from recoverable._flow.invocation import Invocation
from recoverable._ladder.settlement import COMPLETE, Forward, Settlement

SOON, TIMEOUT = 0.1, 60.0
Work = Callable[[], Awaitable[Any]]


class Declined(Exception):
    """A failure that retries do not heal."""


def coroutine(work: Work, within: Invocation) -> Settlement:
    """Return the settlement of a message whose handler is a coroutine function that awaits the work."""

    async def handle(message: Message) -> None:
        await work()

    [settlement] = attempts(handle, [delivery()], within, 1)
    return settlement


def plain(work: Work, within: Invocation) -> Settlement:
    """Return the settlement of a message whose handler is a plain function that runs the work."""

    async def awaited() -> None:
        await work()

    return attempt(lambda message: asyncio.run(awaited()), delivery(), within)


DRIVERS = pytest.mark.parametrize("driven", [coroutine, plain])
Driver = Callable[[Work, Invocation], Settlement]


def in_groups(*errors: BaseException, deep: int = 1) -> Work:
    """Return work that fails by these exceptions, each that of a task, in so many groups of tasks."""

    async def fail(error: BaseException) -> None:
        raise error

    async def work(deep: int = deep) -> None:
        async with asyncio.TaskGroup() as tasks:
            for error in errors if deep == 1 else ():
                tasks.create_task(fail(error))
            if deep > 1:
                tasks.create_task(work(deep - 1))

    return work


@DRIVERS
@pytest.mark.parametrize("deep", [1, 3])
def test_what_a_task_raises_is_unrecoverable_if_it_is_without_the_group(driven: Driver, deep: int) -> None:
    settlement = driven(in_groups(Declined("no"), deep=deep), invocation(recoverability(unrecoverable=(Declined,))))

    assert isinstance(settlement, Forward)
    assert settlement.to == "orders-error"
    assert settlement.changes["NServiceBus.ExceptionInfo.ExceptionType"] == f"{__name__}.Declined"


@DRIVERS
def test_what_a_task_asks_to_wait_for_is_waited_for(driven: Driver) -> None:
    settlement = driven(in_groups(RetryAfter(seconds(300)), deep=3), invocation())

    assert isinstance(settlement, Forward)
    assert (settlement.to, settlement.delay) == (QUEUE, seconds(300))


@DRIVERS
@pytest.mark.parametrize("interruption", [SystemExit(3), KeyboardInterrupt()], ids=repr)
def test_a_group_with_an_interruption_in_it_is_that_interruption(driven: Driver, interruption: BaseException) -> None:
    async def work() -> NoReturn:
        raise BaseExceptionGroup("several", [Boom(), BaseExceptionGroup("more", [interruption])])

    running = invocation()
    driven(work, running)

    assert running.interruption is interruption


async def converts_its_cancellation() -> None:
    """Wait in a task that makes its cancellation a failure of its own."""

    async def child() -> None:
        try:
            await asyncio.sleep(TIMEOUT)
        except asyncio.CancelledError:
            raise Declined from None

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(child())


async def blocks() -> None:
    """Block in a task, until the alarm rings there."""

    async def child() -> None:
        busy()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(child())


def busy(*_: object) -> NoReturn:
    """Run Python code; end only to fail the test."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        pass
    raise AssertionError("it was not stopped")


def stopped(caplog: pytest.LogCaptureFixture, run: Callable[[Invocation], object]) -> list[tuple[str, str]]:
    """Return what is logged of a handler that is soon stopped, whose own failures would be final."""
    run(invocation(recoverability(0, unrecoverable=(Declined,)), left=SOON))
    return logged(caplog)


TIMED_OUT = [("delayed_retry", "HandlerTimeout('stopped after 0.1 seconds')")]


def test_a_coroutine_that_was_cancelled_is_stopped_whatever_its_tasks_make_of_that(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert stopped(caplog, lambda running: coroutine(converts_its_cancellation, running)) == TIMED_OUT


def test_a_plain_handler_in_whose_task_the_alarm_rang_is_stopped(caplog: pytest.LogCaptureFixture) -> None:
    assert stopped(caplog, lambda running: plain(blocks, running)) == TIMED_OUT


def test_a_plain_handler_is_stopped_whatever_it_makes_of_the_alarm(caplog: pytest.LogCaptureFixture) -> None:
    def handle(message: Message) -> None:
        try:
            busy()
        except BaseException:  # noqa: BLE001  # what no handler should write
            raise Declined from None

    assert stopped(caplog, lambda running: attempt(handle, delivery(), running)) == TIMED_OUT


def test_a_plain_handler_that_ends_although_the_alarm_rang_has_succeeded() -> None:
    def handle(message: Message) -> None:
        with suppress(BaseException):  # what no handler should write
            busy()

    assert attempt(handle, delivery(), invocation(left=SOON)) == COMPLETE


def test_who_comes_after_a_stopped_handler_fails_by_what_it_raises(caplog: pytest.LogCaptureFixture) -> None:
    settings = recoverability(0, unrecoverable=(Declined,))
    running = invocation(settings, left=TIMEOUT, handler_timeout=seconds(SOON))

    attempt(busy, delivery(id="a"), running)
    attempt(declining, delivery(id="b"), running)

    assert logged(caplog) == [*TIMED_OUT, ("move_to_error", "Declined()")]


def declining(message: Message) -> None:
    raise Declined


HOSTILE: dict[str, Callable[[], BaseException]] = {
    "ten thousand leaves": lambda: ExceptionGroup("many", [Boom() for _ in range(10_000)]),
    "a leaf without a text": lambda: ExceptionGroup("odd", [WithoutText()]),
    "a leaf that ends the process when it is read": lambda: ExceptionGroup("odd", [*[Boom()] * 30, Ending()]),
}


class WithoutText(Exception):
    """Its text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class Ending(Exception):
    """Reading it ends the process."""

    def __str__(self) -> str:
        raise SystemExit(1)


@DRIVERS
@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_any_group_moves_to_the_error_queue_in_the_end(driven: Driver, hostile: Callable[[], BaseException]) -> None:
    async def work() -> NoReturn:
        raise hostile()

    settlement = driven(work, invocation(recoverability(0, 0)))

    assert isinstance(settlement, Forward)
    assert settlement.to == "orders-error"


def test_the_body_is_not_in_the_log_where_one_of_a_group_could_not_read_it(caplog: pytest.LogCaptureFixture) -> None:
    async def read() -> NoReturn:
        try:
            raise ValueError("secret")
        except ValueError as error:
            raise MessageDeserializationError("no JSON") from error

    async def work() -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(read())

    coroutine(work, invocation())

    assert "no JSON" in caplog.text
    assert "secret" not in caplog.text
