"""Exceptions whose text cannot be read: the world's story names their type, and the message goes its way."""

from __future__ import annotations

from local.testing.ladders import attempts, endpoint
from recoverable import Message
from recoverable_local.testing import SqsWorld


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
