"""Serialize the calls to a WSGI application that is not thread-safe, such as moto's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

Wsgi = Callable[[dict[str, Any], Any], Iterable[bytes]]

RECEIVE = "AmazonSQS.ReceiveMessage"


class OneAtATime:
    """Passes on one call at a time, apart from some operations: a receive may wait for a message that another call sends.

    moto's queues are not thread-safe: a delete replaces the list of messages, and so loses messages that are sent at the same time and
    restores messages that are deleted at the same time.

    Args:
        application: The application to call.
        concurrent: The operations that do not wait for the lock.
    """

    def __init__(self, application: Wsgi, *, concurrent: frozenset[str] = frozenset({RECEIVE})) -> None:
        self._application, self._concurrent, self._lock = application, concurrent, Lock()

    def __call__(self, environment: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Pass on a request, and return the response."""
        if environment.get("HTTP_X_AMZ_TARGET") in self._concurrent:
            return self._application(environment, start_response)
        with self._lock:
            return list(self._application(environment, start_response))
