"""Make the Service Bus clients of a command: by connection string, or by identity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recoverable._service_bus.app_settings import ConnectionString
from recoverable._service_bus.clients import transport_of
from recoverable._service_bus.host_json import HostOptions
from recoverable_operate.errors._azure.answers import call_error
from recoverable_operate.errors._azure.entity import Entity
from recoverable_operate.errors._azure.marking_client import mark_types
from recoverable_operate.errors._queue import OperateError

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusClient

TRIES_AGAIN = 3


def clients_for(
    entity: Entity, connection: str | None, name: str, transport: HostOptions
) -> tuple[ServiceBusClient, ServiceBusClient]:
    """Return a client that reads, and one that tries each send once.

    Args:
        entity: the error queue.
        connection: the connection string; None for DefaultAzureCredential.
        name: the environment variable that holds it.
        transport: how the namespace is reached.

    Raises:
        OperateError: a package is missing, or the connection string is of another namespace.
    """
    try:
        mark_types()
        options = transport_of(transport)
        reading, sending = ({**options, "retry_total": tries} for tries in (TRIES_AGAIN, 0))
        return new_client(entity, connection, name, reading), new_client(entity, connection, name, sending)
    except ModuleNotFoundError as error:
        raise needs(error) from None


def needs(error: ModuleNotFoundError) -> OperateError:
    """Return what to install; to sign in, a connection string will do instead."""
    instead = ", or name the variable that holds a connection string by --connection"
    return OperateError(
        f"Service Bus needs {error.name}: pip install 'recoverable-operate[azure]'"
        f"{instead if str(error.name).startswith('azure.identity') else ''}"
    )


def new_client(entity: Entity, connection: str | None, name: str, options: dict[str, Any]) -> ServiceBusClient:
    """Return a client."""
    from azure.servicebus import ServiceBusClient

    if connection is None:
        from azure.identity import DefaultAzureCredential

        with call_error(entity.address):
            return ServiceBusClient(entity.namespace, DefaultAzureCredential(), **options)
    try:
        client = ServiceBusClient.from_connection_string(ConnectionString(connection).text, **options)
    except ValueError:  # its words may quote the key
        raise OperateError(
            f"{name} holds no connection string of Service Bus; one begins with Endpoint=sb://"
        ) from None
    if client.fully_qualified_namespace.strip("/").lower() != entity.namespace:
        found = client.fully_qualified_namespace
        client.close()
        raise OperateError(
            f"--queue is of {entity.namespace}, and {name} of {found}; name another variable by --connection"
        )
    return client
