"""Call the user's callbacks, once each message is settled: at most once, within a time, and without harm."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from recoverable._limits import NO_DELAY
from recoverable._observe.log import log_observing_failed, log_safely, observe

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator

    from recoverable._observe.observer import Note, Observer

    CancelledAfter: TypeAlias = Callable[[float, Awaitable[Any]], Coroutine[Any, Any, Any]]

NAMES = {
    "immediate_retry": "on_immediate_retry",
    "delayed_retry": "on_delayed_retry",
    "move_to_error": "on_error",
    "discard": "on_discard",
}
"""The callback for each action."""

LAST_MOMENT = timedelta(milliseconds=200)
"""The part of Lambda's time that is left for its answer."""


def callbacks(
    observer: Observer, done: list[Note], cancelled_after: CancelledAfter
) -> Iterator[Callable[[], Coroutine[Any, Any, None] | None]]:
    """Yield a function for each callback of a decision that was carried out, until the time for callbacks is over.

    The function calls the callback, and returns what is still to be awaited of it, or None.

    Args:
        observer: has the callbacks and the time.
        done: the decisions, in their order.
        cancelled_after: returns a coroutine that awaits for at most so many seconds.
    """
    named = [(NAMES.get(note.facts.action, ""), note) for note in done]
    wanted = [(name, note) for name, note in named if getattr(observer.settings, name, None) is not None]
    ends = observer.clock() + time_for_callbacks(observer)
    for place, (name, note) in enumerate(wanted):
        left = ends - observer.clock()
        if left <= NO_DELAY:
            text = "No time is left for %d callbacks of this invocation. They are not called; their messages are settled. Raise Observe(callbacks_within), or do less in them."
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
    text = "Calling %s for message '%s' failed (%s). The message is settled all the same. Check the function in Observe(%s)."
    kind, redact = type(error).__name__, observer.settings.redact
    log_observing_failed(error, redact, text, name, note.facts.message_id, kind, name)
