"""Check that a world ends a run whose handler really blocks for longer than it has."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import pytest

from local.testing.ladders import endpoint
from recoverable import Message
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import HandlerBlocked, ServiceBusWorld, SqsWorld
from recoverable_local.testing.engine import real_time

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timer that interrupts")


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a second where users wait for thirty."""
    monkeypatch.setattr(real_time, "LEAST", 1.0)


HINT = r"a handler of 'orders' blocked for 1 s of real time.*world\.spend\(seconds\).*world\.hang\(seconds\)"


def block(_message: Message) -> None:
    time.sleep(60)


async def block_in_a_coroutine(_message: Message) -> None:
    block(_message)


def swallow(_message: Message) -> None:
    with suppress(Exception):
        time.sleep(60)


@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("handler", [block, block_in_a_coroutine, swallow])
def test_a_run_on_sqs_ends_where_the_function_would_be_killed(
    handler: Callable[[Message], object], sqs_world: SqsWorld
) -> None:
    sqs_world.serve("orders", endpoint(handler), timeout=1)
    sqs_world.send("orders", "x")

    with pytest.raises(HandlerBlocked, match=HINT):
        sqs_world.run()


@pytest.mark.usefixtures("_at_once")
@pytest.mark.parametrize("handler", [block, block_in_a_coroutine, swallow])
def test_a_run_on_service_bus_ends_where_the_function_would_be_killed(
    handler: Callable[[Message], None], service_bus_world: ServiceBusWorld
) -> None:
    service_bus_world.serve("orders", ServiceBusEndpoint(handler, queue="orders", connection="ServiceBus"), timeout=1)
    service_bus_world.send("orders", "x")

    with pytest.raises(HandlerBlocked, match=HINT):
        service_bus_world.run()


@pytest.mark.usefixtures("_at_once")
def test_a_run_ends_where_the_endpoint_would_stop_its_handler(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", SqsEndpoint(block, handler_timeout=timedelta(seconds=1)))
    sqs_world.send("orders", "x")

    with pytest.raises(HandlerBlocked, match=HINT):
        sqs_world.run()


@pytest.mark.usefixtures("_at_once")
def test_a_run_in_an_async_test_ends_too(sqs_world: SqsWorld) -> None:
    async def test() -> None:
        sqs_world.serve("orders", endpoint(block), timeout=1)
        sqs_world.send("orders", "x")
        with pytest.raises(HandlerBlocked, match=HINT):
            sqs_world.run()

    asyncio.run(test())


@pytest.mark.usefixtures("_at_once")
def test_a_handler_that_blocks_beside_one_that_spends_time_ends_the_run(sqs_world: SqsWorld) -> None:
    def handle(message: Message) -> None:
        if message.text == "blocks":
            time.sleep(60)
        sqs_world.spend(20)

    sqs_world.serve("orders", endpoint(handle), batch_size=1, timeout=25)
    sqs_world.send("orders", "spends")
    sqs_world.at(19.5, lambda: sqs_world.send("other", "blocks"))
    sqs_world.serve("other", endpoint(handle), timeout=1)

    with pytest.raises(HandlerBlocked, match="a handler of 'other'"):
        sqs_world.run()


def test_time_that_is_really_taken_within_the_time_out_is_no_mistake(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint(lambda _message: time.sleep(0.01)), timeout=1)
    sqs_world.send("orders", "x")

    sqs_world.run()

    assert sqs_world.queue("orders-error") == []


def test_the_alarm_of_the_test_runner_is_left_as_it_was(sqs_world: SqsWorld) -> None:
    before = signal.getsignal(signal.SIGALRM)
    sqs_world.serve("orders", endpoint(lambda _message: None))
    sqs_world.send("orders", "x")

    sqs_world.run()

    assert signal.getsignal(signal.SIGALRM) is before
