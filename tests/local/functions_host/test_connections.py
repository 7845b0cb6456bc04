"""Test the clients that the Functions host creates for the connections of an app."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from azure.core.credentials import AccessToken, TokenCredential

from recoverable._service_bus.app_settings import ConnectionString, Identity, connection
from recoverable_local.functions_host.extension.client import Credential, client_for, namespace_of

TEXT = "Endpoint=sb://127.0.0.1:5672;SharedAccessKeyName=me;SharedAccessKey=bm8=;UseDevelopmentEmulator=true;"


class Blocking:
    """A credential that notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[tuple[str, ...], dict[str, Any]]] = []

    def get_token(self, *scopes: str, **options: Any) -> AccessToken:
        self.asked.append((scopes, options))
        return AccessToken("token", 1)


async def connected_to(found: ConnectionString | Identity) -> str:
    """Return the namespace that a client connects to."""
    async with client_for(found) as client:
        return client.fully_qualified_namespace


def test_a_connection_string_leads_to_its_namespace() -> None:
    assert asyncio.run(connected_to(ConnectionString(TEXT))) == "127.0.0.1:5672"


def test_an_identity_leads_to_its_namespace() -> None:
    settings = {
        "Bus__fullyQualifiedNamespace": "shop.servicebus.windows.net", "Bus__credential": "managedidentity", "Bus__clientId": "me",
    }  # fmt: skip

    assert asyncio.run(connected_to(connection("Bus", settings))) == "shop.servicebus.windows.net"


def test_a_credential_that_blocks_is_asked_beside_the_loop() -> None:
    blocking = Blocking()

    token = asyncio.run(Credential(cast("TokenCredential", blocking)).get_token("scope", tenant_id="mine"))

    assert (token, blocking.asked) == (AccessToken("token", 1), [(("scope",), {"tenant_id": "mine"})])


def test_the_namespace_of_a_connection_is_named() -> None:
    identity = connection("Bus", {"Bus__fullyQualifiedNamespace": "shop.servicebus.windows.net"})

    assert [namespace_of(each) for each in (ConnectionString(TEXT), identity, ConnectionString("nonsense"))] == [
        "127.0.0.1:5672",
        "shop.servicebus.windows.net",
        "an unnamed namespace",
    ]
