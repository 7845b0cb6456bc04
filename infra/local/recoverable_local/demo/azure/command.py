"""Send example orders to the example shop on a local Service Bus, and show each retry.

The function app runs as host.json says, in Microsoft's own Python worker. The delays are shortened by app settings; time is real. Only the
namespace that starts with the command is used, even if the environment names another one. The exit status is 0 if each order ended where
it must, else 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from functools import partial

from azure.servicebus import ServiceBusClient, ServiceBusMessage
from rich.console import Console

from recoverable_local.console import print_error
from recoverable_local.decisions import Decided
from recoverable_local.demo.orders import DEADLY, NEIGHBOUR, ORDERS, Order, orders_with_bodies
from recoverable_local.demo.progress import UNREPORTED, Event, InvocationEnded, InvocationStarted, OrderDecided
from recoverable_local.demo.redriving import HOPELESS, report_sent_back, send_group_back, show_groups
from recoverable_local.demo.result import ErrorMessage, report_counters, report_outgoing, report_result
from recoverable_local.demo.tables import error_queue_table
from recoverable_local.demo.watcher import Watcher, show_progress
from recoverable_local.functions_host import AppError, Died, Ended, Entry, Invoked, LocalFunctions
from recoverable_local.service_bus import Queue, QueueView, SeenMessage, ServiceBusNamespace
from recoverable_operate.errors import Entity, ErrorQueue, ServiceBusErrorQueue, Stop, SystemClock

LADDER = {"RECOVERABLE_IMMEDIATE_RETRIES": "2", "RECOVERABLE_DELAYED_RETRIES": "2", "RECOVERABLE_TIME_INCREASE": "2s"}
WHERE = "The example shop is in the project's repository; give the folder of that with --folder."
BEGINNING = (
    "Azure: two immediate and two delayed retries, so at most 9 attempts per order. The one that kills its process is sent when the others "
    "are done, and the good order beside it while the killed worker restarts."
)
DEADLINE = timedelta(seconds=120)
IDS = {f"order-{number}": order for number, order in enumerate(ORDERS, start=1)}
QUEUES = (
    Queue("orders-error"),
    Queue("orders-placed", duplicate_detection_window=timedelta(minutes=10)),
    Queue(  # as infra/azure/main.bicep has it
        "orders",
        max_delivery_count=100,
        forward_dead_lettered_messages_to="orders-error",
        duplicate_detection_window=timedelta(minutes=10),
    ),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    parser.add_argument("--folder", default=".", help="the example shop's function app (default: the current folder)")


def run(arguments: argparse.Namespace) -> int:
    """Run the demo. Return the exit status: 0, 1 if an order did not end where it must, 2 if the example shop cannot be run."""
    try:
        with ServiceBusNamespace(QUEUES) as namespace:
            return show(arguments.folder, namespace, Console())
    except AppError as error:
        return print_error("demo azure", f"{error}\n{WHERE}")


def show(folder: str, namespace: ServiceBusNamespace, console: Console) -> int:
    """Send the orders, show their progress, and check the result. Return the exit status."""
    watcher = create_watcher(namespace)
    console.print(BEGINNING)
    with create_host(folder, namespace, watcher) as host:
        if not any(trigger.queue == "orders" for trigger in host.served.triggers):
            raise AppError(f"No function in {host.app.folder} reads the queue 'orders'.")
        with show_progress(watcher, console):
            send_orders(host, watcher, namespace)
        errors = namespace.queue("orders-error").messages()
        found = [ErrorMessage(text_of(message), message.application_properties) for message in errors]
        console.print(error_queue_table("orders-error", found))
        report_counters(watcher.counts, console)
        sent = [text_of(message) for message in namespace.queue("orders-placed").messages()]
        status = report_outgoing(watcher.progress, sent, console)
        status = status or report_result(watcher.progress, found, console)
        return status or send_back(host, namespace, watcher, console)


def send_back(host: LocalFunctions, namespace: ServiceBusNamespace, watcher: Watcher[Entry], console: Console) -> int:
    """List the groups of the error queue, and send one of them back. Return 0 if it succeeds then, else 1."""
    with ServiceBusClient.from_connection_string(namespace.connection_string) as client:
        show_groups(error_queue(client), console)
        sent = send_group_back(error_queue(client), ["orders"], console)
    with suppress(TimeoutError):  # the report says so
        host.run_until(lambda: watcher.progress.orders[HOPELESS].placed, deadline=DEADLINE)
    return report_sent_back(sent, watcher.progress, console)


def error_queue(client: ServiceBusClient) -> ErrorQueue:
    """Return the error queue as an operator reads it."""
    entity = Entity(client.fully_qualified_namespace, "orders-error", dead_letters=False)
    return ServiceBusErrorQueue(client, client, entity, clock=SystemClock(), stop=Stop())


def create_watcher(namespace: ServiceBusNamespace) -> Watcher[Entry]:
    """Create a watcher that looks up delivered messages in the queue."""
    watcher = Watcher[Entry](partial(to_event, namespace.queue("orders")))
    watcher.set_ids(IDS)
    return watcher


def to_event(queue: QueueView, entry: Entry, ids: Mapping[str, Order]) -> Event | None:
    """Convert a journal entry into an event; None if it is about no order.

    A delivery has only a sequence number, and a copy's id differs from its original's. So the order is found by the message's body in the
    queue, where the message stays while it is locked.

    Args:
        queue: The queue.
        entry: The entry.
        ids: The orders by the ids of their messages.
    """
    match entry:
        case Invoked(request_id=request_id, messages=messages):
            delivered = {each.sequence_number for each in messages}
            bodies = (text_of(each) for each in queue.messages() if each.sequence_number in delivered)
            return InvocationStarted(request_id, orders_with_bodies(bodies))
        case Ended(request_id=request_id, outcome=outcome):
            return InvocationEnded(request_id, isinstance(outcome, Died))
        case Decided(facts=facts, done=True) if (order := ids.get(facts.message_id)) is not None:
            delay = facts.delay.total_seconds() if facts.delay else 0
            return OrderDecided(order, facts.action, delay=delay, attempted=not facts.unreported)
        case _:
            return None


def text_of(message: SeenMessage) -> str:
    """Decode a message's body."""
    return message.body.decode(errors="replace")


