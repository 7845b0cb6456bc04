"""Make the process's own client for a connection, and the credential for a connection by identity."""

from __future__ import annotations

import atexit
from functools import cache
from typing import TYPE_CHECKING, Any

from recoverable._service_bus.app_settings import ConnectionString

if TYPE_CHECKING:
    from azure.core.credentials import TokenCredential
    from azure.servicebus import ServiceBusClient

    from recoverable._service_bus.app_settings import Identity

RESENDS = 0
"""The gateway itself renews a connection (`RenewedSender`), and repeats what may be repeated: the SDK would repeat each unknown answer, and
wait for 1.6 s before that."""


@cache
def client_for(connection: ConnectionString | Identity) -> ServiceBusClient:
    """Return the process's client for a connection, made at the first failure and closed at exit.

    Raises:
        ModuleNotFoundError: azure-servicebus is not installed.
    """
    try:
        from azure.servicebus import ServiceBusClient
    except ModuleNotFoundError as error:
        raise with_extra(error) from error

    if isinstance(connection, ConnectionString):
        client = ServiceBusClient.from_connection_string(connection.text, retry_total=RESENDS)
    else:
        client = ServiceBusClient(connection.namespace, credential_for(connection.settings), retry_total=RESENDS)
    atexit.register(client.close)
    return client


def credential_for(settings: Any) -> TokenCredential:
    """Return the credential that the host would use for a connection by identity.

    As the host does it: azure-sdk-for-net, `ClientFactory.CreateCredential`.

    Raises:
        ModuleNotFoundError: azure-identity is not installed.
    """
    try:
        from azure.identity import ClientSecretCredential, DefaultAzureCredential, ManagedIdentityCredential
    except ModuleNotFoundError as error:
        raise with_extra(error) from error

    client, tenant, secret = (settings.get(name) for name in ("clientid", "tenantid", "clientsecret"))
    if settings.get("credential", "").lower() == "managedidentity":
        resource = settings.get("managedidentityresourceid")
        if resource:
            return ManagedIdentityCredential(identity_config={"resource_id": resource})
        return ManagedIdentityCredential(client_id=client)
    if client and tenant and secret:
        return ClientSecretCredential(tenant, client, secret)
    named = {"managed_identity_client_id": client, "workload_identity_client_id": client} if client else {}
    return DefaultAzureCredential(**named, additionally_allowed_tenants=[tenant] if tenant else [])


def with_extra(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error that says which extra installs the missing module."""
    return ModuleNotFoundError(f"{error}; write pip install 'recoverable[azure]'", name=error.name)
