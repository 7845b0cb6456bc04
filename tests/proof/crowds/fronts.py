"""Make the function that a crowd meets: the endpoint with a plain handler or with coroutines, or Powertools' batch processing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from aws_lambda_powertools.utilities.batch import process_partial_response

from recoverable import Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.powertools import RecoverableBatchProcessor
from recoverable_local.testing import SqsWorld

TIMEOUT = 30.0
"""Seconds of an invocation."""

BLOCKED = TIMEOUT - 2
"""Seconds for which a coroutine blocks the event loop: longer than handlers have, and not as long as the function has."""

AT_ONCE = 5
"""Coroutines of one invocation that run side by side."""

FRONTS = ("plain", "powertools", "coroutines")

Act = Callable[[Message], tuple[str, float]]
"""Notes a run, and returns what it does, "kills", "fails", "spends" or "blocks", and seconds."""


def front_of(name: str, world: SqsWorld, act: Act, settings: Recoverability, **more: Any) -> Callable[[Any, Any], Any]:
    """Return the Lambda handler of that name."""
    match name:
        case "powertools":
            return powertools(plain_handler(world, act), RecoverableBatchProcessor(settings, **more))
        case "coroutines":
            return SqsEndpoint(coroutine_handler(world, act), settings, concurrency=AT_ONCE, **more)
        case _:
            return SqsEndpoint(plain_handler(world, act), settings, **more)


def powertools(handler: Callable[[Message], None], processor: RecoverableBatchProcessor) -> Callable[[Any, Any], Any]:
    """Return a function written with Powertools' batch processing."""

    def record_handler(record: Any, message: Message) -> None:
        handler(message)

    return lambda event, context: process_partial_response(event, record_handler, processor, context)


def plain_handler(world: SqsWorld, act: Act) -> Callable[[Message], None]:
    """Return a handler that does what each message says."""

    def handle(message: Message) -> None:
        what, seconds = act(message)
        end_badly(what, world)
        world.spend(seconds)

    return handle


def coroutine_handler(world: SqsWorld, act: Act) -> Callable[[Message], Coroutine[Any, Any, None]]:
    """Return a coroutine that does what each message says, once those beside it have started."""

    async def handle(message: Message) -> None:
        what, seconds = act(message)
        await asyncio.sleep(0)
        end_badly(what, world)
        if what == "blocks":
            world.spend(BLOCKED)
        await asyncio.sleep(seconds)

    return handle


def end_badly(what: str, world: SqsWorld) -> None:
    """End the process, or fail, or neither."""
    if what == "kills":
        world.kill()
    if what == "fails":
        raise ValueError("no")
