"""Start and stop a Service Bus namespace, inspect it, advance its time, and inject faults."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import timedelta

from recoverable_local.service_bus.broker.namespace import Namespace
from recoverable_local.service_bus.broker.profile import DEAD_LETTERS, SUBSCRIPTIONS, TRANSFER_DEAD_LETTERS
from recoverable_local.service_bus.broker.refusals import RefusedError
from recoverable_local.service_bus.broker.settings import Queue, Topic
from recoverable_local.service_bus.faults import Fault, Faults, Operation, Refuse
from recoverable_local.service_bus.server import Server
from recoverable_local.service_bus.views import QueueView


class MovableClock:
    """The namespace's clock, in seconds since 1970: the machine's, which a test can advance."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return time.time() + self._ahead

    def advance(self, by: timedelta) -> None:
        """Set the clock forward."""
        self._ahead += by.total_seconds()


class ServiceBusNamespace:
    """A Service Bus namespace for development and tests, on plain TCP.

        with ServiceBusNamespace(queues=[Queue("orders")]) as namespace:
            client = ServiceBusClient.from_connection_string(namespace.connection_string)

    Args:
        queues: The queues, or their names.
        topics: The topics with their subscriptions.
        host: The address to listen on.
        port: The port to listen on; 0 means any free port.

    Raises:
        ValueError: Two entities have the same name, or a forwarding target does not exist.
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
        """Start to listen.

        Raises:
            OSError: The port is taken.
        """
        self.port = self._server.start(self.host, self.port)
        return self

    def __exit__(self, *_: object) -> None:
        """Close all connections and stop listening."""
        self._server.stop()

    @property
    def connection_string(self) -> str:
        """Return the connection string for the Azure SDKs; the key is not checked."""
        return (
            f"Endpoint=sb://{self.host}:{self.port};SharedAccessKeyName=RootManageSharedAccessKey;"
            "SharedAccessKey=bm90LWxvb2tlZC1hdA==;UseDevelopmentEmulator=true;"
        )

    def queue(self, name: str) -> QueueView:
        """Return a view of a queue.

        Raises:
            KeyError: A name that no queue has.
        """
        return self._view(name)

    def subscription(self, topic: str, name: str) -> QueueView:
        """Return a view of a topic's subscription.

        Raises:
            KeyError: A name that no subscription has.
        """
        return self._view(f"{topic}{SUBSCRIPTIONS}{name}")

    def advance(self, by: timedelta) -> None:
        """Advance the namespace's time, and run what is then due: locks expire, scheduled messages become active, messages expire."""
        self._server.call(lambda: self._clock.advance(by))

    def fail(
        self, operation: Operation, fault: Fault | None = None, *, path: str | None = None, times: int | None = 1
    ) -> None:
        """Plan a fault for an operation.

        Args:
            operation: The operation that fails.
            fault: How it fails; None refuses it with the condition server-busy.
            path: The entity on which it fails; None for any.
            times: How often it fails; None until `heal` is called.
        """
        self._server.call(lambda: self._faults.plan(operation, fault or Refuse(), path=path, times=times))

    def heal(self) -> None:
        """Remove all planned faults."""
        self._server.call(self._faults.clear)

    def disable(self, path: str) -> None:
        """Disable a queue, a topic or a subscription: open links to it end, and nobody opens another until `enable`.

        Raises:
            RefusedError: A path without queue, topic or subscription.
        """
        self._server.call(lambda: self._server.disable(path))

    def enable(self, path: str) -> None:
        """Enable an entity that was disabled."""
        self._server.call(lambda: self._namespace.enable(path))

    def drop_connections(self) -> None:
        """Abort all connections without a close frame."""
        self._server.call(self._server.drop_connections)

    def _view(self, path: str) -> QueueView:
        try:
            entity, dead, stranded = (
                self._namespace.find(path + part) for part in ("", DEAD_LETTERS, TRANSFER_DEAD_LETTERS)
            )
        except RefusedError as refused:
            existing = sorted(each.profile.path for each in self._namespace.entities())
            raise KeyError(f"{path!r} is neither a queue nor a subscription here; there are {existing}") from refused
        return QueueView(entity, dead, stranded, self._server.call)
