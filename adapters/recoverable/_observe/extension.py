"""Define what an extension of an endpoint is: what it is asked when the endpoint is made, and the part that it takes in each invocation."""

from __future__ import annotations

from contextvars import copy_context
from threading import Timer
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime, timedelta

    from recoverable._config import Recoverability
    from recoverable._message import Message
    from recoverable._observe.facts import Facts, Outcome


class Setup(NamedTuple):
    """The endpoint that an extension is given to.

    Args:
        cloud: "aws" or "azure".
        owner: the name of the endpoint's class, for errors.
        recoverability: the settings, the error queue resolved.
        settle_within: the part of an invocation's time that is kept for settling; None where none is (Azure).
        extensions: all of the endpoint's, in their order.
    """

    cloud: Literal["aws", "azure"]
    owner: str
    recoverability: Recoverability
    settle_within: timedelta | None
    extensions: tuple[object, ...]


class Hidden(NamedTuple):
    """The answer to `Batch.change_visibility`.

    Args:
        gone: the messages that the queue hides no more, whatever is tried.
        fails: True if the call failed as a whole, so that others would fail too.
    """

    gone: list[Message]
    fails: bool


class Batch(NamedTuple):
    """The messages of one invocation, as an extension sees them.

    Args:
        cloud: "aws" or "azure".
        queue: the name of the queue that they came from.
        messages: the messages, as their handlers get them the first time.
        request_id: the host's id of the invocation; "" where it gave none.
        redact: the user's redactor; None without one.
        clock: returns the time.
        time_left: returns the seconds that the invocation has left; many where nothing says it.
        settle_within: seconds of these that are kept for settling.
        is_limited: returns True while the rate is limited; None where nothing limits it.
        client_for: returns the SDK's client for a queue, given its name (or ARN), and the queue's address for it: the URL on
            SQS, the name on Service Bus.
        call_within: makes a call that may take so many seconds, and returns its result; TimeoutError where it takes longer.
        change_visibility: hides messages for so many seconds from now, ten at most; on SQS alone. It may be called beside
            the handlers; what fails is logged.
        later: calls a function after so many seconds, beside the handlers, and returns a function that cancels that.
        sleep: waits for so many seconds.
    """

    cloud: Literal["aws", "azure"]
    queue: str
    messages: Sequence[Message]
    request_id: str
    redact: Callable[[str], str] | None
    clock: Callable[[], datetime]
    time_left: Callable[[], float]
    settle_within: float
    is_limited: Callable[[], bool | None]
    client_for: Callable[[str], tuple[Any, str]]
    call_within: Callable[[float, Callable[[], Any]], Any]
    change_visibility: Callable[[Sequence[Message], int], Hidden]
    later: Callable[[float, Callable[[], None]], Callable[[], None]]
    sleep: Callable[[float], None]


class Part:
    """The part that an extension takes in one invocation; each method may be left out, and so may this base.

    An exception of a method is logged, and changes nothing about any message, unless it says otherwise.
    """

    hides_for = 0
    """Seconds for which it keeps the messages hidden at a time; 0 where it does not."""

    def body(self, message: Message) -> Callable[[], bytes] | None:
        """Return what fetches the body of a message that has headers or attributes; it is called at the first read, and what it raises is the handler's."""

    def attempt(self, messages: tuple[Message, ...]) -> AbstractContextManager[object] | None:
        """Surround one run of the handler, in its thread, task and context."""

    def copy(self, message: Message, facts: Facts) -> Mapping[str, str] | None:
        """Return headers for a copy that is made of a message, a retry or an error copy; none that this package writes."""

    def decided(self, facts: Facts, message: Message) -> None:
        """Hear of a decision when it is made."""

    def deletes(self, message: Message) -> bool:  # noqa: ARG002  # an extension's own uses it
        """Return True to have a message that succeeded deleted here, and not by the event source mapping (SQS)."""
        return False

    def completing(self, messages: Sequence[Message]) -> None:
        """Hear of messages that succeeded, whose outgoing messages were taken, before they are completed; it may come again after a death."""

    def release(self, messages: Sequence[Message]) -> None:
        """Touch these no more: the next call to the broker settles them."""

    def settled(self, outcomes: Sequence[Outcome]) -> Iterable[Callable[[], object]] | None:
        """Hear what became of each decision and success, once all is settled; what it returns is called one by one, and may return an awaitable."""

    def close(self) -> None:
        """End, whatever happened."""


class Extension:
    """An extension of an endpoint, given in `extensions=(…)`; each method may be left out, and so may this base. It changes with no invocation."""

    def prepare(self, setup: Setup) -> None:
        """Check that it can serve the endpoint; what it raises reaches whoever makes that."""

    def receive(self, native: Any) -> Any:
        """Return the native record of a message in place of the one that came, before anything is read of it."""
        return native

    def open(self, batch: Batch) -> object | None:
        """Return its part in an invocation, before the first handler runs; None to take none."""


def call_later(seconds: float, function: Callable[[], None]) -> Callable[[], None]:
    """Call a function after so many seconds, in a thread that does not hold up the end of the process; return a function that cancels that."""
    timer = Timer(seconds, copy_context().run, args=(function,))
    timer.name, timer.daemon = "recoverable-later", True
    timer.start()
    return timer.cancel
