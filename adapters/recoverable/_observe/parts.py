"""Call the extensions of an endpoint, each under one guard, which logs what they raise: they never touch a message."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from recoverable._limits import name_of
from recoverable._message import fetch_body
from recoverable._observe.log import exception_info, log_safely, observe
from recoverable.headers import is_reserved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from recoverable._ladder.faults import Redact
    from recoverable._message import Message
    from recoverable._observe.facts import Facts
    from recoverable.hosting import Batch

FAILED = object()
"""The answer of a call that raised."""

LOG_AGAIN = 60.0
"""Seconds after which what one method of an extension raises is logged again."""

RAISED = "%s of the extension %s failed (%s) for %s. %s Check the extension; the same is not logged again for a minute."
UNCHANGED = "The messages are settled as without it."
NOT_OPENED = "It takes no part in this invocation."
AS_IT_CAME = "The record is read as it came."
NAMED_TWICE = (
    "copy of the extension %s names the header '%s', which %s. The copy is sent without it. Name another header."
)


class Guard:
    """Calls methods of extensions; what one raises is logged, once a minute and method, and changes nothing about a message.

    SystemExit and KeyboardInterrupt pass.

    Args:
        redact: the user's redactor.
        clock: returns the time.
        kept: what the process keeps; when each method's failure was logged last.
    """

    def __init__(self, redact: Redact | None, clock: Callable[[], datetime], kept: dict[object, Any]) -> None:
        self.redact, self._clock, self._logged = redact, clock, kept.setdefault(Guard, {})

    def call(
        self, owner: object, method: str, function: Callable[..., Any], *args: Any,
        messages: Sequence[Message] = (), consequence: str = UNCHANGED,
    ) -> Any:  # fmt: skip
        """Call a function of an extension; return what it returns, or `FAILED` where it raised.

        Args:
            owner: the extension, or its part, for the log.
            method: the name of its method, for the log.
            function: what is called.
            args: what it gets.
            messages: those that the call is about, for the log.
            consequence: what the failure does to them, for the log.
        """
        try:
            return function(*args)
        except Exception as error:  # noqa: BLE001  # logged
            self.log(owner, method, error, messages, consequence)
            return FAILED

    def log(
        self,
        owner: object,
        method: str,
        error: BaseException,
        messages: Sequence[Message],
        consequence: str = UNCHANGED,
    ) -> None:
        """Log what a method of an extension raised, unless the same was logged within a minute."""
        name, now = type(owner).__qualname__, self._clock().timestamp()
        if 0 <= now - self._logged.get((name, method), -LOG_AGAIN) < LOG_AGAIN:
            return
        self._logged[name, method] = now
        ids = [message.id for message in messages]
        about = f"{len(ids)} messages" if len(ids) > 1 else f"message '{ids[0]}'" if ids else "an invocation"
        log_safely(
            observe.error, RAISED, method, name, type(error).__name__, about, consequence,
            exc_info=exception_info(error), extra={"message_ids": ids, "extension": name}, redact=self.redact,
        )  # fmt: skip


class Parts:
    """The parts that extensions take in one invocation, in the order in which the endpoint was given the extensions.

    Args:
        extensions: those of the endpoint, and of a test.
        guard: calls them.
    """

    def __init__(self, extensions: Sequence[Any], guard: Guard) -> None:
        self._extensions, self._guard, self._parts = extensions, guard, list[object]()

    def received(self, natives: Sequence[Any]) -> list[Any]:
        """Return the native records of the invocation as the extensions give them, before anything is read of them."""
        given = list(natives)
        for extension in self._extensions:
            if (receive := getattr(extension, "receive", None)) is not None:
                for n, native in enumerate(given):
                    answer = self._guard.call(extension, "receive", receive, native, consequence=AS_IT_CAME)
                    given[n] = native if answer is FAILED else answer
        return given

    def open(self, batch: Batch, with_headers: Sequence[Message]) -> None:
        """Have each extension take its part; one whose `open` raises takes none.

        Args:
            batch: the invocation's messages.
            with_headers: those of them whose body may be elsewhere.
        """
        for extension in self._extensions:
            if (begin := getattr(extension, "open", None)) is not None:
                part = self._guard.call(
                    extension, "open", begin, batch, messages=batch.messages, consequence=NOT_OPENED
                )
                if part is not None and part is not FAILED:
                    self._parts.append(part)
        for message in with_headers:
            if (fetch := self._body(message)) is not None:
                fetch_body(message, fetch)

    def hides_for(self) -> int:
        """Return for how many seconds at a time a part keeps the messages hidden; 0 where none does."""
        return max((getattr(part, "hides_for", 0) for part in self._parts), default=0)

    def _body(self, message: Message) -> Callable[[], bytes] | None:
        """Return what fetches a message's body, called at its first read; None where it is with the message."""
        for _, fetch in self._answers("body", message, messages=(message,), consequence="Its body is read as it came."):
            if fetch is not None:
                return fetch  # type: ignore[no-any-return]  # as the method's documentation says
        return None

    @contextmanager
    def attempt(self, messages: tuple[Message, ...]) -> Iterator[None]:
        """Surround one run of a handler with what each part opens for it; what raises is left out."""
        entered: list[tuple[object, Any]] = []
        for part, context in self._answers("attempt", messages, messages=messages):
            if context is not None and self._call(part, "attempt", context.__enter__, messages) is not FAILED:
                entered.append((part, context))
        try:
            yield
        finally:
            for part, context in reversed(entered):
                self._call(part, "attempt", context.__exit__, messages, None, None, None)

    def copy(self, message: Message, facts: Facts) -> dict[str, str]:
        """Return the headers that the parts give a copy; of two that name one the first wins, and none of ours can be named."""
        found: dict[str, str] = {}
        for part, more in self._answers("copy", message, facts, messages=(message,)):
            for name, value in (more or {}).items():
                if name in found or is_reserved(name):
                    why = "is this package's own" if is_reserved(name) else "another extension gives it too"
                    log_safely(
                        observe.error, NAMED_TWICE, type(part).__qualname__, name, why, redact=self._guard.redact
                    )
                else:
                    found[name] = value
        return found

    def decided(self, facts: Facts, message: Message) -> None:
        """Tell the parts what was decided."""
        self._tell("decided", facts, message, messages=(message,))

    def deletes(self, message: Message) -> bool:
        """True if a part wants a message that succeeded to be deleted here."""
        return any(answer is True for _, answer in self._answers("deletes", message, messages=(message,)))

    def completing(self, messages: Sequence[Message]) -> None:
        """Tell the parts which messages succeeded, before these are completed."""
        self._tell("completing", messages, messages=messages)

    def release(self, messages: Sequence[Message]) -> None:
        """Have the parts touch these no more, for a call to the broker settles them."""
        self._tell("release", messages, messages=messages)

    def settled(self, outcomes: Sequence[object]) -> Iterator[Callable[[], Any]]:
        """Tell the parts what became of the messages; yield what they want to be called for that, which may return an awaitable."""
        for part, calls in self._answers("settled", outcomes):
            yield from self._guarded(part, calls or ())

    def _guarded(self, part: object, calls: Iterable[Callable[[], Any]]) -> Iterator[Callable[[], Any]]:
        calling = iter(calls)
        while (call := self._call(part, "settled", next, (), calling, None)) is not None and call is not FAILED:
            yield partial(self._run, part, call)

    def _run(self, part: object, call: Callable[[], Any]) -> Any:
        return self._awaited(part, self._call(part, "settled", call, ()))

    def _awaited(self, part: object, answer: Any) -> Any:
        """Return a coroutine that awaits what a part returned, and logs what that raises; None where there is nothing to await."""
        if answer is FAILED or not hasattr(answer, "__await__"):
            return None

        async def done() -> None:
            try:
                await answer
            except Exception as error:  # noqa: BLE001  # logged
                self._guard.log(part, "settled", error, ())

        return done()

    def close(self) -> None:
        """Close the parts, the last one first."""
        for part in reversed(self._parts):
            if (close := getattr(part, "close", None)) is not None:
                self._call(part, "close", close, ())

    def _tell(self, method: str, *args: Any, messages: Sequence[Message] = ()) -> None:
        for _ in self._answers(method, *args, messages=messages):
            pass

    def _answers(
        self, method: str, *args: Any, messages: Sequence[Message] = (), consequence: str = UNCHANGED
    ) -> Iterator[tuple[object, Any]]:
        """Call a method of each part that has it; yield the parts with their answers, those left out that raised."""
        for part in self._parts:
            if (function := getattr(part, method, None)) is not None:
                answer = self._guard.call(part, method, function, *args, messages=messages, consequence=consequence)
                if answer is not FAILED:
                    yield part, answer

    def _call(
        self, part: object, method: str, function: Callable[..., Any], messages: Sequence[Message], *args: Any
    ) -> Any:
        return self._guard.call(part, method, function, *args, messages=messages)


METHODS = ("prepare", "receive", "open")


def prepare(extensions: object, setup: Any) -> None:
    """Have each extension check that it can serve an endpoint.

    Raises:
        TypeError: no tuple of extensions: a class in place of an object, or one without any of an extension's methods.
        ValueError: an extension refuses the endpoint.
    """
    owner = setup.owner
    if not isinstance(extensions, tuple):
        raise TypeError(
            f"{owner}(extensions) is {extensions!r}; write a tuple, such as (Heartbeat(timedelta(minutes=2)),)"
        )
    for extension in extensions:
        if isinstance(extension, type):
            raise TypeError(
                f"{owner}(extensions) has the class {name_of(extension)}; write an object of it: {name_of(extension)}(...)"
            )
        if not any(hasattr(extension, method) for method in METHODS):
            raise TypeError(
                f"{owner}(extensions) has {extension!r}, which has none of the methods {', '.join(METHODS)}"
            )
        if (check := getattr(extension, "prepare", None)) is not None:
            check(setup)
