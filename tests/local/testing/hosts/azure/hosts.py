"""What the tests of the contract see of a host, a queue that is served by the scripted app; and the virtual host."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusSender
from azure.servicebus.amqp import AmqpAnnotatedMessage

from local.testing.hosts import script
from local.testing.hosts.azure.app import function_app
from local.testing.hosts.notes import Notes
from recoverable.hosting import current_environment
from recoverable_local.testing import ServiceBusWorld

AT_EASE = 600
"""Seconds that no invocation takes, on however slow a machine."""

AT_A_TIME = 2
"""Messages, or sessions, that are handled at a time."""

OF_A_BATCH = 3
"""Messages of a batch."""

LOCK = timedelta(seconds=60)

ERRORS = "errors"
DEAD_AFTER = {"left": 2, "brief": 2}
"""The queues whose messages are dead letters after so many deliveries; those of others after a hundred."""

SESSIONS = ("session",)


@dataclass(frozen=True)
class Orders:
    """A queue that is served.

    Args:
        client: of its namespace.
        sender: to the queue; it stays open, for each goodbye takes the SDK a second.
        notes: what the functions write down.
        run: goes on until nothing is left in the queue; what is left locked comes back when its lock has ended.
        until_gone: goes on until the function's process has ended.
    """

    client: ServiceBusClient
    sender: ServiceBusSender
    notes: Notes
    run: Callable[[], None]
    until_gone: Callable[[], None]

    def send(self, *scripts: str | Mapping[str, Any], **fields: Any) -> None:
        """Send messages together; a text is the name of one that is simply handled."""
        bodies = [{"name": script} if isinstance(script, str) else dict(script) for script in scripts]
        self.send_raw(*(ServiceBusMessage(json.dumps(body), **fields) for body in bodies))

    def send_raw(self, *messages: ServiceBusMessage | AmqpAnnotatedMessage) -> None:
        """Send messages as they are, in one batch if they are several."""
        together: Any = messages[0] if len(messages) == 1 else list(messages)
        self.sender.send_messages(together)

    def given(self) -> list[Any]:
        """What functions were given, invocation for invocation."""
        return self.notes.all("given")

    def deliveries(self) -> list[list[tuple[str, int]]]:
        """The names of the messages in each invocation, and which deliveries they were."""
        return [[named(message) for message in given["messages"]] for given in self.given()]

    def received(self) -> list[tuple[str, int]]:
        """The same, whichever invocation it was."""
        return [one for batch in self.deliveries() for one in batch]

    def processes(self) -> list[int]:
        """In which process each invocation was, numbered from 1."""
        names = [given["process"] for given in self.given()]
        return [list(dict.fromkeys(names)).index(name) + 1 for name in names]

    def dead(self) -> list[dict[str, Any]]:
        """What the error queue has been sent: each letter's properties."""
        with self.client.get_queue_receiver(ERRORS) as receiver:
            letters = receiver.receive_messages(10, max_wait_time=5)
            for letter in letters:
                receiver.complete_message(letter)
        return [
            {"source": letter.dead_letter_source, **texts(letter.application_properties or {})} for letter in letters
        ]


Serve = Callable[..., Orders]


def named(message: Mapping[str, Any]) -> tuple[str, int]:
    """A message by its name, and which delivery it is."""
    return json.loads(message["body"])["name"], message["delivery_count"]


def texts(properties: Mapping[Any, Any]) -> dict[str, str]:
    """Properties as text; the SDK gives bytes."""
    return {name.decode(): value.decode() for name, value in properties.items() if isinstance(value, bytes)}


def in_world(queue: str, notes: Notes, *, timeout: int = AT_EASE) -> Orders:
    """The virtual host."""
    world = ServiceBusWorld()
    world.create_queue(
        queue,
        lock=LOCK,
        max_delivery_count=DEAD_AFTER.get(queue, 100),
        dead_letter_queue=ERRORS,
        sessions=queue in SESSIONS,
    )
    world.serve(queue, function_app.app, concurrency=AT_A_TIME, batch_size=OF_A_BATCH, timeout=timeout)
    script.HERE = in_process(world, notes)

    return Orders(world.client, world.client.get_queue_sender(queue), notes, world.run, lambda: world.run(for_=1))


def in_process(world: ServiceBusWorld, notes: Notes) -> script.Ways:
    """How functions do things in a world, of whose processes each has a client."""
    clients: list[object] = []

    def process(_context: object) -> int:
        around = current_environment.get()
        assert around is not None
        if around.client not in clients:
            clients.append(around.client)
        return clients.index(around.client)

    return script.Ways(
        notes=notes.path, die=world.kill, spend=world.spend, process=process, meet=lambda _count: world.spend(1)
    )
