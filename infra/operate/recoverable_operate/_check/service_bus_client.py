"""Read a Service Bus queue and its error queue by the namespace's administration over HTTPS."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from recoverable_operate.errors import Entity, OperateError
from recoverable_operate.errors._azure.namespace_client import needs
from recoverable_operate.errors._queue import one_line
from recoverable_operate.rules import OnServiceBus, ServiceBusQueue, Unknown
from recoverable_operate.rules._on_service_bus import FOR_EVER

if TYPE_CHECKING:
    from azure.servicebus.management import QueueProperties, ServiceBusAdministrationClient

TRIES_AGAIN = 2

RIGHT = "the role Azure Service Bus Data Owner, or a connection string with the claim Manage, is missing for {entity}"
TEXTS = {
    "ClientAuthenticationError": "no credentials: run `az login`, or give --connection with a connection string",
    "CredentialUnavailableError": "no credentials: run `az login`, or give --connection with a connection string",
    "ResourceNotFoundError": "there is no queue {entity}; of a topic, give the queue to which its subscription forwards",
    "ServiceRequestError": "no connection to {entity} by HTTPS: check the namespace's name and the network; an emulator that has no administration cannot be checked",
    "ServiceResponseError": "no answer from {entity}: run it again",
}


def describe_entity(entity: Entity, connection: str | None, name: str) -> tuple[OnServiceBus, ...]:
    """Return a description of a queue; of an error queue, one for each queue that forwards its dead letters to it.

    Args:
        entity: the queue.
        connection: the connection string; None for DefaultAzureCredential.
        name: the environment variable that holds it.

    Raises:
        OperateError: it cannot be read.
    """
    if entity.subscription or entity.dead_letters:
        raise OperateError(f"{entity.address} is no queue of its own; give the queue to which it forwards")
    with readable(entity), administration(entity, connection, name) as client:
        queue, tier = (
            described_entity(client.get_queue(entity.path)),
            str(client.get_namespace_properties().messaging_sku),
        )
        sources = [] if queue.dead_letters_to else list(forwarding_to(client, queue.name))
        return tuple(described(client, source, tier) for source in sources or [queue])


def described(client: ServiceBusAdministrationClient, queue: ServiceBusQueue, tier: str) -> OnServiceBus:
    """Return the description of a queue that is no error queue."""
    return OnServiceBus(queue, error_entity_of(client, queue), tier=tier)


def error_entity_of(client: ServiceBusAdministrationClient, queue: ServiceBusQueue) -> ServiceBusQueue | Unknown | None:
    """Return the queue that gets a queue's dead letters."""
    from azure.core.exceptions import ResourceNotFoundError

    if not isinstance(queue.dead_letters_to, str):
        return queue.dead_letters_to
    try:
        return described_entity(client.get_queue(queue.dead_letters_to))
    except ResourceNotFoundError:
        return Unknown(f"{queue.dead_letters_to}, which gets the dead letters of {queue.name}, is no queue")


def forwarding_to(client: ServiceBusAdministrationClient, name: str) -> Iterator[ServiceBusQueue]:
    """Yield the queues that forward their dead letters to a queue."""
    for each in map(described_entity, client.list_queues()):
        if isinstance(each.dead_letters_to, str) and each.dead_letters_to.lower() == name.lower():
            yield each


def described_entity(properties: QueueProperties) -> ServiceBusQueue:
    """Return a queue."""
    lives, idle = properties.default_message_time_to_live, properties.auto_delete_on_idle
    return ServiceBusQueue(
        name=properties.name,
        lock=given(properties.lock_duration, "lock duration"),
        max_delivery_count=properties.max_delivery_count or 10,
        dead_letters_to=entity_name(properties.forward_dead_lettered_messages_to),
        forwards_to=entity_name(properties.forward_to),
        duplicate_detection=bool(properties.requires_duplicate_detection),
        lives=None
        if lives is None or (isinstance(lives, timedelta) and lives > FOR_EVER)
        else given(lives, "time to live"),
        dead_letters_expired=bool(properties.dead_lettering_on_message_expiration),
        sessions=bool(properties.requires_session),
        deleted_when_idle=idle if isinstance(idle, timedelta) and idle <= FOR_EVER else None,
        status=str(getattr(properties.status, "value", properties.status) or "Active"),
    )


def given(value: object, name: str) -> timedelta | Unknown:
    """Return a duration."""
    return value if isinstance(value, timedelta) else Unknown(f"Service Bus says no {name} that can be read: {value!r}")


def entity_name(url: str | None) -> str | None:
    """Return the name of an entity, which Service Bus says as a URL."""
    return url.split("://", 1)[-1].partition("/")[2] if url and "://" in url else url or None


@contextmanager
def administration(entity: Entity, connection: str | None, name: str) -> Iterator[ServiceBusAdministrationClient]:
    """Yield a client for the administration of a namespace.

    Raises:
        OperateError: a package is missing, or the connection string is of another namespace.
    """
    try:
        from azure.servicebus.management import ServiceBusAdministrationClient

        if connection is None:
            from azure.identity import DefaultAzureCredential
    except ModuleNotFoundError as error:
        raise needs(error) from None
    if connection is None:
        logging.getLogger("azure.identity").addHandler(
            logging.NullHandler()
        )  # else each credential that fails is a line
        client = ServiceBusAdministrationClient(entity.namespace, DefaultAzureCredential(), retry_total=TRIES_AGAIN)
    else:
        client = of_connection(connection, name)
    if client.fully_qualified_namespace.strip("/").lower() != entity.namespace:
        raise OperateError(
            f"--queue is of {entity.namespace}, and {name} of {client.fully_qualified_namespace}; name another variable by --connection"
        )
    with client:
        yield client


def of_connection(connection: str, name: str) -> ServiceBusAdministrationClient:
    """Return a client of a connection string.

    Raises:
        OperateError: it is none.
    """
    from azure.servicebus.management import ServiceBusAdministrationClient

    try:
        return ServiceBusAdministrationClient.from_connection_string(connection, retry_total=TRIES_AGAIN)
    except ValueError:  # its words may quote the key
        raise OperateError(
            f"{name} holds no connection string of Service Bus; one begins with Endpoint=sb://"
        ) from None


def readable(entity: Entity) -> AbstractContextManager[None]:
    """Raise what a call raises as one line.

    Raises:
        OperateError: the call failed.
    """
    return one_line(lambda error: error_text(error).format(entity=entity.address))


def error_text(error: Exception) -> str:
    """Return what is missing; an error's own text may quote what was sent, so its type and status are all else."""
    status = getattr(error, "status_code", None)
    if status in (401, 403):
        return RIGHT
    said = f" (status {status})" if status else ""
    return TEXTS.get(type(error).__name__, "{entity} refused: " + type(error).__name__ + said)
