"""The Service Bus client for a connection of the app."""

from __future__ import annotations

import asyncio
from typing import Any, assert_never

from azure.core.credentials import AccessToken, TokenCredential
from azure.servicebus.aio import ServiceBusClient

from recoverable.azure.process_client import credential_for
from recoverable.azure.settings import ConnectionString, Identity


def client_for(connection: ConnectionString | Identity) -> ServiceBusClient:
    """A client; by identity, with the credential that the host would take."""
    match connection:
        case ConnectionString(text=text):
            return ServiceBusClient.from_connection_string(text)
        case Identity(namespace=namespace, settings=settings):
            return ServiceBusClient(namespace, Credential(credential_for(settings)))
        case _:
            assert_never(connection)


class Credential:
    """A credential for coroutines, which asks one that blocks, in a thread; those of azure-identity for coroutines need aiohttp."""

    def __init__(self, blocking: TokenCredential) -> None:
        self._blocking = blocking

    async def get_token(self, *scopes: str, **options: Any) -> AccessToken:
        """A token."""
        return await asyncio.to_thread(self._blocking.get_token, *scopes, **options)

    async def close(self) -> None:
        """Nothing is kept open."""

    async def __aenter__(self) -> Credential:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
