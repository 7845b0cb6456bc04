"""A Service Bus namespace on loopback, and the command's way to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest
from azure.servicebus import (
    NEXT_AVAILABLE_SESSION,
    ServiceBusClient,
    ServiceBusMessage,
    ServiceBusReceiver,
    ServiceBusSender,
)

from operate.conftest import Errors, Ran
from operate.failing import fault_headers
from recoverable_local.service_bus import Queue, SeenMessage, ServiceBusNamespace, Subscription, Topic

ERROR = "orders-error"


class Bus:
    """A namespace with a client beside the command's, and the command for one of its queues."""

    def __init__(self, namespace: ServiceBusNamespace, client: ServiceBusClient, errors: Errors) -> None:
        self.namespace, self.client, self._errors = namespace, client, errors
        self._senders: dict[str, ServiceBusSender] = {}

    def send(self, *bodies: str, queue: str = ERROR, **fields: Any) -> None:
        """Send messages of these bodies; a sender stays open, for the SDK takes a second to close one."""
        if queue not in self._senders:
            self._senders[queue] = self.client.get_queue_sender(queue)
        self._senders[queue].send_messages([ServiceBusMessage(body, **fields) for body in bodies])

    def send_failed(self, body: str = '{"id": 1}', *, headers: Mapping[str, Any] | None = None, **fields: Any) -> None:
        """Send a failed message to the error queue."""
        self.send(body, application_properties=dict(headers or fault_headers()), **fields)

    def receiver(self, queue: str = ERROR, **options: Any) -> ServiceBusReceiver:
        """Return another receiver of a queue."""
        return self.client.get_queue_receiver(queue, **options)

    def seen(self, queue: str = ERROR) -> list[SeenMessage]:
        """Return what is in a queue."""
        return self.namespace.queue(queue).messages()

    def bodies(self, queue: str = ERROR) -> list[str]:
        """Return the bodies of what is in a queue."""
        return [each.body.decode() for each in self.seen(queue)]

    def run(self, verb: str, *words: str, queue: str = ERROR) -> Ran:
        """Run the command."""
        return self._errors(verb, "--queue", f"sb://127.0.0.1:{self.namespace.port}/{queue}", *words)

    def address(self, queue: str) -> str:
        """Return the full address of a queue."""
        return f"sb://127.0.0.1:{self.namespace.port}/{queue}"


NewBus = Callable[..., Bus]


@pytest.fixture
def new_bus(errors: Errors, monkeypatch: pytest.MonkeyPatch) -> Iterator[NewBus]:
    """Return a function that starts a namespace; keywords are settings of the error queue."""
    with ExitStack() as running:

        def start(**settings: Any) -> Bus:
            queues = [
                Queue("orders", max_delivery_count=2, forward_dead_lettered_messages_to=ERROR),
                Queue("bills"),
                Queue("once", duplicate_detection_window=timedelta(minutes=10)),
                Queue("sessions", requires_session=True),
                Queue(ERROR, **settings),
            ]
            topic = Topic("events", (Subscription("audit", max_delivery_count=1),))
            namespace = running.enter_context(ServiceBusNamespace(queues, [topic]))
            monkeypatch.setenv("SERVICE_BUS_CONNECTION", namespace.connection_string)
            client = ServiceBusClient.from_connection_string(namespace.connection_string)
            return Bus(namespace, running.enter_context(client), errors)

        yield start


@pytest.fixture
def bus(new_bus: NewBus) -> Bus:
    """Return a namespace of its own for each test."""
    return new_bus()


NEXT_SESSION: dict[str, Any] = {"session_id": NEXT_AVAILABLE_SESSION, "max_wait_time": 1}
