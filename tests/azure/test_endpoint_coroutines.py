"""Coroutine handlers: the endpoint gives a coroutine, and what blocks leaves the event loop free."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from threading import Event, get_ident

import pytest

from azure.endpoints import Handler, ended, endpoint
from azure.recording import RecordingClient, properties
from azure.triggers import trigger_message, trigger_messages
from builders import QUEUE, Boom, Clock
from recoverable import Message
from recoverable._service_bus.senders import Broker
from recoverable._service_bus.wire import Copy
from recoverable.azure import Abandoned
from recoverable.headers import DELAYED_RETRIES, PRIOR_ATTEMPTS
from recoverable.hosting import Environment

ERROR = Boom("it broke")


async def succeed(message: Message) -> None:
    await asyncio.sleep(0)


async def fail(message: Message) -> None:
    await asyncio.sleep(0)
    raise ERROR


async def cancelled(message: Message) -> None:
    raise asyncio.CancelledError


def test_what_succeeds_is_completed() -> None:
    assert ended(endpoint(succeed), trigger_message()) is None


def test_an_immediate_retry_raises_the_handlers_exception() -> None:
    assert ended(endpoint(fail), trigger_message()) is ERROR


def test_a_delayed_retry_is_a_copy() -> None:
    client = RecordingClient()

    assert ended(endpoint(fail, client=client), trigger_message(DeliveryCount=3)) is None
    assert [(queue, properties(copy)[DELAYED_RETRIES]) for queue, copy in client.sent] == [(QUEUE, "1")]


def test_many_are_handled_too() -> None:
    client = RecordingClient()

    assert ended(endpoint(fail, client=client, batch=True), trigger_messages({}, {})) is None
    assert [properties(copy)[PRIOR_ATTEMPTS] for _, copy in client.sent] == ["1", "1"]


def test_a_handler_that_was_cancelled_has_failed_and_the_host_gets_an_exception() -> None:
    assert isinstance(ended(endpoint(cancelled), trigger_message()), Abandoned)


def test_a_send_leaves_the_event_loop_free() -> None:
    answer = Event()

    def waits_for_the_loop(queue: str) -> None:
        assert answer.wait(30)

    async def meanwhile(call: Awaitable[None]) -> None:
        sending = asyncio.ensure_future(call)
        while not called:
            await asyncio.sleep(0)
        answer.set()
        await sending

    called: list[int] = []

    async def fails(message: Message) -> None:
        called.append(get_ident())
        raise ERROR

    client = RecordingClient(waits_for_the_loop)
    asyncio.run(meanwhile(endpoint(fails, client=client)(trigger_message(DeliveryCount=3))))

    assert len(client.sent) == 1


def test_what_a_plain_function_gives_unawaited_is_awaited() -> None:
    assert ended(endpoint(lambda message: fail(message)), trigger_message()) is ERROR  # noqa: PLW0108  # a plain function


@pytest.mark.parametrize("handler", [Handler(ERROR), fail], ids=["plain", "coroutine"])
def test_invocations_in_many_threads_use_a_sender_one_at_a_time(handler: object) -> None:
    client = RecordingClient()
    called = endpoint(handler, client=client)  # type: ignore[arg-type]  # either kind
    messages = [trigger_message(DeliveryCount=3, SequenceNumber=number) for number in range(40)]

    with ThreadPoolExecutor(8) as threads:
        ends = list(threads.map(lambda message: ended(called, message), messages))

    assert (set(ends), len(client.sent), client.senders) == ({None}, 40, [QUEUE])


def test_a_send_that_never_ends_does_not_keep_those_after_it_for_ever() -> None:
    sending, over = Event(), Event()

    def hangs(_: str) -> None:
        sending.set()
        over.wait(60)

    client = RecordingClient(hangs)
    environment = Environment(None, Clock(), nullcontext)
    send = partial(Broker(client.as_client(), timeout=0.01).send, environment=environment)
    copy = Copy("m-1", QUEUE, {"body": b"{}", "application_properties": {}})
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(send, [copy])
        assert sending.wait(60)
        [failure] = send([copy])
        over.set()
        first.result(60)
    assert failure is not None
    assert (failure.kind, str(failure.error)) == ("lost", "another thread has been sending copies for 0.01 s")
    assert [queue for queue, _ in client.sent] == [QUEUE]
