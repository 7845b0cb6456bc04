"""A Service Bus namespace from the outside: start, stop, look, set time forward, let things fail."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import timedelta

from recoverable_local.service_bus.broker.namespace import Namespace
from recoverable_local.service_bus.broker.profile import DEAD_LETTERS, STRANDED, SUBSCRIPTIONS
from recoverable_local.service_bus.broker.refusals import RefusedError
from recoverable_local.service_bus.broker.settings import Queue, Topic
from recoverable_local.service_bus.faults import Fault, Faults, Operation, Refuse
from recoverable_local.service_bus.server import Server
from recoverable_local.service_bus.views import QueueView


class MovableClock:
    """The namespace's time in seconds since 1970: the machine's, which a test can set forward."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def __call__(self) -> float:
        """What time it is."""
        return time.time() + self._ahead

    def advance(self, by: timedelta) -> None:
        """Make it later."""
        self._ahead += by.total_seconds()


class ServiceBusNamespace:
    """A Service Bus namespace for development and tests, on plain TCP.

        with ServiceBusNamespace(queues=[Queue("orders")]) as namespace:
            client = ServiceBusClient.from_connection_string(namespace.connection_string)

    Args:
        queues: The queues, or their names.
        topics: The topics with their subscriptions.
        host: Where it listens.
        port: On which port; any free one when 0.

    Raises:
        ValueError: Two entities have one name, or messages are forwarded to none.
    """

    def __init__(
        self,
        queues: Iterable[Queue | str] = (),
        topics: Iterable[Topic] = (),
        *,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        named = [Queue(each) if isinstance(each, str) else each for each in queues]
        self.host, self.port = host, port
        self._clock, self._faults = MovableClock(), Faults()
        self._namespace = Namespace(named, topics, clock=self._clock)
        self._server = Server(self._namespace, self._faults, self._clock)

    def __enter__(self) -> ServiceBusNamespace:
        """Listen.

        Raises:
            OSError: The port is taken.
        """
        self.port = self._server.start(self.host, self.port)
        return self

    def __exit__(self, *_: object) -> None:
        """End all connections."""
        self._server.stop()

    @property
    def connection_string(self) -> str:
        """With what the Azure SDKs connect; the key is not looked at."""
        return (
            f"Endpoint=sb://{self.host}:{self.port};SharedAccessKeyName=RootManageSharedAccessKey;"
            "SharedAccessKey=bm90LWxvb2tlZC1hdA==;UseDevelopmentEmulator=true;"
        )

    def queue(self, name: str) -> QueueView:
        """Look into a queue.

        Raises:
            KeyError: There is no queue of that name.
        """
        return self._view(name)

    def subscription(self, topic: str, name: str) -> QueueView:
        """Look into a topic's subscription.

        Raises:
            KeyError: There is none of that name.
        """
        return self._view(f"{topic}{SUBSCRIPTIONS}{name}")

    def advance(self, by: timedelta) -> None:
        """Set the namespace's time forward, and do what is due by then: locks end, scheduled messages come, messages expire."""
        self._server.call(lambda: self._clock.advance(by))

    def fail(
        self, operation: Operation, fault: Fault | None = None, *, path: str | None = None, times: int | None = 1
    ) -> None:
        """Let an operation go wrong.

        Args:
            operation: Which one.
            fault: How; refused as by a busy server when None.
            path: On which entity; on any when None.
            times: How often; until `heal` when None.
        """
        self._server.call(lambda: self._faults.plan(operation, fault or Refuse(), path=path, times=times))

    def heal(self) -> None:
        """Let nothing go wrong any more."""
        self._server.call(self._faults.clear)

    def drop_connections(self) -> None:
        """End all connections without a word."""
        self._server.call(self._server.drop_connections)

    def _view(self, path: str) -> QueueView:
        try:
            entity, dead, stranded = (self._namespace.find(path + part) for part in ("", DEAD_LETTERS, STRANDED))
        except RefusedError as refused:
            known = sorted(each.profile.path for each in self._namespace.entities())
            raise KeyError(f"{path!r} is neither a queue nor a subscription here; there are {known}") from refused
        return QueueView(entity, dead, stranded, self._server.call)
