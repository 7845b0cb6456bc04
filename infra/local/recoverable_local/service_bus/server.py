"""Listen on loopback and run the namespace's due actions, all in one thread."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import TypeVar

from recoverable_local.service_bus.amqp.types import MalformedError
from recoverable_local.service_bus.broker.agenda import Clock
from recoverable_local.service_bus.broker.namespace import Namespace
from recoverable_local.service_bus.faults import DroppedError, Faults
from recoverable_local.service_bus.links.connection import Connection

T = TypeVar("T")

_log = logging.getLogger(__name__)

_TIMEOUT = 60  # seconds; a call takes milliseconds, more only on a busy machine


class Server:
    """Serves a namespace.

    Args:
        namespace: The namespace to serve.
        faults: The planned faults.
        clock: The namespace's clock, in seconds since 1970.
    """

    def __init__(self, namespace: Namespace, faults: Faults, clock: Clock) -> None:
        self.namespace, self.faults, self._clock = namespace, faults, clock
        self._timer: asyncio.TimerHandle | None = None
        self.peers: set[Peer] = set()

    def start(self, host: str, port: int) -> int:
        """Start to listen, and return the port.

        Raises:
            OSError: The port is taken.
        """
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="service-bus", daemon=True)
        self._thread.start()
        try:
            return asyncio.run_coroutine_threadsafe(self._listen(host, port), self._loop).result(_TIMEOUT)
        except OSError:
            self._end()
            raise

    def stop(self) -> None:
        """Close all connections and stop listening."""
        asyncio.run_coroutine_threadsafe(self._hang_up(), self._loop).result(_TIMEOUT)
        self._end()

    def call(self, act: Callable[[], T]) -> T:
        """Run a function in the server's thread, which alone may use the namespace, and return its result."""

        async def acted() -> T:
            result = act()
            self.catch_up()
            return result

        return asyncio.run_coroutine_threadsafe(acted(), self._loop).result(_TIMEOUT)

    def catch_up(self) -> None:
        """Run all due actions, and set a timer for the next one."""
        self.namespace.tick()
        if self._timer is not None:
            self._timer.cancel()
        due = self.namespace.agenda.next_due()
        self._timer = None if due is None else self._loop.call_later(max(0.0, due - self._clock()), self.catch_up)

    def disable(self, path: str) -> None:
        """Disable an entity, and detach all links to it."""
        reason = self.namespace.disable(path)
        for peer in self.peers:
            peer.connection.detach(path, reason)

    def drop_connections(self) -> None:
        """Abort all connections without a close frame."""
        for peer in list(self.peers):
            peer.drop()

    async def _listen(self, host: str, port: int) -> int:
        self._server = await self._loop.create_server(lambda: Peer(self), host, port)
        listening: int = self._server.sockets[0].getsockname()[1]
        return listening

    async def _hang_up(self) -> None:
        self._server.close()
        self.drop_connections()
        if self._timer is not None:
            self._timer.cancel()
        await asyncio.sleep(0)  # lets the loop call `connection_lost` of the aborted connections

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_TIMEOUT)
        self._loop.close()


class Peer(asyncio.Protocol):
    """One client's socket; its bytes go to its Connection."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._beat: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Create the state of the connection."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.connection = Connection(
            self._server.namespace,
            self._server.faults,
            transport.write,
            lambda: asyncio.get_running_loop().call_soon(self.drop),
            transport.close,
        )
        self._server.peers.add(self)

    def data_received(self, data: bytes) -> None:
        """Run due actions first, then handle the received bytes."""
        self._server.namespace.tick()
        try:
            self.connection.receive(data)
        except DroppedError:
            self.drop()
        except MalformedError as error:
            _log.warning("A client sent bytes that are no AMQP 1.0. Its connection is closed: %s", error)
            self.drop()
        if self.connection.closed:
            self._transport.close()
        elif self._beat is None and self.connection.idle_time_out:
            self._keep_alive()
        self._server.catch_up()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- the name is asyncio's
        """Release all that the client held."""
        if self._beat is not None:
            self._beat.cancel()
        self.connection.lost()
        self._server.peers.discard(self)
        self._server.catch_up()

    def drop(self) -> None:
        """Abort the connection without a close frame."""
        self.connection.lost()
        self._transport.abort()

    def _keep_alive(self) -> None:
        self.connection.keep_alive()
        pause = (self.connection.idle_time_out or 0) / 2
        self._beat = asyncio.get_running_loop().call_later(pause, self._keep_alive)
