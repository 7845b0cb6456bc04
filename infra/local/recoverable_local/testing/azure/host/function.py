"""A function as its worker runs it: the trigger's data decoded, the user's function called, and how that ended."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import Any

from recoverable.attempts.deadline import Deadline
from recoverable.attempts.handlers import is_coroutine_function
from recoverable.environment import Environment, current_environment
from recoverable_local.testing.azure.app import Triggered
from recoverable_local.testing.azure.attempts import Attempts
from recoverable_local.testing.azure.broker.register import broker_id
from recoverable_local.testing.azure.host.context import Context
from recoverable_local.testing.azure.host.listener import Locked
from recoverable_local.testing.azure.host.trigger import decoded
from recoverable_local.testing.azure.sdk.sending import Client
from recoverable_local.testing.engine.invocation import Invocation, ProcessEnded, current_invocation
from recoverable_local.testing.engine.surroundings import Surroundings
from recoverable_local.testing.faults import TimedOut

log = logging.getLogger("recoverable_local.testing")


def run(
    function: Triggered, batch: Sequence[Locked], invocation: Invocation, client: Client, world: Surroundings
) -> str:
    """Call the function on a batch; gives how it failed, nothing when it returned.

    Args:
        function: the function.
        batch: one message, or many.
        invocation: what it runs in.
        client: of its process.
        world: all around.
    """
    tokens = (
        current_invocation.set(invocation),
        current_environment.set(endpoint_world(batch, invocation, client, world)),
    )
    try:
        return answered(function, batch, invocation, world)
    finally:
        current_invocation.reset(tokens[0])
        current_environment.reset(tokens[1])


def answered(function: Triggered, batch: Sequence[Locked], invocation: Invocation, world: Surroundings) -> str:
    """How the invocation failed, in between its faults; nothing when it did not."""
    misfortune, ids = world.misfortune, invocation.message_ids
    try:
        invocation.suffer(misfortune.at("before", "invoke", invocation.queue, ids, invocation.number))
        call(function, batch, invocation)
        invocation.suffer(misfortune.at("after", "invoke", invocation.queue, ids, invocation.number))
    except ProcessEnded:
        pass  # said below, as for a handler that has swallowed it
    except KeyboardInterrupt:
        raise  # somebody wants the test to stop
    except SystemExit as error:
        exit_process(invocation, error)
    except BaseException as error:  # the worker reports most of them, and the host abandons
        log.warning("Invocation %d of '%s' failed:", invocation.number, function.name, exc_info=error)
        if isinstance(error, Exception):  # the worker catches nothing else
            return f"{type(error).__name__}: {error}"
        hang(invocation)
    return invocation.ended


def hang(invocation: Invocation) -> None:
    """Say nothing until the function's time is over, and the process is killed for it."""
    with suppress(ProcessEnded):
        invocation.suffer(TimedOut())


def exit_process(invocation: Invocation, error: SystemExit) -> None:
    """End the process as the function wants it."""
    with suppress(ProcessEnded):
        invocation.die(f"exited with {error.code or 0}")


def call(function: Triggered, batch: Sequence[Locked], invocation: Invocation) -> None:
    """Call the function as the worker does, which takes no result without an output binding."""
    arguments: dict[str, Any] = {
        function.argument: decoded([locked.wire for locked in batch], binary=function.binary, many=function.many)
    }
    if function.context:
        arguments["context"] = Context(function, invocation.number)
    result = function.call(**arguments)
    if is_coroutine_function(function.call):
        result = invocation.instance.runner().run(result, context=copy_context())
    if result is not None:
        raise RuntimeError(f"function {function.name!r} without a $return binding returned a value")


def endpoint_world(batch: Sequence[Locked], invocation: Invocation, client: Client, world: Surroundings) -> Environment:
    """What endpoints in the invocation take from their surroundings."""
    slot = invocation.instance
    slot.spend = invocation.spend
    numbered = {each.message.sequence_number: broker_id(each.message.content) for each in batch}
    attempts = Attempts(invocation, numbered, world.misfortune, world.journal)
    return Environment(client, lambda: world.now() + slot.skew, Deadline, slot.runner, attempts.watched, slot.kept)
