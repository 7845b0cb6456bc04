"""Report an invocation once all of it is settled, where somebody observes: spans and metrics, then callbacks."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from recoverable._flow.flow import drive
from recoverable._limits import NO_DELAY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator

    from recoverable._flow.flow import Flow, Steps
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery
    from recoverable._ladder.faults import Redact
    from recoverable._message import Message
    from recoverable._observe.observer import Note, Observer

    Interruption: TypeAlias = KeyboardInterrupt | SystemExit


NAMES = {
    "immediate_retry": "on_immediate_retry",
    "delayed_retry": "on_delayed_retry",
    "move_to_error": "on_error",
    "discard": "on_discard",
}
"""The callback for each action."""

LAST_MOMENT = timedelta(milliseconds=200)
"""The part of Lambda's time that is left for its answer."""


class RedactedFailure(Exception):
    """Raised to the host in place of an exception whose text the redactor may change; the text begins with that one's type."""


def emit_after_batch(observer: Observer, invocation: Invocation, unfinished: list[Delivery]) -> None:
    """Report the outcome of a batch of SQS.

    Args:
        observer: has collected what happened.
        invocation: the invocation; its interruption is replaced by one that the host may see.
        unfinished: the messages that SQS must deliver again.
    """
    drive(emit(observer, invocation, unfinished), no_handler, invocation.deadline)
    if invocation.interruption is not None:
        invocation.interruption = interruption_for_host(invocation.interruption, observer.settings.redact)


def no_handler(message: Message) -> None:
    """Raise: the steps of `emit` run no handler."""
    raise AssertionError(message.id)


def emit_after(steps: Flow, observer: Observer, invocation: Invocation, deliveries: list[Delivery]) -> Flow:
    """Do all steps of a function that settles by returning or raising, and report the outcome.

    Return what the flow raised, or what the host may see of it, for a caller to raise it: crash reporters read the local variables of each
    frame that an exception passes, and those of this flow hold the original.

    Args:
        steps: the flow.
        observer: collects what happens.
        invocation: the invocation.
        deliveries: all of its messages.
    """
    failure: Exception | None = None
    interruption: Interruption | None = None
    try:
        yield from steps
    except Exception as error:  # noqa: BLE001  # returned below
        failure = error
    except (KeyboardInterrupt, SystemExit) as error:
        interruption = error
    if interruption is not None:
        observer.end_spans([])
        return interruption_for_host(interruption, observer.settings.redact)
    yield from emit(observer, invocation, deliveries if failure is not None else [])
    return failure and failure_for_host(failure, observer.settings.redact)


def emit(observer: Observer, invocation: Invocation, unfinished: Collection[Delivery]) -> Steps:
    """Report the outcome of an invocation: spans, metrics, then callbacks.

    Args:
        observer: has collected what happened.
        invocation: the invocation.
        unfinished: the messages that the broker delivers again.
    """
    limited = None if invocation.limiter is None else invocation.limiter.is_limited
    done = observer.report(unfinished, invocation.settlement_of, rate_limited=limited)
    if not observer.notes:
        return
    for call in callbacks(observer, done):
        coroutine = yield call
        if coroutine is not None:  # `drive_async` has awaited it
            from recoverable._flow.event_loop import run_in_loop  # noqa: PLC0415  # asyncio, for coroutines alone

            run_in_loop(coroutine)


def cancelled_after(seconds: float, awaitable: Awaitable[Any]) -> Coroutine[Any, Any, Any]:
    """Return a coroutine that awaits to the end, and cancels when the time is up."""
    from recoverable._flow.event_loop import within  # noqa: PLC0415  # asyncio, for coroutines alone

    return within(seconds, awaitable)


def failure_for_host(error: Exception, redact: Redact | None) -> Exception:
    """Return what is raised to the host instead of an exception; the exception itself where there is no redactor."""
    if redact is None:
        return error
    from recoverable._ladder.faults import type_name  # noqa: PLC0415  # the failure side

    return RedactedFailure(f"{type_name(error)}: {redacted_message(error, redact)}")


