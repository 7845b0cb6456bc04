"""Coroutine handlers on SQS: several messages at once, each with the ladder of its own."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from aws.harness import Mapping, NearTheEnd, ladder, lose_deliveries, sqs_endpoint
from recoverable import Message
from servers.faulty_proxy import FaultyProxy
from servers.queues import Queue, bodies, send


class Meeting:
    """A handler whose runs wait for each other, so many at a time; some bodies then fail."""

    def __init__(self, size: int, *bad: str) -> None:
        self.runs: Counter[str] = Counter()
        self.together: list[int] = []
        self._size, self._bad, self._present = size, bad, 0

    async def __call__(self, message: Message) -> None:
        self.runs[message.text] += 1
        self._present += 1
        self.together.append(self._present)
        for _ in range(1000):  # long enough for all that can come
            if max(self.together) >= self._size:
                break
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        self._present -= 1
        if message.text in self._bad:
            raise ValueError("no")


def test_as_many_messages_are_worked_on_at_once_as_the_concurrency_says(orders: Queue, error: Queue) -> None:
    handler = Meeting(3)
    send(orders, *"abcdef")

    Mapping(orders, sqs_endpoint(handler, ladder(error), concurrency=3)).run_dry()

    assert (max(handler.together), handler.runs) == (3, Counter("abcdef"))


def test_messages_run_one_at_a_time_by_default(orders: Queue, error: Queue) -> None:
    handler = Meeting(1)
    send(orders, *"abc")

    Mapping(orders, sqs_endpoint(handler, ladder(error))).run_dry()

    assert (max(handler.together), handler.runs) == (1, Counter("abc"))


def test_each_message_of_several_at_once_has_the_ladder_of_its_own(orders: Queue, error: Queue) -> None:
    handler = Meeting(2, "b", "d")
    send(orders, *"abcd")

    Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=1, delayed=1), concurrency=4)).run_dry()

    assert handler.runs == {"a": 1, "b": 4, "c": 1, "d": 4}
    assert bodies(error) == ["b", "d"]


def test_those_delivered_earlier_run_alone_whatever_the_concurrency(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    handler = Meeting(1)
    send(orders, *"abc")
    lose_deliveries(orders, 1)

    Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=1), concurrency=3)).poll()

    assert (max(handler.together), proxy.calls) == (1, {"DeleteMessageBatch": 2})


def test_all_that_are_stopped_side_by_side_are_handed_back_with_the_rest(orders: Queue, error: Queue) -> None:
    async def slow(message: Message) -> None:
        await asyncio.sleep(5)

    send(orders, *"abcd")

    reported = Mapping(orders, sqs_endpoint(slow, ladder(error), concurrency=2), contexts=NearTheEnd).poll()

    assert (reported, bodies(error), bodies(orders)) == ([], [], ["a", "b", "c", "d"])


def test_a_time_limit_of_the_handlers_own_is_a_failure_like_any_other(orders: Queue, error: Queue) -> None:
    async def impatient(message: Message) -> None:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(5)

    send(orders, "a")
    Mapping(orders, sqs_endpoint(impatient, ladder(error))).run_dry()

    (copy,) = error.arrived()
    assert copy.headers["NServiceBus.ExceptionInfo.ExceptionType"] == "TimeoutError"


def test_a_cancelled_handler_has_failed(orders: Queue, error: Queue) -> None:
    async def cancelled(message: Message) -> None:
        raise asyncio.CancelledError

    send(orders, "a", "b")
    endpoint = sqs_endpoint(cancelled, ladder(error), handler_timeout=timedelta(seconds=5))

    assert (Mapping(orders, endpoint).poll(), bodies(error)) == ([], ["a", "b"])


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_inside_a_task_of_the_handler_leaves_nothing_running_behind(
    orders: Queue, error: Queue, interruption: type[BaseException]
) -> None:
    runs: list[str] = []

    async def end() -> None:
        raise interruption

    async def handle(message: Message) -> None:
        runs.append(message.text)
        if message.text == "end" and runs.count("end") == 1:
            await asyncio.create_task(end())

    send(orders, "end", "next")
    mapping = Mapping(orders, sqs_endpoint(handle, ladder(error)))

    mapping.poll()
    assert ([type(error) for error in mapping.raised], orders.count()) == ([interruption], 2)
    mapping.expire()
    mapping.run_dry()

    assert (Counter(runs), error.count()) == ({"end": 2, "next": 1}, 0)


def test_clients_that_a_handler_keeps_between_invocations_find_their_event_loop(orders: Queue, error: Queue) -> None:
    loops: list[object] = []

    async def handle(message: Message) -> None:
        loops.append(asyncio.get_running_loop())

    mapping = Mapping(orders, sqs_endpoint(handle, ladder(error)))
    for body in "ab":
        send(orders, body)
        mapping.poll()

    assert loops[0] is loops[1]


def plain(call: Callable[[Message], Awaitable[None]]) -> Callable[[Message], Awaitable[None]]:
    """Return a plain function that returns a coroutine, as decorators make them."""

    def handle(message: Message) -> Awaitable[None]:
        return call(message)

    return handle


def test_what_a_plain_function_leaves_unawaited_is_run_to_its_end(orders: Queue, error: Queue) -> None:
    runs: list[str] = []

    @plain
    async def handle(message: Message) -> None:
        await asyncio.sleep(0)
        runs.append(message.text)
        if message.text == "b":
            raise ValueError("no")

    send(orders, *"abc")
    Mapping(orders, sqs_endpoint(handle, ladder(error))).run_dry()

    assert (runs, bodies(error)) == (["a", "b", "c"], ["b"])
