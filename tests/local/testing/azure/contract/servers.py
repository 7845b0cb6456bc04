"""Start the namespaces that the contract is tested on, each behind one small driver with the SDK's client."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusReceivedMessage, ServiceBusReceiver

from deadlines import DEADLINE
from recoverable_local.service_bus import Queue, ServiceBusNamespace
from recoverable_local.testing import ServiceBusWorld

MINUTE = timedelta(minutes=1)

KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "session": {"sessions": True},
    "unique": {"duplicate_detection": 5 * MINUTE},
    "brief": {"max_delivery_count": 2},
    "buried": {"max_delivery_count": 1, "dead_letter_queue": "target"},
    "mortal": {"time_to_live": MINUTE},
    "remembered": {"time_to_live": MINUTE, "dead_letter_expired": True},
    "forwarding": {"forward_to": "target"},
    "large": {"max_size": 1_048_576},
}
"""The kinds of queues that the tests use, in the words of `ServiceBusWorld.create_queue`; "target" stands for a queue of its own."""

EACH = 40
"""Queues of each kind in a namespace that takes no new ones."""

"""Seconds that a message may come late, on a machine that others use."""


@dataclass(frozen=True)
class Server:
    """A namespace.

    Args:
        name: by which the table of deviations knows it.
        client: the SDK's.
        wait: lets time pass.
        make: makes a queue.
        patience: seconds to wait for what must come.
        impatience: seconds to wait for what must not.
    """

    name: str
    client: ServiceBusClient
    wait: Callable[[timedelta], None]
    make: Callable[[str], str]
    patience: float = 0.0
    impatience: float = 0.0
    receivers: list[ServiceBusReceiver] = field(default_factory=list)

    def queue(self, kind: str = "plain") -> str:
        """Return a queue of that kind that nobody has used."""
        return self.make(kind)

    def send(self, queue: str, *bodies: str | bytes, **fields: Any) -> None:
        """Send messages, several in one batch."""
        messages = [ServiceBusMessage(body, **fields) for body in bodies]
        self.client.get_queue_sender(queue).send_messages(messages[0] if len(messages) == 1 else messages)

    def receiver(self, queue: str, **options: Any) -> ServiceBusReceiver:
        """Return a receiver; without a session it is opened at once."""
        made = self.client.get_queue_receiver(queue, **options)
        self.receivers.append(made)
        return made if "session_id" in options else made.__enter__()

    def next(self, receiver: ServiceBusReceiver, most: int = 1) -> list[ServiceBusReceivedMessage]:
        """Receive up to so many messages, and fewer only when there are no more."""
        got: list[ServiceBusReceivedMessage] = []
        while len(got) < most and (some := receiver.receive_messages(most - len(got), self.patience or 0.1)):
            got += some
        return got

    def nothing_comes(self, receiver: ServiceBusReceiver) -> bool:
        """True if there is nothing to receive."""
        return receiver.receive_messages(1, self.impatience or 0.1) == []

    def refusal(self, call: Callable[..., object], *arguments: Any, **options: Any) -> str:
        """Return the type of the error with which a call is refused; "taken" when it is not."""
        try:
            call(*arguments, **options)
        except Exception as error:  # noqa: BLE001  # the claim is about which
            return type(error).__name__
        return "taken"


def bodies(messages: list[ServiceBusReceivedMessage]) -> list[str]:
    """Return their bodies as text."""
    return [str(message) for message in messages]


def world() -> Iterator[Server]:
    """Return the virtual namespace."""
    virtual, numbers = ServiceBusWorld(create_missing=False), count(1)

    def make(kind: str) -> str:
        name = f"{kind}-{next(numbers)}"
        virtual.create_queue(name, **settings(kind, name))
        return name

    yield Server("ServiceBusWorld", virtual.client, lambda time: virtual.run(for_=time), make)


@contextmanager
def emulator() -> Iterator[Server]:
    """Return the emulator, with the real SDK on real AMQP."""
    names = {kind: [f"{kind}-{number}" for number in range(EACH)] for kind in KINDS}
    queues = [queue for kind, each in names.items() for name in each for queue in as_queues(kind, name)]
    with ServiceBusNamespace(queues) as namespace:
        client = ServiceBusClient.from_connection_string(namespace.connection_string, retry_total=0)
        server = Server(
            "emulator", client, namespace.advance, lambda kind: names[kind].pop(), patience=DEADLINE, impatience=0.3
        )
        yield server
        with ThreadPoolExecutor(16) as beside:  # each goodbye takes the SDK a second
            list(beside.map(lambda receiver: receiver.close(), server.receivers))
        client.close()


def settings(kind: str, name: str) -> dict[str, Any]:
    """Return the settings of a kind for one queue."""
    return {key: f"{name}-target" if value == "target" else value for key, value in KINDS[kind].items()}


NAMES = {
    "sessions": "requires_session",
    "duplicate_detection": "duplicate_detection_window",
    "max_delivery_count": "max_delivery_count",
    "dead_letter_queue": "forward_dead_lettered_messages_to",
    "time_to_live": "default_message_time_to_live",
    "dead_letter_expired": "dead_lettering_on_message_expiration",
    "forward_to": "forward_to",
    "max_size": "max_message_size",
}
"""Names of the world's settings in the emulator; both have their own defaults for the count of deliveries."""


def as_queues(kind: str, name: str) -> Iterator[Queue]:
    """Return the queue of a kind, and its target if it has one."""
    chosen = {"max_delivery_count": 100, **settings(kind, name)}
    yield Queue(name, **{NAMES[key]: value for key, value in chosen.items()})
    if "target" in KINDS[kind].values():
        yield Queue(f"{name}-target")
