"""Create the Service Bus client for a connection of the app."""

from __future__ import annotations

import asyncio
import re
from typing import Any, assert_never

from azure.core.credentials import AccessToken, TokenCredential
from azure.servicebus.aio import ServiceBusClient

from recoverable._service_bus.app_settings import ConnectionString, Identity
from recoverable._service_bus.clients import credential_for
from recoverable_local.reaching import check_reachable


def client_for(connection: ConnectionString | Identity) -> ServiceBusClient:
    """Create a client. For an identity-based connection use the credential that the Functions host uses."""
    match connection:
        case ConnectionString(text=text):
            return ServiceBusClient.from_connection_string(text)
        case Identity(namespace=namespace, settings=settings):
            return ServiceBusClient(namespace, Credential(credential_for(settings)))
        case _:
            assert_never(connection)


def namespace_of(connection: ConnectionString | Identity) -> str:
    """Return the host name of a connection's namespace, with its port if it has one."""
    match connection:
        case ConnectionString(text=text):
            found = re.search(r"(?i)(?:^|;)\s*Endpoint=sb://([^/;]+)", text)
            return found[1] if found else "an unnamed namespace"
        case Identity(namespace=namespace):
            return namespace
        case _:
            assert_never(connection)


AMQPS_PORT, EMULATOR_PORT = 5671, 5672
"""Where a namespace in Azure listens, and where an emulator does that its connection string gives no port."""


def check_namespace(name: str, connection: ConnectionString | Identity) -> None:
    """Try once whether a connection's namespace listens.

    Args:
        name: The connection's name.
        connection: What the app settings say of it.

    Raises:
        Unreachable: It does not; the SDK finds that out only after its own repetitions.
    """
    host, _, port = namespace_of(connection).partition(":")
    emulated = isinstance(connection, ConnectionString) and "usedevelopmentemulator=true" in connection.text.lower()
    check_reachable(
        f"the app setting of the connection {name!r}",
        host,
        int(port) if port.isdecimal() else EMULATOR_PORT if emulated else AMQPS_PORT,
    )


class Credential:
    """An asynchronous credential that calls a blocking one in a thread; azure-identity's asynchronous ones need aiohttp."""

    def __init__(self, blocking: TokenCredential) -> None:
        self._blocking = blocking

    async def get_token(self, *scopes: str, **options: Any) -> AccessToken:
        """Return a token."""
        return await asyncio.to_thread(self._blocking.get_token, *scopes, **options)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    async def __aenter__(self) -> Credential:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
