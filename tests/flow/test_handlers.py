"""What may be a handler, and which of them give a coroutine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from recoverable._flow.handlers import is_coroutine_handler
from recoverable._limits import name_of


def plain(message: object) -> None:
    """Take a message, as a plain handler."""


async def coroutine(message: object) -> None:
    """Take a message, as a coroutine handler."""


def generator(message: object) -> Iterator[None]:
    """Take a message, as a generator: calling it runs nothing."""
    yield


async def async_generator(message: object) -> AsyncIterator[None]:
    """Take a message, as a generator: calling it runs nothing."""
    yield


def of_lambda(event: object, context: object) -> None:
    """Take an event and a context, as Lambda calls it and no endpoint does."""


def of_nothing() -> None:
    """Take no message."""


def with_default(message: object, bank: str = "first") -> None:
    """Take a message, and something with a default."""


def decorated(*arguments: object, **named: object) -> None:
    """Take anything, as what many decorators return."""


class Plain:
    """A callable object with plain and other methods."""

    def __call__(self, message: object) -> None:
        """Handle."""

    def method(self, message: object) -> None:
        """Handle."""

    def of_nothing(self) -> None:
        """Take no message."""

    async def asynchronous(self, message: object) -> None:
        """Handle."""

    @classmethod
    def of_class(cls, message: object) -> None:
        """Handle."""

    @staticmethod
    async def static(message: object) -> None:
        """Handle."""


class Asynchronous:
    """A callable object that gives a coroutine."""

    async def __call__(self, message: object) -> None:
        """Handle."""


class Generating:
    """A callable object that gives a generator."""

    def __call__(self, message: object) -> Iterator[None]:
        """Handle nothing."""
        yield


class WithFunc:
    """A callable object that happens to keep a function under the name that `partial` uses."""

    func = staticmethod(coroutine)

    def __call__(self, message: object) -> None:
        """Handle."""


HANDLERS: dict[str, tuple[Any, bool]] = {
    "a function": (plain, False),
    "a coroutine function": (coroutine, True),
    "a lambda": (lambda message: None, False),
    "a lambda that gives a coroutine": (lambda message: coroutine(message), False),  # noqa: PLW0108  # what it gives is awaited
    "a partial": (partial(plain), False),
    "a partial of a coroutine function": (partial(coroutine), True),
    "a partial of a partial": (partial(partial(coroutine)), True),
    "a partial of a callable object": (partial(Asynchronous()), True),
    "a method": (Plain().method, False),
    "a coroutine method": (Plain().asynchronous, True),
    "a class method": (Plain.of_class, False),
    "a static coroutine method": (Plain.static, True),
    "a callable object": (Plain(), False),
    "a callable object that gives a coroutine": (Asynchronous(), True),
    "a callable object with a `func` of its own": (WithFunc(), False),
    "a built-in function": (print, False),
    "a built-in method": ([].append, False),
    "a function with a default": (with_default, False),
    "a function of any number of arguments": (decorated, False),
    "a partial that gives the other argument": (partial(of_lambda, context=None), False),
    "a mock": (Mock(), False),
    "a mock of a coroutine function": (AsyncMock(), True),
}


@pytest.mark.parametrize(("handler", "is_coroutine"), HANDLERS.values(), ids=HANDLERS)
def test_a_handler_that_returns_a_coroutine_is_recognized(handler: Any, is_coroutine: bool) -> None:  # noqa: FBT001  # the table's column
    assert is_coroutine_handler(handler) == is_coroutine


ONE = "write a function that takes one Message: the endpoint is what the platform calls, and gives each message to it"

REFUSED: dict[str, tuple[Any, str]] = {
    "nothing": (None, "the handler is None; write a function that takes one Message"),
    "a name": ("place_order", "the handler is 'place_order'; write a function that takes one Message"),
    "a class": (Plain, "the handler is the class Plain; write a function that takes one Message, or Plain()"),
    "a generator": (
        generator,
        "the handler generator is a generator, and calling it runs nothing; write return instead of yield",
    ),
    "an async generator": (
        async_generator,
        "the handler async_generator is a generator, and calling it runs nothing; write return instead of yield",
    ),
    "a Lambda handler": (of_lambda, f"the handler of_lambda takes (event, context); {ONE}"),
    "a function without an argument": (of_nothing, f"the handler of_nothing takes (); {ONE}"),
    "a method without an argument": (Plain().of_nothing, f"the handler of_nothing takes (); {ONE}"),
    "a generator in a partial": (
        partial(generator),
        f"the handler {partial(generator)!r} is a generator, and calling it runs nothing; write return instead of yield",
    ),
}


@pytest.mark.parametrize(("handler", "text"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_handler_is_refused_and_says_what_to_write(handler: Any, text: str) -> None:
    with pytest.raises(TypeError) as refused:
        is_coroutine_handler(handler)

    assert str(refused.value) == text


def test_a_generating_object_is_refused_too() -> None:
    with pytest.raises(TypeError, match="is a generator, and calling it runs nothing"):
        is_coroutine_handler(Generating())


@pytest.mark.parametrize(("thing", "name"), [(plain, "plain"), (Plain, "Plain"), (42, "42"), (print, "print")])
def test_a_thing_is_named_as_its_reader_knows_it(thing: object, name: str) -> None:
    assert name_of(thing) == name
