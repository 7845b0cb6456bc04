"""Test what ends by itself: idle links, connections without links, and links whose token has expired; in the namespace's time."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from azure.core.credentials import AccessToken
from azure.servicebus import ServiceBusClient, ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient as AsyncClient

from local.service_bus.bus import bodies
from recoverable_local.service_bus import ServiceBusNamespace
from recoverable_local.service_bus.amqp import encoding as e
from recoverable_local.service_bus.amqp import replies
from recoverable_local.service_bus.amqp.decoding import decode
from recoverable_local.service_bus.amqp.frames import Frame, FrameReader, frame
from recoverable_local.service_bus.broker.namespace import Namespace
from recoverable_local.service_bus.broker.settings import Queue
from recoverable_local.service_bus.faults import Faults
from recoverable_local.service_bus.links.connection import Connection

MINUTE = 60
SENDS, RECEIVES = False, True
ENDS = {0x16: "detach", 0x18: "close"}


class Peer:
    """A client of a namespace with the queue `orders`, which says only what a test lets it say, on a clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.namespace = Namespace([Queue("orders")], [], clock=lambda: self.now)
        self.hung_up: list[float] = []
        self._heard = bytearray()
        self._connection = Connection(self.namespace, Faults(), self._heard.extend, list, self._hang_up)
        self._say(replies.open_("localhost"))
        self._say(replies.begin(0))

    def attach(self, handle: int = 0, node: str = "orders", *, receives: bool = SENDS) -> None:
        ends = [replies.source(node), replies.target(node)]
        name = e.string(f"link-{handle}")
        asked = [name, e.uint(handle), e.boolean(receives), e.ubyte(0), e.ubyte(1), *ends]
        self._say(e.described(0x12, e.sequence(asked)))

    def detach(self, handle: int = 0) -> None:
        self._say(replies.detach(handle, closed=True))

    def grant(self, handle: int, credit: int = 1) -> None:
        self._say(replies.flow(0, 0, (handle, 0, credit)))

    def send(self, handle: int = 0, body: bytes = e.described(0x75, e.binary(b"{}"))) -> None:
        self._say(replies.transfer(handle, more=False, first=(0, b"tag", False)) + body)

    def put_token(self, expires_at: float, audience: str = "sb://localhost/orders") -> None:
        """Send a token over `$cbs`, as SDKs do before they attach."""
        self.attach(8, "$cbs", receives=RECEIVES)
        self.attach(9, "$cbs")
        self.grant(8)
        given = {"operation": "put-token", "type": "jwt", "name": audience}
        pairs = [(e.string(name), e.string(value)) for name, value in given.items()]
        pairs.append((e.string("expiration"), e.timestamp(int(expires_at * 1000))))
        properties = e.described(0x73, e.sequence([e.uuid(UUID(int=1))]))
        body = e.described(0x77, e.string("token"))
        self.send(9, properties + e.described(0x74, e.mapping(pairs)) + body)

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.namespace.tick()

    @property
    def ended(self) -> list[tuple[str, ...]]:
        """Return the links and connections that the server ended, each with condition and text, and forget them."""
        parts = [decode(part.body)[0] for part in FrameReader().feed(bytes(self._heard)) if isinstance(part, Frame)]
        self._heard.clear()
        errors = [(ENDS[part.code], part.value[-1]) for part in parts if part.code in ENDS]
        return [(what, *map(str, error.value[:2])) for what, error in errors if error is not None]

    @property
    def said(self) -> Any:
        """Return the application properties of the last answer over `$cbs`."""
        *_, last = [part for part in FrameReader().feed(bytes(self._heard)) if isinstance(part, Frame)]
        _, end = decode(last.body)
        sections = last.body[end:]
        _, end = decode(sections)
        return decode(sections[end:])[0].value

    def _hang_up(self) -> None:
        self.hung_up.append(self.now)

    def _say(self, body: bytes) -> None:
        self._connection.receive(frame(body))


