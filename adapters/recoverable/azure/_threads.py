"""Limit the time of plain handlers: each runs in a thread of its own, and is left behind in it when it takes longer, because nothing can stop it."""

from __future__ import annotations

import logging
from contextvars import copy_context
from functools import partial
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any

from recoverable._errors import TimeUp
from recoverable._ladder.delivery import delivery_of
from recoverable._observe.log import log_safely

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from recoverable._message import Message
    from recoverable.hosting import Environment

MOST_LEFT_BEHIND = 4
"""Threads of a process that may be left behind. With more of them an attempt waits, and `functionTimeout` ends the process."""

log = logging.getLogger("recoverable.settlement")


class Threads:
    """The threads of a process in which handlers run whose time is limited."""

    def __init__(self) -> None:
        self._changed, self._left_behind = Condition(), set[Any]()

    def call(self, seconds: float, function: Callable[[], Any]) -> Any:
        """Call a function in a thread of its own, which gets the current context; return its result, or raise what it raised.

        Args:
            seconds: for how long it may run.
            function: the function.

        Raises:
            TimeUp: it has not ended. Its thread is left behind; where there are four already, this waits for one of them,
                or for the function.
        """
        from concurrent.futures import Future  # noqa: PLC0415  # dear at cold start

        future = Future[Any]()
        Thread(target=copy_context().run, args=(self._run, function, future), daemon=True).start()
        with self._changed:
            if not self._changed.wait_for(future.done, seconds):
                self._changed.wait_for(lambda: future.done() or len(self._left_behind) < MOST_LEFT_BEHIND)
            if not future.done():
                self._left_behind.add(future)
                raise TimeUp
        return future.result()

    def _run(self, function: Callable[[], Any], future: Future[Any]) -> None:
        try:
            future.set_result(function())
        except BaseException as error:  # noqa: BLE001  # raised by `call`; nobody hears of it once the thread is left behind
            future.set_exception(error)
        with self._changed:
            self._left_behind.discard(future)
            self._changed.notify_all()


THREADS = Threads()


def limited(handler: Callable[[Message], Any], seconds: float, environment: Environment) -> Callable[[Message], Any]:
    """Return a handler that ends after so many seconds with `TimeUp`, whatever the plain one does.

    Args:
        handler: the user's function.
        seconds: for how long it may run.
        environment: calls it in virtual time, if a test brings that.
    """
    call = environment.call_handler_within or THREADS.call

    def handle(message: Message) -> Any:
        try:
            return call(seconds, partial(named, handler, message))
        except TimeUp:
            delivery_of(message).leave_behind()
            log_left_behind(message, seconds)
            raise

    return handle


def log_left_behind(message: Message, seconds: float) -> None:
    """Log that a handler goes on in its thread."""
    text = (
        "A handler for message '%s' from '%s' has not ended after %g s, and cannot be stopped. Its thread is left behind, and its "
        "message is retried by a copy. Give the calls in the handler time-outs of their own."
    )
    extra = {"message_ids": [message.id], "queue": message.queue}
    log_safely(log.error, text, message.id, message.queue, seconds, extra=extra)


def named(handler: Callable[[Message], Any], message: Message) -> Any:
    """Call the handler in this thread; what it logs is of the invocation for the Functions worker too, which looks in the thread."""
    storage = getattr(message.context, "thread_local_storage", None)
    if storage is not None:
        storage.invocation_id = message.context.invocation_id
    return handler(message)