def create_host(folder: str, namespace: ServiceBusNamespace, watcher: Watcher[Entry]) -> LocalFunctions:
    """Create a host that uses only this namespace: `AzureWebJobs…` is looked up before a connection's other names.

    The worker has one thread. So the good order beside the deadly one waits behind it, and usually dies with it once. With more threads it
    would often be processed before.
    """
    connection = namespace.connection_string
    settings = {
        **LADDER,
        "AzureWebJobsServiceBus": connection,
        "RECOVERABLE_ERROR_QUEUE": "orders-error",
        "PLACED_QUEUE": "orders-placed",
        "PYTHON_THREADPOOL_THREAD_COUNT": "1",
    }
    return LocalFunctions.from_folder(folder, observe=watcher, app_settings=settings, connection_string=connection)


def send_orders(host: LocalFunctions, watcher: Watcher[Entry], namespace: ServiceBusNamespace) -> None:
    """Send the orders: the deadly one when the others are done, and the good one beside it after the first death.

    When the process dies, all messages in flight in it fail. An order that is in flight at each delivery of the deadly one would go to the
    error queue with it. So most orders are done before. The good order beside it comes one death later, and still has deliveries when the
    deadly one has none.

    Raises:
        TimeoutError: An order has not ended at the deadline.
    """
    others = [order for order in ORDERS if order not in (DEADLY, NEIGHBOUR)]
    queue = namespace.queue("orders")
    send(host, *others)
    host.run_until(lambda: watcher.ended(others) and queue.depth().total == 0, deadline=DEADLINE)
    send(host, DEADLY)
    host.run_until(lambda: UNREPORTED in watcher.progress.orders[DEADLY].steps, deadline=DEADLINE)
    send(host, NEIGHBOUR)
    host.run_until(lambda: watcher.ended() and queue.depth().total == 0, deadline=DEADLINE)


def send(host: LocalFunctions, *orders: Order) -> None:
    """Send orders, each with its message id."""
    ids = {order: message_id for message_id, order in IDS.items()}
    host.send("orders", *(ServiceBusMessage(order.body, message_id=ids[order]) for order in orders))
