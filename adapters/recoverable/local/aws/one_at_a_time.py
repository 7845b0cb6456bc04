"""A WSGI application, such as moto's, that is given one call after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

Wsgi = Callable[[dict[str, Any], Any], Iterable[bytes]]

_WAITS = "AmazonSQS.ReceiveMessage"


class OneAtATime:
    """Passes on one call at a time; but receives, which may wait for what another call sends, beside the others.

    moto's queues are not safe from threads: a deletion writes the list of messages anew, without what is sent meanwhile and with what is
    deleted meanwhile.

    Args:
        application: What is called.
    """

    def __init__(self, application: Wsgi) -> None:
        self._application, self._turn = application, Lock()

    def __call__(self, environment: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer a request."""
        if environment.get("HTTP_X_AMZ_TARGET") == _WAITS:
            return self._application(environment, start_response)
        with self._turn:
            return list(self._application(environment, start_response))