def detached(link: str, code: str, details: str) -> tuple[str, ...]:
    text = f"The link '{link}' is force detached. Code: {code}. Details: {details}"
    return "detach", "amqp:link:detach-forced", text


def closed(milliseconds: int) -> tuple[str, ...]:
    reason = f"it did not have any active links in the past {milliseconds} milliseconds."
    return "close", "amqp:connection:forced", f"The connection was closed by container 'recoverable' because {reason}"


IDLE_SENDER = detached("link-0", "publisher(link0)", "AmqpMessagePublisher.IdleTimerExpired: Idle timeout: 00:10:00.")
IDLE_RECEIVER = detached("link-0", "consumer(link0)", "AmqpMessageConsumer.IdleTimerExpired: Idle timeout: 00:10:00.")


@pytest.mark.parametrize(("receives", "end"), [(SENDS, IDLE_SENDER), (RECEIVES, IDLE_RECEIVER)])
def test_a_link_that_is_idle_for_ten_minutes_is_detached(*, receives: bool, end: tuple[str, ...]) -> None:
    peer = Peer()
    peer.attach(receives=receives)

    peer.wait(10 * MINUTE - 1)
    before = peer.ended
    peer.wait(1)

    assert (before, peer.ended) == ([], [end])


def test_a_send_keeps_a_link() -> None:
    peer = Peer()
    peer.attach()

    for _ in range(3):
        peer.wait(9 * MINUTE)
        peer.send()

    assert peer.ended == []


def test_a_delivery_keeps_a_link() -> None:
    peer = Peer()
    peer.attach(0, receives=RECEIVES)
    peer.grant(0, credit=10)
    peer.attach(1)

    for _ in range(3):
        peer.wait(9 * MINUTE)
        peer.send(1)

    assert peer.ended == []


def test_a_connection_is_closed_five_minutes_after_its_links_have_ended() -> None:
    peer = Peer()
    peer.attach()

    peer.wait(15 * MINUTE - 1)
    before = peer.ended
    peer.wait(1)

    assert (before, peer.ended, peer.hung_up) == ([IDLE_SENDER], [closed(300_000)], [15 * MINUTE])


def test_a_long_time_that_passes_at_once_ends_link_and_connection() -> None:
    peer = Peer()
    peer.attach()

    peer.wait(61 * MINUTE)

    assert peer.ended == [IDLE_SENDER, closed(300_000)]


def test_the_five_minutes_begin_when_the_client_detaches_its_last_link() -> None:
    peer = Peer()
    peer.attach(0)
    peer.attach(1)
    peer.detach(0)
    peer.wait(6 * MINUTE)
    peer.detach(1)

    peer.wait(5 * MINUTE - 1)
    before = peer.ended
    peer.wait(1)

    assert (before, peer.ended) == ([], [closed(300_000)])


def test_a_new_link_keeps_the_connection() -> None:
    peer = Peer()
    peer.attach(0)
    peer.detach(0)
    peer.wait(4 * MINUTE)
    peer.attach(1)

    peer.wait(9 * MINUTE)

    assert peer.ended == []


@pytest.mark.parametrize("node", [None, "$cbs"])
def test_a_new_connection_that_gets_no_link_to_an_entity_within_a_minute_is_closed(node: str | None) -> None:
    peer = Peer()
    if node:
        peer.attach(node=node)

    peer.wait(1 * MINUTE)

    assert peer.ended == [closed(60_000)]


def test_a_token_that_has_expired_is_refused() -> None:
    peer, expired = Peer(), time.time() - 1

    peer.put_token(expired)

    at = f"{datetime.fromtimestamp(int(expired * 1000) / 1000, UTC):%Y-%m-%d %H:%M:%SZ}"
    text = f"ExpiredToken: The token is expired. Expiration time: '{at}'."
    assert peer.said == {"status-code": 401, "status-description": text, "errorCondition": "amqp:unauthorized-access"}


