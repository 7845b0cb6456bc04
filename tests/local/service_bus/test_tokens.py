"""Test which entities a client reaches: by the EntityPath of its connection string, and by the tokens that it sends."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from urllib.parse import quote_plus

import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage
from azure.servicebus.exceptions import ServiceBusAuthenticationError

from local.service_bus.bus import bodies
from local.service_bus.conftest import Serve
from local.service_bus.test_lifetimes import MINUTE, Peer
from recoverable_local.service_bus import Queue, ServiceBusNamespace

UNAUTHORIZED = "Unauthorized access. 'Send' claim(s) are required to perform this operation. Resource: '{}'."


@pytest.mark.parametrize(
    ("audience", "node"),
    [
        ("sb://localhost", "orders"),
        ("sb://localhost/", "orders"),
        ("sb://localhost/ORDERS", "orders"),
        ("sb://localhost/orders", "orders/$management"),
        ("sb://localhost/orders/$management", "orders/$management"),
    ],
)
def test_a_token_is_for_an_entity_and_what_is_below_it(audience: str, node: str) -> None:
    peer = Peer()
    peer.put_token(time.time() + 20 * MINUTE, audience)

    peer.attach(node=node)

    assert peer.ended == []


@pytest.mark.parametrize(
    ("audience", "node"),
    [
        ("sb://localhost/others", "orders"),
        ("sb://localhost/order", "orders"),
        ("sb://localhost/orders/$management", "orders"),
        ("sb://localhost/others", "orders/$management"),
    ],
)
def test_a_link_to_an_entity_that_no_token_is_for_is_refused(audience: str, node: str) -> None:
    peer = Peer()
    peer.put_token(time.time() + 20 * MINUTE, audience)

    peer.attach(node=node)

    assert peer.ended == [("detach", "amqp:unauthorized-access", UNAUTHORIZED.format(node))]


def test_a_client_that_sends_no_token_is_not_asked_for_one() -> None:
    peer = Peer()

    peer.attach()

    assert peer.ended == []


def client_of(namespace: ServiceBusNamespace, credentials: str) -> ServiceBusClient:
    """Return a client whose connection string ends with these credentials."""
    endpoint, *_ = namespace.connection_string.split(";")
    text = f"{endpoint};{credentials};UseDevelopmentEmulator=true"
    return ServiceBusClient.from_connection_string(text, retry_total=0)


KEY = "SharedAccessKeyName=orders;SharedAccessKey=bm90LWxvb2tlZC1hdA=="


def signature(scope: str) -> str:
    """Return a shared access signature for an address, valid for an hour."""
    signed = f"sr={quote_plus(scope)}&sig=eA%3D%3D&se={int(time.time()) + 3600}&skn=orders"
    return f"SharedAccessSignature=SharedAccessSignature {signed}"


REACHED: dict[str, tuple[str, AbstractContextManager[Any]]] = {
    "EntityPath": (f"{KEY};EntityPath=orders", pytest.raises(ValueError, match="does not match the EntityPath")),
    "signature of one": (signature("sb://localhost/orders"), pytest.raises(ServiceBusAuthenticationError)),
    "signature of all": (signature("sb://localhost/"), nullcontext()),
}


@pytest.mark.slow  # the SDK takes a second to open and close its links
@pytest.mark.parametrize(("credentials", "other"), REACHED.values(), ids=REACHED)
def test_who_has_the_credentials_of_one_queue_reaches_that_one_alone(
    serve: Serve, credentials: str, other: AbstractContextManager[Any]
) -> None:
    namespace = serve(Queue("orders"), Queue("others")).namespace

    with client_of(namespace, credentials) as client:
        with client.get_queue_sender("orders", keep_alive=0) as sender:
            sender.send_messages(ServiceBusMessage("mine"))
        with other, client.get_queue_sender("others", keep_alive=0) as sender:
            sender.send_messages(ServiceBusMessage("theirs"))

    assert bodies(namespace.queue("orders").messages()) == ["mine"]
