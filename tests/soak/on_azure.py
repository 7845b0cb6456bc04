"""The soak on Azure: the Service Bus namespace on loopback, and Functions hosts whose workers, Microsoft's own, are killed."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path

from azure.servicebus import ServiceBusClient, ServiceBusMessage

from recoverable._ladder.faults import EXCEPTION_TYPE
from recoverable_local.functions_host import Entry, LocalFunctions, Started
from recoverable_local.service_bus import (
    DropConnection,
    Fault,
    Operation,
    Queue,
    Refuse,
    SeenMessage,
    ServiceBusNamespace,
)
from soak.deeds import DAWDLE
from soak.ledger import SETTING
from soak.pranks import Prank, kill_child
from soak.tally import SetAside

QUEUE, ERROR_QUEUE = "soak", "soak-error"
HOSTS = 2
_BATCH = 500


class Workers:
    """The workers that are alive, as the journals name them."""

    def __init__(self) -> None:
        self._pids: deque[int] = deque(maxlen=HOSTS)

    def __call__(self, entry: Entry) -> None:
        """Take note of an entry: each new worker is in the place of one that died."""
        if isinstance(entry, Started):
            self._pids.append(entry.pid)

    def kill(self, draw: random.Random) -> bool:
        """Kill one of them."""
        return kill_child(draw.choice(list(self._pids)))


class Azure:
    """Hosts on a namespace."""

    def __init__(self, namespace: ServiceBusNamespace, workers: Workers) -> None:
        self._namespace = namespace
        self.pranks: dict[str, Prank] = {
            "killed workers": workers.kill,
            "times all connections dropped": self._drop_all,
            **{
                f"{operation.value} calls {words}": self._prank(operation, fault)
                for operation in (Operation.SEND, Operation.COMPLETE)
                for words, fault in FAULTS.items()
            },
        }

    def send(self, bodies: Sequence[str]) -> None:
        """Send messages."""
        with (
            ServiceBusClient.from_connection_string(self._namespace.connection_string) as client,
            client.get_queue_sender(QUEUE) as sender,
        ):
            for start in range(0, len(bodies), _BATCH):
                sender.send_messages([ServiceBusMessage(body) for body in bodies[start : start + _BATCH]])

    def remaining(self) -> int:
        """Return how many messages the queue holds."""
        return self._namespace.queue(QUEUE).depth().total

    def set_aside(self) -> list[SetAside]:
        """Return what lies in the error queue."""
        return [_set_aside(message) for message in self._namespace.queue(ERROR_QUEUE).messages()]

    def _drop_all(self, _: random.Random) -> bool:
        self._namespace.drop_connections()
        return True

    def _prank(self, operation: Operation, fault: Fault) -> Prank:
        def play(draw: random.Random) -> bool:
            self._namespace.fail(operation, fault, times=draw.randint(1, 4))  # the SDK tries twice or more
            return True

        return play


FAULTS: dict[str, Fault] = {
    "whose connection dropped before": DropConnection(),
    "whose connection dropped after": DropConnection(done=True),
    "refused by a busy namespace": Refuse(),
}


def _set_aside(message: SeenMessage) -> SetAside:
    properties = message.application_properties
    why = properties.get(EXCEPTION_TYPE) or properties.get("DeadLetterReason") or "no reason"
    return SetAside(message.json()["number"], why)


@contextmanager
def begin(ledger: Path) -> Iterator[Azure]:
    """Start namespace and hosts; locks are shorter than the slowest handler takes."""
    orders = Queue(
        QUEUE,
        lock_duration=timedelta(seconds=DAWDLE - 1),
        max_delivery_count=100,
        forward_dead_lettered_messages_to=ERROR_QUEUE,
    )
    workers = Workers()
    with ServiceBusNamespace([orders, ERROR_QUEUE]) as namespace, ExitStack() as running:
        for _ in range(HOSTS):
            host = LocalFunctions.from_folder(
                Path(__file__).with_name("app"),
                observe=workers,
                connection_string=namespace.connection_string,
                app_settings={SETTING: str(ledger)},
                python_path=[Path(__file__).parents[1]],
            )
            running.enter_context(host)
        yield Azure(namespace, workers)
