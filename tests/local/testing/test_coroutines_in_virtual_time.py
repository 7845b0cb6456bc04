"""Check that coroutine handlers sleep, time out and run side by side in virtual time."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from datetime import timedelta

from local.testing.ladders import endpoint, seconds
from recoverable import Message
from recoverable_local.testing import Died, SqsWorld


def test_a_sleep_spends_virtual_time(sqs_world: SqsWorld) -> None:
    async def handler(_message: Message) -> None:
        await asyncio.sleep(20)

    began = sqs_world.now
    sqs_world.serve("orders", endpoint(handler))
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert (sqs_world.now - began, sqs_world.queue("orders-error")) == (seconds(20), [])


def test_messages_of_one_batch_are_worked_on_at_once(sqs_world: SqsWorld) -> None:
    async def handler(_message: Message) -> None:
        await asyncio.sleep(5)

    began = sqs_world.now
    sqs_world.serve("orders", endpoint(handler, concurrency=10))
    for _ in range(10):
        sqs_world.send("orders", "x")
    sqs_world.run()
    assert sqs_world.now - began == seconds(5)


def test_invocations_of_coroutines_run_side_by_side(sqs_world: SqsWorld) -> None:
    async def handler(_message: Message) -> None:
        await asyncio.sleep(5)

    began = sqs_world.now
    sqs_world.serve("orders", endpoint(handler), batch_size=1)
    for _ in range(5):
        sqs_world.send("orders", "x")
    sqs_world.run()
    assert (sqs_world.now - began, sqs_world.queue("orders")) == (seconds(5), [])


def test_a_coroutine_that_takes_all_the_time_there_is_is_cancelled(sqs_world: SqsWorld) -> None:
    async def handler(_message: Message) -> None:
        await asyncio.sleep(1000)

    sqs_world.serve("orders", endpoint(handler, delayed=0), timeout=30)
    sqs_world.send("orders", "x")
    sqs_world.run()
    [message] = sqs_world.queue("orders-error")
    assert (message.exception_type, message.sent_at) == ("recoverable.HandlerTimeout", sqs_world.now)


def test_a_handler_timeout_of_its_own_ends_a_coroutine(sqs_world: SqsWorld) -> None:
    async def handler(_message: Message) -> None:
        await asyncio.sleep(1000)

    began = sqs_world.now
    sqs_world.serve("orders", endpoint(handler, immediate=0, delayed=0, handler_timeout=timedelta(seconds=4)))
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert sqs_world.now - began == seconds(4)


def test_a_coroutine_whose_process_dies_ends_in_the_error_queue(sqs_world: SqsWorld) -> None:
    async def handler(_message: Message) -> None:
        await asyncio.sleep(1)
        sqs_world.kill()

    sqs_world.serve("orders", endpoint(handler))
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert [m.exception_type for m in sqs_world.queue("orders-error")] == ["recoverable.UnreportedFailure"]


def test_a_coroutine_that_hangs_in_its_cleanup_is_stopped_there_too(sqs_world: SqsWorld) -> None:
    async def handler(_message: Message) -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(1000)

    began = sqs_world.now
    sqs_world.serve("orders", endpoint(handler, immediate=0, delayed=0), timeout=30)
    sqs_world.send("orders", "x")
    sqs_world.run()

    assert [m.exception_type for m in sqs_world.queue("orders-error")] == ["recoverable.HandlerTimeout"]
    assert sqs_world.now - began == seconds(27.5)


def test_a_coroutine_that_will_not_be_cancelled_is_killed_with_its_function(sqs_world: SqsWorld) -> None:
    async def handler(_message: Message) -> None:
        for _ in range(20):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(1000)

    sqs_world.serve("orders", endpoint(handler), timeout=30)
    sqs_world.send("orders", "x")
    sqs_world.run(for_=100)
    ends = [(e.at, e.detail) for e in sqs_world.timeline() if e.what == "invocation failed"]
    assert ends == [(seconds(30), "timed out after 30 s")]


def test_a_thread_is_waited_for_really(sqs_world: SqsWorld) -> None:
    async def handler(_message: Message) -> None:
        await asyncio.to_thread(time.sleep, 0.05)

    began = sqs_world.now
    sqs_world.serve("orders", endpoint(handler))
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert (sqs_world.now - began, sqs_world.queue("orders-error")) == (seconds(0), [])


def test_a_thread_that_a_process_leaves_behind_is_waited_for_really(sqs_world: SqsWorld) -> None:
    ended: list[int] = []

    def work() -> None:
        time.sleep(0.05)
        ended.append(1)

    async def handler(_message: Message) -> None:
        asyncio.get_running_loop().run_in_executor(None, work)
        await asyncio.sleep(1)
        sqs_world.kill()

    sqs_world.serve("orders", endpoint(handler, immediate=0, delayed=0))
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert len(ended) == len([e for e in sqs_world.timeline() if e.what == "invocation failed"])


def test_a_coroutine_survives_the_death_of_another_instance(sqs_world: SqsWorld) -> None:
    async def handler(_message: Message) -> None:
        await asyncio.sleep(2)

    sqs_world.serve("orders", endpoint(handler), batch_size=1)
    sqs_world.fail("invoke", Died(), nth=1)
    for _ in range(3):
        sqs_world.send("orders", "x")
    sqs_world.run()
    assert (sqs_world.queue("orders"), sqs_world.queue("orders-error")) == ([], [])
