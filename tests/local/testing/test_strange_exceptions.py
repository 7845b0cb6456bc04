"""Exceptions whose text cannot be read: the world's story names their type, and the message goes its way."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from local.testing.ladders import attempts, endpoint
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ServiceBusWorld, SqsWorld


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def refuse(_message: Message) -> None:
    raise Unspeakable


def test_an_exception_whose_text_raises_shows_its_type() -> None:
    world = SqsWorld()
    world.serve("orders", endpoint(refuse, immediate=0, delayed=0))
    world.send("orders", "hello")
    world.run()

    (copy,) = world.queue("orders-error")
    assert (attempts(world), copy.exception_type) == ([(0, "Unspeakable")], f"{__name__}.Unspeakable")


def test_a_function_of_no_endpoint_may_raise_it_too() -> None:
    def function(_event: Any, _context: Any) -> None:
        raise Unspeakable

    world = SqsWorld()
    world.create_queue("orders", dead_letter_queue="dead", max_receive_count=2)
    world.serve("orders", function)
    world.send("orders", "hello")
    world.run()

    assert len(world.queue("dead")) == 1


def test_the_functions_host_may_be_raised_it_too() -> None:
    world = service_bus(refuse, Recoverability(Immediate(1), Delayed(0), Failed("error")))
    world.send("orders", "hello")
    world.run()

    assert len(world.queue("error")) == 1


class Nameless(type):
    def __getattribute__(cls, name: str) -> Any:
        if name in {"__name__", "__qualname__", "__module__"}:
            raise RuntimeError(name)
        return super().__getattribute__(name)


class OfNamelessType(Exception, metaclass=Nameless):
    pass


class Exiting(Exception):
    def __str__(self) -> str:
        raise SystemExit


class Interrupting(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt


class Classless(Exception):
    @property
    def __class__(self) -> Any:
        raise RuntimeError("no class")

    @__class__.setter
    def __class__(self, value: Any) -> None:
        raise RuntimeError("no class")


class Untraceable(Exception):
    __traceback__ = 5  # type: ignore[assignment]  # a class may say anything


class Closed(Exception):
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


def sqs(handler: Any, settings: Recoverability) -> SqsWorld:
    world = SqsWorld()
    world.serve("orders", SqsEndpoint(handler, settings), batch_size=3, recursive_loop="Allow")
    return world


def service_bus(handler: Any, settings: Recoverability, *, batch: bool = False) -> ServiceBusWorld:
    world = ServiceBusWorld()
    minute = timedelta(minutes=1)
    made = ServiceBusEndpoint(
        handler, settings, queue="orders", connection="X", name="orders", batch=batch, lock=minute
    )
    world.serve("orders", made)
    return world


def service_bus_batch(handler: Any, settings: Recoverability) -> ServiceBusWorld:
    return service_bus(handler, settings, batch=True)


@pytest.mark.parametrize("made", [sqs, service_bus, service_bus_batch], ids=lambda made: made.__name__)
@pytest.mark.parametrize(
    "kind",
    [OfNamelessType, Exiting, Interrupting, Classless, Untraceable, Closed],
    ids=["name", "exit", "interrupt", "class", "trace", "all"],
)
def test_an_exception_that_misbehaves_when_it_is_read_fails_its_message_alone(made: Any, kind: type[Exception]) -> None:
    runs: list[str] = []

    def handle(message: Message) -> None:
        runs.append(message.text)
        if message.text == "bad":
            raise kind

    world = made(handle, Recoverability(Immediate(1), Delayed(0), Failed("error")))
    for text in ("one", "bad", "two"):
        world.send("orders", text)
    world.run()

    assert (sorted(runs), [seen.body for seen in world.queue("error")]) == (["bad", "bad", "one", "two"], ["bad"])
