"""What a handler answers: a message whose handler only gave the work away, undone, is not complete."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from typing import Any

import pytest

from builders import Boom, delivery, recoverability, seconds
from flow.invocations import attempt, attempts, invocation, logged
from recoverable import Message
from recoverable._ladder.settlement import COMPLETE, Redeliver, Settlement

AT_ONCE = Redeliver(seconds(0))
SOON, TIMEOUT = 0.01, 60.0


def generator(message: Message) -> Iterator[None]:
    """Do nothing until somebody asks for the first value."""
    yield


async def asynchronous_generator(message: Message) -> AsyncIterator[None]:
    """Do nothing until somebody asks for the first value, as a coroutine."""
    yield


async def failing(message: Message) -> None:
    """Fail when awaited."""
    await asyncio.sleep(0)
    raise Boom


async def coroutine(message: Message) -> Coroutine[Any, Any, None]:
    """Return a coroutine, as a wrapper does that forgot to await."""
    return failing(message)


async def task(message: Message) -> Awaitable[None]:
    """Return a task, as a wrapper does that started the work and did not wait."""
    return asyncio.create_task(failing(message))


def settled_plainly(function: Callable[[Message], Any]) -> Settlement:
    """Return the settlement of a message whose handler is a plain function that returns this function's result."""
    return attempt(lambda message: function(message), delivery(), invocation(recoverability(1)))  # noqa: PLW0108  # a plain function


def settled_in_a_coroutine(function: Callable[[Message], Any]) -> Settlement:
    """Return the settlement of a message whose handler is a coroutine function that returns this function's result without awaiting it."""

    async def handle(message: Message) -> Any:
        return function(message)

    [settlement] = attempts(handle, [delivery()], invocation(recoverability(1)), 1)
    return settlement


SETTLED = pytest.mark.parametrize("settled", [settled_plainly, settled_in_a_coroutine])


@SETTLED
@pytest.mark.parametrize("function", [failing, coroutine, task])
def test_work_that_a_handler_left_unawaited_is_done_and_its_failure_counts(
    settled: Callable[[Any], Settlement], function: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="recoverable")

    assert settled(function) == AT_ONCE
    assert logged(caplog) == [("immediate_retry", "Boom()")]


@SETTLED
@pytest.mark.parametrize("function", [generator, asynchronous_generator])
def test_a_generator_has_done_nothing_and_is_a_failed_attempt(
    settled: Callable[[Any], Settlement], function: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="recoverable")

    assert settled(function) == AT_ONCE
    assert "TypeError: the handler answered a generator, and nothing of it has run; write return" in caplog.text


@SETTLED
@pytest.mark.parametrize("answer", [None, "done", {"batchItemFailures": []}, False, [1, 2], iter("ab")])
def test_any_other_answer_means_nothing(settled: Callable[[Any], Settlement], answer: object) -> None:
    assert settled(lambda _: answer) == COMPLETE


def test_what_was_left_unawaited_has_no_more_time_than_its_handler(caplog: pytest.LogCaptureFixture) -> None:
    async def forgetful(message: Message) -> Coroutine[Any, Any, None]:
        return asyncio.sleep(TIMEOUT)

    attempts(forgetful, [delivery()], invocation(recoverability(0), left=SOON), 1)

    assert logged(caplog) == [("delayed_retry", "HandlerTimeout('stopped after 0.0 seconds')")]
