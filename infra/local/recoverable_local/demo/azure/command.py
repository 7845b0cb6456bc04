"""Send a handful of orders to the example shop on a local Service Bus, and watch them climb the ladder.

The function app runs as host.json says, in Microsoft's own Python worker; the delays are shortened by app settings, time is real. No
namespace but the one that starts with the command is used, whatever the environment has. The exit status is 0 when each order ended where
it must, and 1 when one was lost or ended elsewhere.
"""

from __future__ import annotations

import argparse
from datetime import timedelta

from azure.servicebus import ServiceBusMessage
from rich.console import Console

from recoverable_local.console import print_error
from recoverable_local.demo.azure.entries import Reader, given_up, text_of
from recoverable_local.demo.orders import DEADLY, NEIGHBOUR, ORDERS, Order
from recoverable_local.demo.picture import error_queue
from recoverable_local.demo.story import WORDLESS
from recoverable_local.demo.verdict import judge
from recoverable_local.demo.watcher import Watcher, shown
from recoverable_local.functions_host import AppError, Entry, LocalFunctions
from recoverable_local.service_bus import Queue, ServiceBusNamespace

LADDER = {"IMMEDIATE_RETRIES": "2", "DELAYED_RETRIES": "2", "TIME_INCREASE_SECONDS": "2"}
WHERE = "The example shop is in the project's repository; give the folder of that with --folder."
BEGINNING = (
    "Azure: two immediate and two delayed retries, so at most 9 attempts an order. The deadly one comes when the others are done, "
    "and its neighbour while the worker that it killed starts anew."
)
DEADLINE = timedelta(seconds=120)
IDS = {f"order-{number}": order for number, order in enumerate(ORDERS, start=1)}
QUEUES = (
    Queue("orders-error"),
    Queue(  # as infra/azure/main.bicep has it
        "orders",
        max_delivery_count=100,
        forward_dead_lettered_messages_to="orders-error",
        duplicate_detection_window=timedelta(minutes=10),
    ),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--folder", default=".", help="the example shop's function app (default: the current folder)")


def run(arguments: argparse.Namespace) -> int:
    """Run the demo; 1 when an order did not end where it must, 2 when there is no shop to run, or nothing to run it in."""
    try:
        with ServiceBusNamespace(QUEUES) as namespace:
            return show(arguments.folder, namespace, Console())
    except AppError as error:
        return print_error("demo azure", f"{error}\n{WHERE}")


def show(folder: str, namespace: ServiceBusNamespace, console: Console) -> int:
    """Send the orders, show what becomes of them, and judge."""
    watcher = watching(namespace)
    console.print(BEGINNING)
    with hosting(folder, namespace, watcher) as host:
        if not any(trigger.queue == "orders" for trigger in host.served.triggers):
            raise AppError(f"No function in {host.app.folder} reads the queue 'orders'.")
        with shown(watcher, console):
            play(host, watcher, namespace)
    found = [given_up(message) for message in namespace.queue("orders-error").messages()]
    console.print(error_queue("orders-error", found))
    return judge(watcher.story, found, console)


def watching(namespace: ServiceBusNamespace) -> Watcher[Entry]:
    """A watcher that looks into the queue for what was delivered."""
    queue = namespace.queue("orders")
    read = Reader(lambda: {each.sequence_number: text_of(each) for each in queue.messages()})
    watcher = Watcher[Entry](read)
    watcher.begin(IDS)
    return watcher


def hosting(folder: str, namespace: ServiceBusNamespace, watcher: Watcher[Entry]) -> LocalFunctions:
    """A host that reads this namespace and no other, whatever the environment has: of a connection's names `AzureWebJobs…` comes first.

    The worker has one thread, in which the neighbour waits for its turn behind the deadly order, and so as a rule is seen to die with it.
    Of more it would often be the faster.
    """
    connection = namespace.connection_string
    settings = {
        **LADDER,
        "AzureWebJobsServiceBus": connection,
        "RECOVERABLE_ERROR_QUEUE": "orders-error",
        "PYTHON_THREADPOOL_THREAD_COUNT": "1",
    }
    return LocalFunctions.from_folder(folder, observe=watcher, app_settings=settings, connection_string=connection)


def play(host: LocalFunctions, watcher: Watcher[Entry], namespace: ServiceBusNamespace) -> None:
    """Send the orders in their order of appearance.

    A death takes all along that the worker has in flight, so that orders which meet the deadly one at each of its deliveries are given up
    with it. The others therefore are done before it comes. Its neighbour comes one death later, and has deliveries left when the deadly
    one has none.

    Raises:
        TimeoutError: An order is not at its end at the deadline.
    """
    others = [order for order in ORDERS if order not in (DEADLY, NEIGHBOUR)]
    queue = namespace.queue("orders")
    send(host, *others)
    host.run_until(lambda: watcher.ended(others) and queue.depth().total == 0, deadline=DEADLINE)
    send(host, DEADLY)
    host.run_until(lambda: WORDLESS in watcher.story.trails[DEADLY].steps, deadline=DEADLINE)
    send(host, NEIGHBOUR)
    host.run_until(lambda: watcher.ended() and queue.depth().total == 0, deadline=DEADLINE)


def send(host: LocalFunctions, *orders: Order) -> None:
    """Send orders, each with the id by which the log names it."""
    ids = {order: message_id for message_id, order in IDS.items()}
    host.send("orders", *(ServiceBusMessage(order.body, message_id=ids[order]) for order in orders))
