"""Run a Function App on Service Bus queues, without Azure, Core Tools or Docker.

The app is a folder with function_app.py, host.json and, if there is one, local.settings.json. Its functions run in Microsoft's own Python
worker, in a process that is killed at functionTimeout as in Azure. Connections that the app settings have are used; for those that they
lack, a Service Bus namespace starts with the command, with the queues and topics that the triggers read and those of --queue.
With Core Tools and the official emulator at hand, `func start` runs the same folder.
"""

from __future__ import annotations

import argparse

from azure.servicebus.exceptions import ServiceBusError

from recoverable._service_bus.app_settings import ConnectionString
from recoverable_local.console import add_raw, port, print_error, print_line, print_note, serve
from recoverable_local.functions_host.app.advice import advice
from recoverable_local.functions_host.app.folder import AppError
from recoverable_local.functions_host.extension.client import namespace_of
from recoverable_local.functions_host.formatting import lines_of
from recoverable_local.functions_host.host import LocalFunctions
from recoverable_local.functions_host.settings import Settings
from recoverable_local.printing import Printer
from recoverable_local.service_bus.command import add_queue_settings
from recoverable_operate.templates import name_and_value


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    add = parser.add_argument
    add("folder", nargs="?", default=".", help="the app's folder (default: this one)")
    add(
        "--connection-string",
        metavar="TEXT",
        help="a namespace for all of the app's Service Bus connections (default: as the app settings say, else start one)",
    )
    add(
        "--all-local", action="store_true", help="start a namespace for all connections, also those of the app settings"
    )
    add(
        "--setting",
        type=name_and_value,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an app setting, over that of local.settings.json; can be repeated",
    )
    _add_namespace(parser)
    add_raw(parser)


def _add_namespace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--queue",
        action="append",
        default=[],
        metavar="NAME",
        help="a further queue of the started namespace; can be repeated",
    )
    parser.add_argument(
        "--topic",
        type=name_and_value,
        action="append",
        default=[],
        metavar="TOPIC=QUEUE",
        help="a topic of the started namespace, with a subscription that forwards to the queue; can be repeated",
    )
    parser.add_argument(
        "--error-queue",
        metavar="NAME",
        help="gets all its dead letters (default: the error queues of the app's endpoints, else the app setting RECOVERABLE_ERROR_QUEUE, else error)",
    )
    add_queue_settings(parser)
    parser.add_argument("--port", type=port, default=0, help="where it listens (default: any free port)")


def run(arguments: argparse.Namespace) -> int:
    """Serve until SIGINT or SIGTERM. Return the exit status: 0, or 2 after an error of the app, an argument or the namespace."""
    try:
        host = LocalFunctions(arguments.folder, _settings(arguments), observe=Printer(lines_of, raw=arguments.raw))
        serve(host, _startup_text, print_note if arguments.raw else print_line)
    except (AppError, ValueError, OSError, ServiceBusError) as error:
        return print_error("local azure", error)
    return 0


def _settings(arguments: argparse.Namespace) -> Settings:
    return Settings(
        app_settings=dict(arguments.setting),
        connection_string=arguments.connection_string,
        all_local=arguments.all_local,
        queues=arguments.queue,
        topics=arguments.topic,
        error_queue=arguments.error_queue,
        max_delivery_count=arguments.max_delivery_count,
        lock_duration=arguments.lock_duration,
        port=arguments.port,
        retry_log=arguments.raw,
    )


def _startup_text(host: LocalFunctions) -> str:
    """Return the startup text: what runs, what does not, and how to connect."""
    where = host.namespaces
    lines = [
        f"function {each.function:<32} reads {each.path} on {where[each.function]}" for each in host.served.triggers
    ]
    lines += [f"note     {each.function} is not run: {each.reason}" for each in host.served.not_served]
    notes = (*_of_namespaces(host), *advice(host.app.options, host.served.triggers, host.app.settings))
    lines += [f"note     {note}" for note in notes]
    if host.namespace is not None:
        lines += [f"queue    {name}" for name in host.queues]
        lines.append(f"Connect with: {host.namespace.connection_string}")
    return "\n".join([*lines, "Ctrl-C stops."])


def _of_namespaces(host: LocalFunctions) -> tuple[str, ...]:
    """Tell that some functions read the namespace that was started here, and others one of the app settings."""
    if host.namespace is None:
        return ()
    here = namespace_of(ConnectionString(host.namespace.connection_string))
    elsewhere = [name for name, namespace in host.namespaces.items() if namespace != here]
    if not elsewhere:
        return ()
    return (
        f"{', '.join(elsewhere)} read messages of a namespace that the app settings name, not of the one that was started here;"
        " write --all-local to read all from here",
    )
