"""Make the process's own client for a connection, and the credential for a connection by identity."""

from __future__ import annotations

import atexit
import os
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from recoverable._service_bus.app_settings import ConnectionString
from recoverable._service_bus.host_json import host_file, read_host_json

if TYPE_CHECKING:
    from azure.core.credentials import TokenCredential
    from azure.servicebus import ServiceBusClient

    from recoverable._service_bus.app_settings import Identity
    from recoverable._service_bus.host_json import HostOptions

RESENDS = 0
"""The gateway itself renews a connection (`RenewedSender`), and repeats what may be repeated: the SDK would repeat each unknown answer, and
wait for 1.6 s before that."""


@cache
def client_for(connection: ConnectionString | Identity) -> ServiceBusClient:
    """Return the process's client for a connection, made at the first failure and closed at exit.

    It connects as the host does, by what host.json says.

    Raises:
        ModuleNotFoundError: azure-servicebus, or what it needs for WebSockets, is not installed.
    """
    try:
        from azure.servicebus import ServiceBusClient
    except ModuleNotFoundError as error:
        raise with_extra(error) from error

    options = {"retry_total": RESENDS, **transport_of(read_host_json(host_file(os.environ), os.environ).options)}
    if isinstance(connection, ConnectionString):
        client = ServiceBusClient.from_connection_string(connection.text, **options)
    else:
        client = ServiceBusClient(connection.namespace, credential_for(connection.settings), **options)
    atexit.register(client.close)
    return client


def transport_of(host: HostOptions) -> dict[str, Any]:
    """Return the arguments of azure-servicebus's client by which it connects as the host does; a proxy is for WebSockets alone.

    Raises:
        ModuleNotFoundError: websocket-client is not installed.
    """
    if host.transport_type == "amqpTcp":
        return {}
    if find_spec("websocket") is None:  # the SDK would miss it at the first send
        raise with_extra(ModuleNotFoundError("No module named 'websocket'", name="websocket"))
    from azure.servicebus import TransportType

    proxy = host.web_proxy and {"proxy_hostname": host.web_proxy.host, "proxy_port": host.web_proxy.port}
    return {"transport_type": TransportType.AmqpOverWebsocket, "http_proxy": proxy}


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
        if resource := settings.get("managedidentityresourceid"):
            return ManagedIdentityCredential(identity_config={"resource_id": resource})
        return ManagedIdentityCredential(client_id=client)
    if client and tenant and secret:
        return ClientSecretCredential(tenant, client, secret)
    named = {"managed_identity_client_id": client, "workload_identity_client_id": client} if client else {}
    return DefaultAzureCredential(**named, additionally_allowed_tenants=[tenant] if tenant else [])


def with_extra(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error that says which extra installs the missing module."""
    return ModuleNotFoundError(f"{error}; write pip install 'recoverable[azure]'", name=error.name)
