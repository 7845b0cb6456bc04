"""A shortened outage in real time: SQS and DynamoDB of a small cloud with two instances, and Service Bus on the emulator."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from threading import Lock
from typing import Any
from uuid import uuid4

import pytest

from aws.harness import Mapping, compete
from azure.namespace import SETTING, Bus, emulated
from builders import ERROR_QUEUE, QUEUE
from circuits.aws.conftest import Account
from recoverable import Delayed, Failed, Immediate, Message, RateLimit, Recoverability
from recoverable._rate_limit.state import CLOSED
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from servers.ministack import running_cloud
from servers.moto import client_at
from servers.queues import Queue

pytestmark = pytest.mark.slow

ORDERS, FAILURES, PROBES = 12, 3, 3
WAIT = timedelta(seconds=1)


class Database:
    """Fails until enough probes were made; what it sees, it sees from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.calls = list[str]()
        self.failed = 0
        self.placed = list[str]()

    def started(self) -> None:
        """Record that limiting has started."""
        self.calls.append("started")
        self._last = self.failed + PROBES

    def ended(self) -> None:
        """Record that limiting has ended."""
        self.calls.append("ended")

    def __call__(self, message: Message) -> None:
        """Fail, or place the order."""
        with self._lock:
            if "started" not in self.calls or self.failed < self._last:
                self.failed += 1
                raise ConnectionError("the database is away")
            self.placed.append(message.text)

    def settings(self, error: str, **limit: Any) -> Recoverability:
        """Return a ladder that gives up after four attempts, one more than start limiting, and the limit."""
        noted = RateLimit(FAILURES, WAIT, on_started=self.started, on_ended=self.ended, **limit)
        return Recoverability(Immediate(3), Delayed(0), Failed(error), rate_limit=noted)

    def is_done(self) -> bool:
        """True if all orders are placed."""
        return len(set(self.placed)) == ORDERS


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """Yield a small cloud."""
    with running_cloud(tmp_path_factory.mktemp("ministack") / "log") as cloud:
        yield Account(f"http://127.0.0.1:{cloud.port}")


def queue_of(account: Account, name: str) -> Queue:
    """Return a queue of that cloud."""
    queue = Queue(client_at(account.url), f"{name}-{uuid4().hex[:8]}", {})
    asked: Any = queue.client.get_queue_attributes(QueueUrl=queue.url, AttributeNames=["QueueArn"])
    queue.arn = asked["Attributes"]["QueueArn"]
    return queue


@pytest.mark.xdist_group("ministack")
def test_two_instances_on_sqs_share_a_circuit_in_dynamodb(account: Account) -> None:
    orders, error, database = queue_of(account, "orders"), queue_of(account, "error"), Database()
    circuit = account.circuit(orders.name)
    settings = database.settings(error.name, store=circuit)
    for number in range(ORDERS):
        orders.send(f"order {number}")

    compete(
        [Mapping(orders, SqsEndpoint(database, settings, client=orders.client), batch=4) for _ in range(2)],
        lambda: database.is_done() and orders.count() == 0,
    )

    assert (sorted(set(database.placed)), error.count()) == (sorted(f"order {n}" for n in range(ORDERS)), 0)
    assert (database.calls, circuit.read().circuit) == (["started", "ended"], CLOSED)


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bus]:
    """Yield a namespace on loopback."""
    with emulated() as bus:
        monkeypatch.setenv(SETTING, bus.namespace.connection_string)
        yield bus


def test_an_instance_on_service_bus_waits_for_the_end(bus: Bus) -> None:
    database = Database()
    endpoint = ServiceBusEndpoint(
        database, database.settings(ERROR_QUEUE), queue=QUEUE, connection=SETTING, name="orders"
    )
    bus.send(*(f"order {number}" for number in range(ORDERS)))
    bus.serve(endpoint, lambda: database.is_done() and not bus.seen(QUEUE))

    assert sorted(set(database.placed)) == sorted(f"order {number}" for number in range(ORDERS))
    assert (database.calls, bus.seen(ERROR_QUEUE)) == (["started", "ended"], [])
    assert database.failed == FAILURES + PROBES
