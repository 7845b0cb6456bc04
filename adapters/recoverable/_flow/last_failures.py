"""Remember how the last attempt of each message failed, for a later delivery whose handler does not run. Forgetting one costs a reason, no message."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from recoverable._ladder.last_failure import LastFailure, remembered_headers

if TYPE_CHECKING:
    from recoverable._flow.invocation import Invocation
    from recoverable._ladder.delivery import Delivery

MOST_MESSAGES, MOST_BYTES = 1_000, 1_000_000
"""Messages, and bytes of their failures in all, that a process remembers; the oldest gives way."""


class LastFailures:
    """The last failure of each message that a process has had lately; its threads share it."""

    def __init__(self) -> None:
        self._lock, self._by_key, self._bytes = Lock(), dict[object, LastFailure](), 0

    def keep(self, key: object, failure: LastFailure) -> None:
        """Keep the failure in place of an earlier one of the message, and forget the oldest where there are too many."""
        with self._lock:
            self._forget(key)
            self._by_key[key] = failure
            self._bytes += bytes_of(failure)
            while len(self._by_key) > MOST_MESSAGES or self._bytes > MOST_BYTES:
                self._forget(next(iter(self._by_key)))

    def find(self, key: object, receives: int, *, ran: bool) -> LastFailure | None:
        """Return the last failure of a message, and note that its handler does not run at this delivery.

        Args:
            key: what the broker knows the message by.
            receives: how often it has been delivered; a failure at a later delivery is that of another message.
            ran: True if its handler ran all the same, and did not fail.
        """
        with self._lock:
            found = self._by_key.get(key)
            if found is None or found.delivery > receives:
                return None
            if not ran and found.settled == receives - 1:
                found = self._by_key[key] = found._replace(settled=receives)
            return found

    def _forget(self, key: object) -> None:
        if (failure := self._by_key.pop(key, None)) is not None:
            self._bytes -= bytes_of(failure)


def bytes_of(failure: LastFailure) -> int:
    """Return the bytes of what is remembered of a failure."""
    return sum(len(text.encode(errors="replace")) for text in failure.headers.values())


def remember(delivery: Delivery, failure: BaseException, invocation: Invocation) -> None:
    """Remember how an attempt failed."""
    if (key_of := invocation.platform.key_of) is not None:
        try:
            headers = remembered_headers(failure, now=invocation.clock(), redact=invocation.recoverability.redact)
        except Exception:  # noqa: BLE001  # such as of an exception with a trace that is none; its message goes on without a reason
            return
        memory_of(invocation).keep(key_of(delivery), LastFailure(headers, delivery.receives, delivery.receives))


def last_failure_of(delivery: Delivery, invocation: Invocation) -> LastFailure | None:
    """Return how an earlier attempt failed of a message that has not failed now; None where that is not remembered."""
    if (key_of := invocation.platform.key_of) is None:
        return None
    ran = delivery.unsent or delivery.error is not None  # which is no failure of the message
    return memory_of(invocation).find(key_of(delivery), delivery.receives, ran=ran)


def memory_of(invocation: Invocation) -> LastFailures:
    """Return what the process of an invocation remembers."""
    memory: LastFailures = invocation.environment.kept.setdefault(LastFailures, LastFailures())
    return memory