@pytest.mark.parametrize("audience", ["sb://localhost/orders", "sb://localhost/ORDERS", "sb://localhost", "orders"])
def test_a_link_is_detached_when_its_token_expires(audience: str) -> None:
    peer = Peer()
    peer.put_token(time.time() + 20 * MINUTE, audience)
    peer.attach()
    for _ in range(2):
        peer.wait(9 * MINUTE)
        peer.send()
    before = peer.ended

    peer.wait(3 * MINUTE)

    details = "Unauthorized access. 'Send' claim(s) are required to perform this operation. Resource: 'orders'."
    assert (before, peer.ended) == ([], [detached("link-0", "RenewToken", details)])


def test_a_new_token_keeps_a_link() -> None:
    peer = Peer()
    peer.put_token(time.time() + 20 * MINUTE)
    peer.attach()

    for _ in range(4):
        peer.wait(9 * MINUTE)
        peer.put_token(time.time() + 20 * MINUTE)
        peer.send()

    assert peer.ended == []


def test_a_token_of_another_entity_ends_nothing() -> None:
    peer = Peer()
    peer.put_token(time.time() + 1 * MINUTE, "sb://localhost/others")
    peer.put_token(time.time() + 20 * MINUTE)
    peer.attach()

    peer.wait(9 * MINUTE)

    assert peer.ended == []


class Credential:
    """A credential of azure-identity, as far as the SDK uses it."""

    def get_token(self, *_: str, **__: Any) -> AccessToken:
        return AccessToken("token", int(time.time()) + 60 * MINUTE)


class AsyncCredential(Credential):
    async def get_token(self, *_: str, **__: Any) -> AccessToken:  # type: ignore[override]
        return super().get_token()


def client_of(kind: Any, namespace: ServiceBusNamespace, credential: Any) -> Any:
    """Return a client with the SDK's own number of retries, by identity if there is a credential."""
    soon: Any = {"retry_backoff_factor": 0.05}
    if credential is None:
        return kind.from_connection_string(namespace.connection_string, **soon)
    return kind(f"{namespace.host}:{namespace.port}", credential, use_tls=False, **soon)


@pytest.mark.slow  # the SDK takes a second to open and close its links
@pytest.mark.parametrize("minutes", [1, 6, 11, 61])
@pytest.mark.parametrize("credential", [None, Credential()], ids=["connection string", "identity"])
def test_the_sdks_retries_get_over_a_quiet_time(minutes: int, credential: Credential | None) -> None:
    with (
        ServiceBusNamespace(["orders"]) as namespace,
        client_of(ServiceBusClient, namespace, credential) as client,
        client.get_queue_sender("orders", keep_alive=0) as sender,
    ):
        sender.send_messages(ServiceBusMessage("before"))
        namespace.advance(timedelta(minutes=minutes))
        sender.send_messages(ServiceBusMessage("after"))

        assert bodies(namespace.queue("orders").messages()) == ["before", "after"]


@pytest.mark.slow  # the SDK takes a second to open and close its links
@pytest.mark.parametrize("minutes", [1, 6, 11, 61])
@pytest.mark.parametrize("credential", [None, AsyncCredential()], ids=["connection string", "identity"])
def test_the_asynchronous_sdks_retries_get_over_a_quiet_time(minutes: int, credential: AsyncCredential | None) -> None:
    async def send(namespace: ServiceBusNamespace) -> None:
        async with (
            client_of(AsyncClient, namespace, credential) as client,
            client.get_queue_sender("orders", keep_alive=0) as sender,
        ):
            await sender.send_messages(ServiceBusMessage("before"))
            namespace.advance(timedelta(minutes=minutes))
            await sender.send_messages(ServiceBusMessage("after"))

    with ServiceBusNamespace(["orders"]) as namespace:
        asyncio.run(send(namespace))
        assert bodies(namespace.queue("orders").messages()) == ["before", "after"]
