"""Check the settings of `serve` as Lambda does, and make the queues that an endpoint names."""

from __future__ import annotations

import inspect
from typing import Any

from recoverable import Recoverability
from recoverable_local.testing.aws.broker.broker import Broker
from recoverable_local.testing.aws.broker.queues import DAY, Redrive, Settings
from recoverable_local.testing.aws.functions.function import Handler
from recoverable_local.testing.aws.functions.mapping import MappingSettings

MAX_RECEIVES = 50
"""Receives before SQS itself moves a message to the error queue, as in our template; more for a longer ladder."""

MOST_RECEIVES = 1_000
"""The highest maxReceiveCount (SetQueueAttributes)."""

LARGEST_BATCH = 10_000
LARGEST_FIFO_BATCH = 10
LARGEST_UNWINDOWED_BATCH = 10
LONGEST_WINDOW = 300
LONGEST_TIMEOUT, LONGEST_MANAGED_TIMEOUT = 900, 5_400
MOST_INVOCATIONS = 1_000
"""Limits of event source mappings and functions (Lambda, "Amazon SQS event source mappings"; Lambda quotas)."""


def check_settings(
    settings: MappingSettings, timeout: float, *, fifo: bool, managed_instances: bool = False
) -> MappingSettings:
    """Return the settings, if Lambda accepts them.

    Raises:
        ValueError: it would not; says what to write instead.
    """
    largest = LARGEST_FIFO_BATCH if fifo else LARGEST_BATCH
    rules = {
        f"serve(batch_size) is {settings.batch_size}; write 1 to {largest}": 1 <= settings.batch_size <= largest,
        f"serve(batch_size) is {settings.batch_size}; batches of more than 10 need a window of 1 s or more": settings.batch_size
        <= LARGEST_UNWINDOWED_BATCH
        or settings.window >= 1,
        f"serve(window) is {settings.window:g} s; write 0 to {LONGEST_WINDOW}": 0 <= settings.window <= LONGEST_WINDOW,
        "serve(window) is not for FIFO queues; leave it out": not (fifo and settings.window),
        f"serve(concurrency) is {settings.concurrency}; write 1 to {MOST_INVOCATIONS}": 1
        <= settings.concurrency
        <= MOST_INVOCATIONS,
        f'serve(recursive_loop) is {settings.recursive_loop!r}; write "Terminate" or "Allow"': settings.recursive_loop
        in ("Terminate", "Allow"),
    }
    for problem, is_right in rules.items():
        if not is_right:
            raise ValueError(problem)
    check_timeout(timeout, LONGEST_MANAGED_TIMEOUT if managed_instances else LONGEST_TIMEOUT)
    return settings


def attempts_of(recoverability: Recoverability | None) -> int:
    """Return all attempts of a ladder; 0 where it is not known."""
    if recoverability is None:
        return 0
    return (recoverability.immediate.max_retries + 1) * (recoverability.delayed.max_retries + 1)


def check_timeout(timeout: float, longest: float = LONGEST_TIMEOUT) -> None:
    """Refuse a time-out that Lambda does not accept.

    Raises:
        ValueError: it would not.
    """
    if not 0 < timeout <= longest:
        raise ValueError(f"serve(timeout) is {timeout:g} s; write more than 0 and up to {longest:g}")


def check_handler(handler: Handler) -> None:
    """Refuse what Lambda could not call.

    Raises:
        TypeError: it is nothing to call, or does not take an event and a context.
    """
    if not callable(handler):
        raise TypeError(f"serve(handler) is {handler!r}; write your Lambda handler, such as SqsEndpoint(place_order)")
    try:
        inspect.signature(handler).bind({}, None)
    except TypeError as error:
        raise TypeError(
            f"serve(handler) cannot be called with an event and a context ({error}); write SqsEndpoint(place_order) for a function"
            " of a message, or a function of both"
        ) from None
    except ValueError:
        return  # a builtin tells no signature


def check_visibility(queue: Settings, timeout: float) -> None:
    """Refuse a queue that hides messages for a shorter time than the function may take.

    Raises:
        ValueError: it does not, and Lambda refuses such a mapping.
    """
    if queue.visibility_timeout < timeout:
        raise ValueError(
            f"the visibility timeout of {queue.name!r} is {queue.visibility_timeout:g} s, and the function's timeout {timeout:g} s;"
            f" write create_queue(..., visibility_timeout={6 * timeout:g}), six times the timeout; Lambda refuses less than the timeout itself"
        )


def recoverability_of(handler: Handler) -> Recoverability | None:
    """Return the settings of the endpoint that the handler is, or that decorators with `functools.wraps` have wrapped; None for others."""
    inner: Any = handler
    while not isinstance(getattr(inner, "recoverability", None), Recoverability):
        inner = getattr(inner, "__wrapped__", None)
        if inner is None:
            return None
    found: Recoverability = inner.recoverability
    return found


def make_queues(broker: Broker, name: str, handler: Handler, timeout: float, error_queue: str | None) -> None:
    """Make the queue and its error queue as our template has them, if they are missing.

    Args:
        broker: the broker.
        name: the queue's name.
        handler: what serves it.
        timeout: the function's time-out, in seconds.
        error_queue: the error queue; None for that of the endpoint, if the handler is one.
    """
    recoverability = recoverability_of(handler)
    error_queue = error_queue or (recoverability.failed.error_queue if recoverability else None)
    redrive = None
    if error_queue and not error_queue.startswith(("arn:", "http")):
        after = min(max(MAX_RECEIVES, attempts_of(recoverability) + 10), MOST_RECEIVES)
        is_neighbour = error_queue != name and error_queue.endswith(".fifo") == name.endswith(".fifo")
        redrive = Redrive(to=error_queue, after=after) if is_neighbour else None
        if error_queue not in broker.queues:
            broker.create(Settings(name=error_queue, retention=14 * DAY))
    if name not in broker.queues:
        broker.create(Settings(name=name, visibility_timeout=6 * timeout, redrive=redrive))
