"""Check that a world runs coroutine handlers in a test that is a coroutine itself."""

from __future__ import annotations

import asyncio

import azure.functions as func
import pytest

from local.testing.ladders import endpoint
from recoverable import Message
from recoverable_local.testing import EndlessRun, ServiceBusWorld, SqsWorld

slept: list[str] = []


async def handler(message: Message) -> None:
    await asyncio.sleep(20)
    slept.append(message.text)


def test_a_coroutine_handler_runs_in_an_async_test(sqs_world: SqsWorld) -> None:
    async def test() -> None:
        slept.clear()
        sqs_world.serve("orders", endpoint(handler))
        sqs_world.send("orders", "x")
        sqs_world.run()

    began = sqs_world.now
    asyncio.run(test())

    assert (slept, (sqs_world.now - began).total_seconds()) == (["x"], 20)


def test_a_coroutine_function_runs_in_an_async_test(service_bus_world: ServiceBusWorld) -> None:
    app = func.FunctionApp()

    @app.service_bus_queue_trigger(arg_name="msg", queue_name="orders", connection="ServiceBus")
    async def place(msg: func.ServiceBusMessage) -> None:
        await asyncio.sleep(20)
        slept.append(msg.get_body().decode())

    async def test() -> None:
        slept.clear()
        service_bus_world.serve("orders", app)
        service_bus_world.send("orders", "x")
        service_bus_world.run()

    asyncio.run(test())

    assert slept == ["x"]


def test_what_ends_a_run_is_raised_in_the_async_test(sqs_world: SqsWorld) -> None:
    async def test() -> None:
        sqs_world.serve("orders", lambda _event, _context: "done")
        sqs_world.send("orders", "x")
        with pytest.raises(EndlessRun, match="the answer is 'done'"):
            sqs_world.run()

    asyncio.run(test())
