"""Run the local host with Microsoft's worker, as a host of the contract."""

from __future__ import annotations

import json
import shutil
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from azure.servicebus import ServiceBusClient, ServiceBusSender

from local.functions_host.running_functions import RunningFunctions
from local.lambda_host.processes import is_alive
from local.testing.hosts.azure.app import function_app
from local.testing.hosts.azure.hosts import AT_A_TIME, AT_EASE, DEAD_AFTER, ERRORS, LOCK, OF_A_BATCH, SESSIONS, Orders
from local.testing.hosts.notes import Notes
from recoverable_local.functions_host import MINIMAL_HOST_JSON, Ended, Entry, Invoked, LocalFunctions
from recoverable_local.service_bus import Depth, Queue

TESTS = Path(__file__).parents[4]


class RealHosts:
    """The local host with Microsoft's worker: one for each time-out, from the first test that needs it.

    Args:
        folder: for apps and notes.
        stack: in which they run.
    """

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        self._running: dict[int, Running] = {}

    def serve(self, queue: str, *, timeout: int = AT_EASE) -> Orders:
        """Return the orders of a host with this time-out."""
        if timeout not in self._running:
            self._running[timeout] = self._started(timeout)
        return self._running[timeout].orders(queue)

    def _started(self, timeout: int) -> Running:
        folder, seen = self._folder / str(timeout), list[Entry]()
        shutil.copytree(Path(function_app.__file__).parent, folder)
        (folder / "host.json").write_text(json.dumps(host_json(timeout)))
        notes = Notes(self._folder / f"{timeout}.notes")
        host = LocalFunctions.from_folder(
            folder, observe=seen.append, queues=QUEUES, app_settings={"NOTES": str(notes.path)}, python_path=[TESTS]
        )
        world = RunningFunctions(self._stack.enter_context(host), seen)
        client = ServiceBusClient.from_connection_string(world.namespace.connection_string)
        return Running(world, self._stack.enter_context(client), notes)


QUEUES = [
    Queue(
        queue,
        lock_duration=LOCK,
        max_delivery_count=DEAD_AFTER.get(queue, 100),
        forward_dead_lettered_messages_to=ERRORS,
        requires_session=queue in SESSIONS,
    )
    for queue in ("plain", "coroutine", "left", "brief", "text", "undeclared", "many", "texts", "session")
] + [Queue(ERRORS)]


def host_json(timeout: int) -> dict[str, Any]:
    """Return the host.json of a host with this time-out."""
    return {
        **json.loads(MINIMAL_HOST_JSON),
        "functionTimeout": str(timedelta(seconds=timeout)),
        "extensions": {
            "serviceBus": {
                "maxConcurrentCalls": AT_A_TIME,
                "maxConcurrentSessions": AT_A_TIME,
                "maxMessageBatchSize": OF_A_BATCH,
                "maxAutoLockRenewalDuration": str(timedelta(seconds=timeout)),
                "sessionIdleTimeout": "00:00:01",
            }
        },
    }


@dataclass(frozen=True)
class Running:
    """A running local host."""

    world: RunningFunctions
    client: ServiceBusClient
    notes: Notes
    senders: dict[str, ServiceBusSender] = field(default_factory=dict)

    def orders(self, queue: str) -> Orders:
        """Return one of its queues, with no record of earlier tests."""
        self.notes.clear()
        before, left = len(self.world.all(Ended)), list[Ended]()

        def is_done() -> bool:
            ended = self.world.all(Ended)
            for entry in ended[before:]:
                if entry.settled == "left" and entry not in left:
                    left.append(entry)
                    self.world.namespace.advance(LOCK)
            is_idle = len(ended) == len(self.world.all(Invoked))
            return is_idle and self.world.host.queue(queue).depth() == Depth()

        def is_gone() -> bool:
            given = self.notes.all("given")
            return bool(given) and not is_alive(given[-1]["process"])

        until = self.world.until
        if queue not in self.senders:
            self.senders[queue] = self.client.get_queue_sender(queue)
        return Orders(self.client, self.senders[queue], self.notes, lambda: until(is_done), lambda: until(is_gone))
