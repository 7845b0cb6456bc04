"""Serve a Service Bus namespace to the Azure SDKs on loopback, without Docker.

--queue names the queues, --error-queue the queue that gets their dead letters; --config names a file with queues, topics and
subscriptions instead, in the format of Microsoft's emulator (Config.json). All messages are lost when the command stops.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path

from recoverable_local.console import port, print_error, seconds, serve
from recoverable_local.service_bus.broker.profile import SUBSCRIPTIONS
from recoverable_local.service_bus.broker.settings import Queue, Topic
from recoverable_local.service_bus.config_file import read_config
from recoverable_local.service_bus.emulator import ServiceBusNamespace


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    parser.add_argument(
        "--port", type=port, default=5672, help="where it listens; 0 for any free port (default: %(default)s)"
    )
    parser.add_argument(
        "--queue", action="append", default=[], metavar="NAME", help="a queue; can be repeated (default: orders)"
    )
    parser.add_argument(
        "--error-queue",
        default="error",
        metavar="NAME",
        help="gets all dead letters; made if need be (default: %(default)s)",
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="a Config.json with all entities, in place of the other options"
    )
    add_queue_settings(parser)


def add_queue_settings(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for all queues of a namespace that a command starts."""
    parser.add_argument(
        "--max-delivery-count", type=int, default=100, metavar="N", help="of the queues (default: %(default)s)"
    )
    parser.add_argument(
        "--lock-duration", type=seconds, default="60", metavar="SECONDS", help="of the queues (default: %(default)s)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGINT or SIGTERM. Return the exit status: 0, or 2 if an argument is invalid or the port is taken."""
    try:
        queues, topics = read_config(arguments.config) if arguments.config else (_queues(arguments), [])
        serve(ServiceBusNamespace(queues, topics, port=arguments.port), partial(_startup_text, queues, topics))
    except (ValueError, OSError) as error:
        return print_error("local service-bus", error)
    return 0


def _queues(arguments: argparse.Namespace) -> list[Queue]:
    template = Queue("template", max_delivery_count=arguments.max_delivery_count, lock_duration=arguments.lock_duration)
    names = [name for name in arguments.queue or ["orders"] if name != arguments.error_queue]
    queues = [replace(template, name=name, forward_dead_lettered_messages_to=arguments.error_queue) for name in names]
    return [*queues, replace(template, name=arguments.error_queue)]


def _startup_text(queues: list[Queue], topics: list[Topic], namespace: ServiceBusNamespace) -> str:
    lines = [f"queue    {queue.name}" for queue in queues]
    for topic in topics:
        lines += [
            f"topic    {topic.name}",
            *(f"         {topic.name}{SUBSCRIPTIONS}{each.name}" for each in topic.subscriptions),
        ]
    return "\n".join([*lines, f"Connect with: {namespace.connection_string}", "Ctrl-C stops."])
