"""Run a function as its worker does: decode the trigger's data, call the user's function, report how it ended."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import Any

from recoverable._service_bus.senders import Broker
from recoverable.hosting import Deadline, Environment, current_environment, is_coroutine_function
from recoverable_local.testing.azure.app import TriggeredFunction
from recoverable_local.testing.azure.attempts import Attempts
from recoverable_local.testing.azure.broker.register import broker_id
from recoverable_local.testing.azure.host.context import Context
from recoverable_local.testing.azure.host.listener import Locked
from recoverable_local.testing.azure.host.trigger import decode_trigger
from recoverable_local.testing.engine.invocation import Invocation, ProcessEnded, current_invocation, one_line
from recoverable_local.testing.engine.shared_state import SharedState
from recoverable_local.testing.faults import TimedOut

log = logging.getLogger("recoverable_local.testing")


def run(
    function: TriggeredFunction, batch: Sequence[Locked], invocation: Invocation, client: Broker, world: SharedState,
    lock_renewal: float,
) -> str:  # fmt: skip
    """Call the function on a batch; return how it failed, or "" when it returned.

    Args:
        function: the function.
        batch: one message, or many.
        invocation: the invocation.
        client: what endpoints in its process get instead of the SDK's client.
        world: what the functions of the world share.
        lock_renewal: for how many seconds the host renews locks.
    """
    environment = environment_for(batch, invocation, client, world)
    environment.lock_renewal = lock_renewal
    tokens = current_invocation.set(invocation), current_environment.set(environment)
    invocation.watch()
    try:
        return run_with_faults(function, batch, invocation, world)
    finally:
        invocation.rest()
        current_invocation.reset(tokens[0])
        current_environment.reset(tokens[1])


def run_with_faults(
    function: TriggeredFunction, batch: Sequence[Locked], invocation: Invocation, world: SharedState
) -> str:
    """Call the function with the faults before and after it; return how it failed, or ""."""
    fault_plan, ids = world.fault_plan, invocation.message_ids
    try:
        invocation.apply_fault(fault_plan.fault_at("before", "invoke", invocation.queue, ids, invocation.number))
        call_function(function, batch, invocation)
        invocation.apply_fault(fault_plan.fault_at("after", "invoke", invocation.queue, ids, invocation.number))
    except ProcessEnded:
        pass  # reported below, as for a handler that has swallowed it
    except KeyboardInterrupt:
        raise  # the user stops the test run
    except SystemExit as error:
        exit_process(invocation, error)
    except BaseException as error:  # the worker reports most of them, and the host abandons
        log.warning("Invocation %d of '%s' failed:", invocation.number, function.name, exc_info=error)
        if isinstance(error, Exception):  # the worker catches nothing else
            return one_line(error)
        hang(invocation)
    return invocation.ended


def hang(invocation: Invocation) -> None:
    """Let time pass until the function's time-out, when the process is killed."""
    with suppress(ProcessEnded):
        invocation.apply_fault(TimedOut())


def exit_process(invocation: Invocation, error: SystemExit) -> None:
    """End the process with the function's exit code."""
    with suppress(ProcessEnded):
        invocation.die(f"exited with {error.code or 0}")


def call_function(function: TriggeredFunction, batch: Sequence[Locked], invocation: Invocation) -> None:
    """Call the function as the worker does; without an output binding, it accepts no result."""
    arguments: dict[str, Any] = {
        function.argument: decode_trigger([locked.wire for locked in batch], binary=function.binary, many=function.many)
    }
    if function.context:
        arguments["context"] = Context(function, invocation.number)
    result = function.call(**arguments)
    if is_coroutine_function(function.call):
        result = invocation.instance.runner().run(result, context=copy_context())
    if result is not None:
        raise RuntimeError(f"function {function.name!r} without a $return binding returned a value")


def environment_for(batch: Sequence[Locked], invocation: Invocation, client: Broker, world: SharedState) -> Environment:
    """Return the environment of the endpoints in this invocation."""
    slot = invocation.instance
    slot.spend = invocation.spend
    numbered = {each.message.sequence_number: broker_id(each.message.content) for each in batch}
    attempts = Attempts(invocation, numbered, world.fault_plan, world.journal)
    environment = Environment(
        client,
        lambda: world.now() + slot.skew,
        Deadline,
        slot.runner,
        attempts.wrap_handler,
        slot.kept,
        sleep=invocation.spend,
        call_handler_within=invocation.call_within,
        seconds=world.seconds,
    )
    environment.function_timeout = invocation.timeout
    return environment
