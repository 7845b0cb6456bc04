"""Let a message fail after a quiet time, with the real SDK on the local namespace, and count what that costs.

Service Bus ends connections meanwhile, as it does in Azure.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic, perf_counter, time
from typing import Any, NamedTuple

from azure.core.credentials import AccessToken
from azure.servicebus import ServiceBusClient

from azure.triggers import trigger_message
from builders import Boom
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable._service_bus.clients import RESENDS
from recoverable._service_bus.senders import Broker
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.service_bus import ServiceBusNamespace

QUIET = tuple(timedelta(minutes=minutes) for minutes in (1, 6, 11, 61))
SILENT, IDLE = timedelta(minutes=4), timedelta(minutes=10)
"""After so long Azure ends a connection on which the client says nothing, and a link that nobody uses. The local namespace ends the link
and then the connection by itself, and leaves the first to `drop_connections`."""


class Cost(NamedTuple):
    """The cost of the first failing message: runs of its handler, copies of it, connections that were opened, and seconds."""

    runs: int
    copies: int
    connections: int
    seconds: float


class Credential:
    """A credential by identity; the namespace believes each token until it expires."""

    def get_token(self, *_: str, **__: Any) -> AccessToken:
        """Return a token for an hour."""
        return AccessToken("token", int(time()) + 3600)


@contextmanager
def connected(namespace: ServiceBusNamespace, *, identity: bool) -> Iterator[Any]:
    """Yield a client as the package makes its own, by a connection string or by identity."""
    client = (
        ServiceBusClient(f"{namespace.host}:{namespace.port}", Credential(), use_tls=False, retry_total=RESENDS)
        if identity
        else ServiceBusClient.from_connection_string(namespace.connection_string, retry_total=RESENDS)
    )
    with client:
        yield client


def first_failure(quiet: timedelta, *, identity: bool, noticed: bool = True) -> Cost:
    """Let a message fail, let time pass, let another one fail, and return what the second costs.

    Args:
        quiet: how long nothing fails.
        identity: True for a connection by identity, False for one by a connection string.
        noticed: False if the package does not notice that time passes, as where something ends connections much sooner.
    """
    ahead, opened, runs = [0.0], list[str](), list[str]()

    def failing(message: Message) -> None:
        runs.append(message.id)
        raise Boom("no")

    with ServiceBusNamespace(["orders", "error"]) as namespace, connected(namespace, identity=identity) as client:
        make = client.get_queue_sender

        def counted(queue: str, **options: Any) -> Any:
            opened.append(queue)
            return make(queue, **options)

        client.get_queue_sender = counted
        broker: Any = Broker(client, clock=lambda: monotonic() + ahead[0])
        settings = Recoverability(Immediate(0), Delayed(1, timedelta(seconds=10)), Failed("error"))
        endpoint = ServiceBusEndpoint(failing, settings, queue="orders", connection="none", client=broker)
        endpoint(trigger_message())
        namespace.advance(quiet)
        if SILENT <= quiet < IDLE:
            namespace.drop_connections()
        ahead[0] += quiet.total_seconds() if noticed else 0.0
        runs.clear()
        opened.clear()
        copies, began = namespace.queue("orders").depth().total, perf_counter()
        endpoint(trigger_message())
        seconds = perf_counter() - began
        return Cost(len(runs), namespace.queue("orders").depth().total - copies, len(opened), seconds)
