"""A WSGI application, such as moto's, that is given one call after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

Wsgi = Callable[[dict[str, Any], Any], Iterable[bytes]]

RECEIVE = "AmazonSQS.ReceiveMessage"


class OneAtATime:
    """Passes on one call at a time; but some beside the others: receives may wait for what another call sends.

    moto's queues are not safe from threads: a deletion writes the list of messages anew, without what is sent meanwhile and with what is
    deleted meanwhile.

    Args:
        application: What is called.
        beside: The operations that wait for no turn.
    """

    def __init__(self, application: Wsgi, *, beside: frozenset[str] = frozenset({RECEIVE})) -> None:
        self._application, self._beside, self._turn = application, beside, Lock()

    def __call__(self, environment: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer a request."""
        if environment.get("HTTP_X_AMZ_TARGET") in self._beside:
            return self._application(environment, start_response)
        with self._turn:
            return list(self._application(environment, start_response))
