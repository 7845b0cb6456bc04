"""Clients and journals that end with the process: at the n-th call, before or after it is done."""

from __future__ import annotations

from typing import Any

CALLS = frozenset(
    (
        "receive_message", "change_message_visibility_batch", "send_message_batch", "delete_message_batch",
        "peek_messages", "receive_messages", "send_messages", "complete_message", "abandon_message", "renew_message_lock",
        "find", "intend", "answer",
    )
)  # fmt: skip
"""The calls at which a process can end: to SQS, to Service Bus, and to the journal."""


class Killed(BaseException):
    """Raised at each call of a process that has ended."""


class Process:
    """A process that is killed at one of its calls.

    Args:
        at: the number of the call, from 1; 0 for never.
        after: True if the call is still done, and only its answer is lost.
    """

    def __init__(self, at: int = 0, *, after: bool = False) -> None:
        self._at, self._after, self.calls = at, after, 0

    def wrap(self, thing: Any) -> Any:
        """Return an object whose calls, and those of what it returns, are calls of this process."""
        return _Wrapped(thing, self)

    def call(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Make a call."""
        self.calls += 1
        if self._at and (self.calls > self._at or (self.calls == self._at and not self._after)):
            raise Killed
        result = function(*args, **kwargs)
        if self.calls == self._at:
            raise Killed
        return result


class _Wrapped:
    def __init__(self, thing: Any, process: Process) -> None:
        self._thing, self._process = thing, process

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._thing, name)
        if name in CALLS:
            return lambda *args, **kwargs: self._process.call(found, args, kwargs)
        if name in ("get_queue_receiver", "get_queue_sender"):
            return lambda *args, **kwargs: self._process.wrap(found(*args, **kwargs))
        return found

    def __enter__(self) -> Any:
        self._thing.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._thing.__exit__(*error)
