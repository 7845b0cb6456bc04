"""Whatever an extension raises, wherever and whenever: each message is settled as without it, and one line says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, NamedTuple

import pytest

from aws.records import event, record
from builders import Boom
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable.hosting import Extension, Part
from recoverable_local.testing import ServiceBusWorld, SqsWorld

World = SqsWorld | ServiceBusWorld


class Broken(RuntimeError):
    """What the extension raises."""


class Meddling(Part):
    """A part of which each method does something harmless, until one raises from its n-th call on."""

    def __init__(self, method: str, nth: int) -> None:
        self._method, self._left = method, nth

    def _called(self, method: str) -> None:
        if method == self._method:
            self._left -= 1
            if self._left <= 0:
                raise Broken

    def body(self, message: Message) -> None:
        self._called("body")

    @contextmanager
    def attempt(self, messages: tuple[Message, ...]) -> Iterator[None]:
        self._called("attempt, on the way in")
        yield
        self._called("attempt, on the way out")

    def copy(self, message: Message, facts: Any) -> dict[str, str]:
        self._called("copy")
        return {}

    def decided(self, facts: Any, message: Message) -> None:
        self._called("decided")

    def deletes(self, message: Message) -> bool:
        self._called("deletes")
        return False

    def completing(self, messages: Any) -> None:
        self._called("completing")

    def release(self, messages: Any) -> None:
        self._called("release")

    def settled(self, outcomes: Any) -> Iterator[Callable[[], object]]:
        self._called("settled")
        yield lambda: self._called("settled, in what is called")

        async def awaited() -> None:
            self._called("settled, in what is awaited")

        yield awaited

    def close(self) -> None:
        self._called("close")


class Meddler(Extension):
    """An extension of which one method raises from its n-th call on, in each invocation."""

    def __init__(self, method: str, nth: int) -> None:
        self._method, self._nth = method, nth

    def receive(self, native: Any) -> Any:
        if self._method == "receive":
            raise Broken
        return native

    def open(self, batch: Any) -> Meddling:
        if self._method == "open":
            raise Broken
        return Meddling(self._method, self._nth)


class Harmless(Extension):
    """An extension that does nothing: the run that the others are compared with has the longer way too."""


METHODS = (
    "receive", "open", "body", "attempt, on the way in", "attempt, on the way out", "copy", "decided", "deletes", "completing", "release",
    "settled", "settled, in what is called", "settled, in what is awaited", "close",
)  # fmt: skip


class Way(NamedTuple):
    """A cloud, a kind of handler and a kind of queue.

    Args:
        name: for the test's id.
        world: makes the world.
        queue: the queue's name.
        coroutine: True for a coroutine handler.
        settings: further settings of the endpoint.
        mapping: further settings of its trigger.
    """

    name: str
    world: type[World]
    queue: str = "orders"
    coroutine: bool = False
    settings: Any = ()
    mapping: Any = ()


WAYS = (
    Way("SQS", SqsWorld),
    Way("SQS, coroutines", SqsWorld, coroutine=True),
    Way("FIFO", SqsWorld, "orders.fifo", mapping=(("batch_size", 1),)),
    Way("Service Bus", ServiceBusWorld),
    Way("Service Bus, coroutines", ServiceBusWorld, coroutine=True),
    Way("Service Bus, a batch", ServiceBusWorld, settings=(("batch", True), ("lock", timedelta(minutes=1)))),
)


class Run(NamedTuple):
    """What became of all messages.

    Args:
        attempts: when which message was attempted, and the how manieth time.
        ends: what is in the error queue, with its headers.
        lines: the lines of the log, without those about extensions.
        faults: the lines about extensions.
    """

    attempts: list[tuple[Any, str, int, int]]
    ends: list[tuple[str, str | None, int]]
    lines: list[str]
    faults: list[str]


def run(way: Way, extension: Extension, caplog: pytest.LogCaptureFixture) -> Run:
    """Have four messages handled to their ends: one succeeds, one at its second attempt, one after a delay, and one never."""
    caplog.clear()
    here, attempts = way.world(), list[tuple[Any, str, int, int]]()
    fifo = way.queue.endswith(".fifo")
    error = "error.fifo" if fifo else "error"

    def handle(message: Message) -> None:
        attempts.append((here.now, message.text, message.round, message.attempt))
        if (message.round, message.attempt) < {"ok": (0, 1), "again": (0, 2), "later": (1, 1), "never": (9, 9)}[
            message.text
        ]:
            raise Boom(message.text)

    async def handle_async(message: Message) -> None:
        await asyncio.sleep(0)
        handle(message)

    ladder = Recoverability(Immediate(1), Delayed(1, timedelta(seconds=10)), Failed(error))
    handler: Any = handle_async if way.coroutine else handle
    more = {"extensions": (extension,), **dict(way.settings)}
    if isinstance(here, SqsWorld):
        here.serve(way.queue, SqsEndpoint(handler, ladder, **more), **dict(way.mapping))
    else:
        here.serve(
            way.queue,
            ServiceBusEndpoint(handler, ladder, queue=way.queue, connection="ServiceBus", name="orders", **more),
        )
    for body in ("ok", "again", "later", "never"):
        named: Any = {"group_id": body, "deduplication_id": body} if fifo else {}
        here.send(way.queue, body, **named)
    here.run()
    records = [each for each in caplog.records if each.name.startswith("recoverable")]
    return Run(
        attempts,
        [(seen.body, seen.exception_type, seen.receive_count) for seen in here.queue(error)],
        [each.getMessage() for each in records if each.name != "recoverable.observe"],
        [each.getMessage() for each in records if each.name == "recoverable.observe"],
    )


@pytest.mark.parametrize("way", WAYS, ids=[each.name for each in WAYS])
@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("method", METHODS)
def test_each_message_is_settled_as_without_it(
    method: str, nth: int, way: Way, caplog: pytest.LogCaptureFixture
) -> None:
    usual, meddled = run(way, Harmless(), caplog), run(way, Meddler(method, nth), caplog)

    assert meddled[:3] == usual[:3]
    assert usual.faults == []
    named = method.partition(",")[0]
    assert {each.partition(" of the extension ")[0] for each in meddled.faults} <= {named}
    assert len(meddled.faults) <= 1  # the same is logged once a minute, and the whole takes less


def test_a_fault_is_logged_with_extension_method_and_messages(
    sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture
) -> None:
    sqs_world.serve("orders", SqsEndpoint(lambda message: None, extensions=(Meddler("completing", 1),)))
    message_id = sqs_world.send("orders", "ok")
    sqs_world.run()

    (record,) = [each for each in caplog.records if each.name == "recoverable.observe"]
    assert (record.levelname, record.getMessage()) == (
        "ERROR",
        f"completing of the extension Meddling failed (Broken) for message '{message_id}'. The messages are settled as without it. "
        "Check the extension; the same is not logged again for a minute.",
    )


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_who_interrupts_the_process_is_not_held_up(interruption: type[BaseException]) -> None:
    class Ending(Extension):
        def open(self, batch: Any) -> None:
            raise interruption

    with pytest.raises(interruption):
        SqsEndpoint(lambda message: None, extensions=(Ending(),))(event(record()))


def test_headers_of_extensions_are_on_each_copy_the_first_wins_and_ours_stay(
    sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture
) -> None:
    class Naming(Extension):
        def __init__(self, **headers: str) -> None:
            self._headers = headers

        def open(self, batch: Any) -> Any:
            return self

        def copy(self, message: Message, facts: Any) -> dict[str, str]:
            return {**self._headers, "Recoverable.Origin": "forged"}

    def fail(message: Message) -> None:
        raise Boom

    ladder = Recoverability(Immediate(0), Delayed(0), Failed("error"))
    sqs_world.serve(
        "orders", SqsEndpoint(fail, ladder, extensions=(Naming(Tenant="one"), Naming(Tenant="two", Shard="7")))
    )
    sqs_world.send("orders", "ok")
    sqs_world.run()

    (seen,) = sqs_world.queue("error")
    assert (seen.headers["Tenant"], seen.headers["Shard"]) == ("one", "7")
    assert seen.headers.get("Recoverable.Origin") != "forged"
    assert sum("names the header" in each for each in caplog.messages) == 3