def interruption_for_host(error: Interruption, redact: Redact | None) -> Interruption:
    """Return what is raised to the host instead of an interruption: one of its kind, with an exit code or the redacted text."""
    if redact is None:
        return error
    match error:
        case SystemExit(code=int() | None as code):
            return SystemExit(code)
        case SystemExit():
            return SystemExit(redacted_message(error, redact))
        case _:
            return KeyboardInterrupt(redacted_message(error, redact))


def redacted_message(error: BaseException, redact: Redact) -> str:
    """Return the exception's text as the redactor returns it."""
    from recoverable._ladder.faults import message_of, redacted  # noqa: PLC0415  # the failure side

    return redacted(message_of(error), redact)


def callbacks(observer: Observer, done: list[Note]) -> Iterator[Callable[[], Coroutine[Any, Any, None] | None]]:
    """Yield a function for each callback of a decision that was carried out, until the time for callbacks is over.

    The function calls the callback, and returns what is still to be awaited of it, or None.

    Args:
        observer: has the callbacks and the time.
        done: the decisions, in their order.
    """
    named = [(NAMES.get(note.facts.action, ""), note) for note in done]
    wanted = [(name, note) for name, note in named if getattr(observer.settings, name, None) is not None]
    ends = observer.clock() + time_for_callbacks(observer)
    for place, (name, note) in enumerate(wanted):
        left = ends - observer.clock()
        if left <= NO_DELAY:
            text = "No time is left for %d callbacks of this invocation. They are not called; their messages are settled. Raise Observe(callbacks_within), or do less in them."
            from recoverable._observe.log import log_safely, observe  # noqa: PLC0415  # the failure side

            log_safely(observe.warning, text, len(wanted) - place, redact=observer.settings.redact)
            return
        yield partial(call_back, observer, name, note, partial(cancelled_after, left.total_seconds()))


def time_for_callbacks(observer: Observer) -> timedelta:
    """Return the time for all callbacks of the invocation: as configured, and no more than it has left."""
    within = observer.settings.callbacks_within
    if observer.milliseconds_left is None:
        return within
    return min(within, timedelta(milliseconds=observer.milliseconds_left()) - LAST_MOMENT)


def call_back(
    observer: Observer, name: str, note: Note, in_time: Callable[[Awaitable[Any]], Awaitable[Any]]
) -> Coroutine[Any, Any, None] | None:
    """Call one callback, and log what it raises; return what is still to be awaited of it, or None.

    Args:
        observer: has the callback.
        name: its name in `Observe`.
        note: what it is called with.
        in_time: returns what awaits a coroutine until its time is up.
    """
    callback: Callable[..., Any] = getattr(observer.settings, name)
    try:
        result = callback(note.facts, note.message)
    except BaseException as error:  # noqa: BLE001  # logged; the message is settled, whatever a callback raises
        log_failed(observer, name, note, error)
        return None
    return await_callback(observer, name, note, in_time(result)) if hasattr(result, "__await__") else None


async def await_callback(observer: Observer, name: str, note: Note, result: Awaitable[Any]) -> None:
    """Await what a callback returned, and log what it raises."""
    try:
        await result
    except BaseException as error:  # noqa: BLE001  # logged; the message is settled, whatever a callback raises
        log_failed(observer, name, note, error)


def log_failed(observer: Observer, name: str, note: Note, error: BaseException) -> None:
    """Log that a callback raised, or was cancelled because its time was up."""
    from recoverable._observe.log import log_observing_failed  # noqa: PLC0415  # the failure side

    text = "Calling %s for message '%s' failed (%s). The message is settled all the same. Check the function in Observe(%s)."
    kind, redact = type(error).__name__, observer.settings.redact
    log_observing_failed(error, redact, text, name, note.facts.message_id, kind, name)
