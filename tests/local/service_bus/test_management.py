"""Test requests to `$management` that are no SDK's: they end no connection, and their answers wait for credit."""

from __future__ import annotations

import time
from typing import Any

import pytest

from recoverable_local.service_bus import Queue
from recoverable_local.service_bus.amqp import encoding as e
from recoverable_local.service_bus.amqp.decoding import decode
from recoverable_local.service_bus.amqp.performatives import Attach, Begin, Flow, Transfer
from recoverable_local.service_bus.amqp.slices import values
from recoverable_local.service_bus.broker.namespace import Namespace
from recoverable_local.service_bus.faults import Faults
from recoverable_local.service_bus.links.attaching import attach
from recoverable_local.service_bus.links.incoming import IncomingLink
from recoverable_local.service_bus.links.lifetimes import Lifetimes
from recoverable_local.service_bus.links.outgoing import OutgoingLink
from recoverable_local.service_bus.links.session import Session

NODE = "orders/$management"


class Client:
    """A client that asks `$management`; it gives credit for answers only when it says so."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any]] = []
        self._namespace = Namespace([Queue("orders")], [], clock=time.time)
        lifetimes = Lifetimes(self._namespace, list, lambda _reason: None)
        self._session = Session(Begin(0, 100), self._heard, lambda: None, 65_536, lifetimes)
        self._attach(0, peer_receives=False)

    def _attach(self, handle: int, *, peer_receives: bool) -> None:
        link = Attach("link", handle, peer_receives, 0, 0, NODE, NODE, {}, {})
        attach(self._session, link, self._namespace, Faults())

    def wait_for_answers(self) -> None:
        self._attach(1, peer_receives=True)

    def ask(self, operation: str, body: bytes) -> None:
        link = self._session.links[0]
        assert isinstance(link, IncomingLink)
        asked = e.mapping([(e.string("operation"), e.string(f"com.microsoft:{operation}"))])
        ids = e.sequence([e.string("1")])
        payload = b"".join(e.described(code, value) for code, value in ((0x73, ids), (0x74, asked), (0x77, body)))
        link.transfer(Transfer(0, 0, 0, True, False, False, payload))  # noqa: FBT003  # AMQP's fields in order

    def grant(self, credit: int) -> None:
        link = self._session.links[1]
        assert isinstance(link, OutgoingLink)
        link.flow(Flow(0, 100, 1, 0, credit, False, False))  # noqa: FBT003  # AMQP's fields in order

    def _heard(self, _performative: bytes, payload: bytes = b"") -> None:
        sections = [decode(section)[0] for section in values(payload)]
        self.answers += [section.value for section in sections if section.code == 0x74]


def listing(name: str, *items: bytes) -> bytes:
    return e.mapping([(e.string(name), e.sequence(items))])


ODD = e.mapping(
    [
        (e.string("messages"), e.string("none")),
        (e.string("sequence-numbers"), e.NULL),
        (e.string("message-count"), e.NULL),
    ]
)


@pytest.mark.parametrize(
    ("operation", "body", "status"),
    [
        ("schedule-message", listing("messages"), 200),
        ("cancel-scheduled-message", listing("sequence-numbers"), 200),
        ("renew-lock", listing("lock-tokens"), 200),
        ("schedule-message", ODD, 400),
        ("cancel-scheduled-message", ODD, 400),
        ("schedule-message", listing("messages", e.int32(1)), 400),
        ("renew-lock", listing("lock-tokens", e.string("x")), 410),
        ("schedule-message", e.NULL, 400),
        (
            "peek-message",
            e.mapping([(e.string("from-sequence-number"), e.string("x")), (e.string("message-count"), e.int32(1))]),
            204,
        ),
        ("no-such-thing", e.NULL, 501),
    ],
)
def test_each_request_is_answered(operation: str, body: bytes, status: int) -> None:
    client = Client()
    client.wait_for_answers()
    client.grant(1)

    client.ask(operation, body)

    assert [answer["statusCode"] for answer in client.answers] == [status]


def test_an_answer_waits_for_the_credit_of_its_link() -> None:
    client = Client()
    client.wait_for_answers()
    for _ in range(3):
        client.ask("schedule-message", listing("messages"))
    answered = [len(client.answers)]
    for credit in (1, 3):
        client.grant(credit)
        answered.append(len(client.answers))

    assert answered == [0, 1, 3]


def test_a_request_whose_answer_nobody_waits_for_is_no_mistake() -> None:
    client = Client()

    client.ask("schedule-message", listing("messages"))

    assert client.answers == []
