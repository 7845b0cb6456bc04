"""Serve a Service Bus namespace on loopback, without Docker, to which the Azure SDKs speak.

The queues are those that are named with --queue; their dead letters go where --error-queue says. Nothing is kept when it stops.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

from recoverable.local.console import port, say
from recoverable.local.service_bus.broker.settings import Queue
from recoverable.local.service_bus.emulator import ServiceBusNamespace
from recoverable.local.stopping import signals

_TICK = 0.1  # seconds


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    for name, how in _ARGUMENTS.items():
        parser.add_argument(name, **how)


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C or a request to terminate; 2 when an argument is at fault or the port is taken."""
    try:
        with signals() as received, ServiceBusNamespace(_queues(arguments), port=arguments.port) as namespace:
            say(_welcome(arguments, namespace))
            while not received:
                time.sleep(_TICK)
            say("Stopping.")
    except (ValueError, OSError) as error:
        sys.stderr.write(f"recoverable local service-bus: {error}\n")
        return 2
    return 0


def _queues(arguments: argparse.Namespace) -> list[Queue]:
    template = Queue(
        "template",
        max_delivery_count=arguments.max_delivery_count,
        lock_duration=timedelta(seconds=arguments.lock_duration),
    )
    names = [name for name in arguments.queue or ["orders"] if name != arguments.error_queue]
    queues = [
        replace(template, name=name, forward_dead_lettered_messages_to=arguments.error_queue)
        for name in names
    ]
    return [*queues, replace(template, name=arguments.error_queue)]


def _welcome(arguments: argparse.Namespace, namespace: ServiceBusNamespace) -> str:
    names = [queue.name for queue in _queues(arguments)]
    return "\n".join(
        [
            *(f"queue    {name}" for name in names),
            f"Connect with: {namespace.connection_string}",
            "Ctrl-C stops.",
        ]
    )


_ARGUMENTS: dict[str, dict[str, Any]] = {
    "--port": {
        "type": port,
        "default": 5672,
        "help": "where it listens; 0 for any free port (default: %(default)s)",
    },
    "--queue": {
        "action": "append",
        "default": [],
        "metavar": "NAME",
        "help": "a queue; can be repeated (default: orders)",
    },
    "--error-queue": {
        "default": "error",
        "metavar": "NAME",
        "help": "gets all dead letters; made if need be (default: %(default)s)",
    },
    "--max-delivery-count": {
        "type": int,
        "default": 100,
        "metavar": "N",
        "help": "of the queues (default: %(default)s)",
    },
    "--lock-duration": {
        "type": float,
        "default": 60,
        "metavar": "SECONDS",
        "help": "of the queues (default: %(default)s)",
    },
}
