"""What it costs to send an error queue of Service Bus back: beside a bare loop of receive, send and complete, on the emulator.

    PYTHONPATH=tests:benchmarks .venv/bin/python benchmarks/service_bus_error_queue.py

Both take ten at a time on one connection, in one process with the emulator, whose work is the same for both. The cost is processor
time, as the difference of two sizes: so what a run costs however few its messages are, and what else the machine does, do not count.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from azure.servicebus import ServiceBusClient, ServiceBusMessage

from recoverable_local.service_bus import Queue, ServiceBusNamespace
from recoverable_operate.errors import Filter, Journal, Plan, Redrive, Rules, Settings, Stop, SystemClock
from recoverable_operate.errors._azure.entity import Entity
from recoverable_operate.errors._azure.opening_client import open_entity
from recoverable_operate.errors._sweep import plan_redrive

SMALL, LARGE, PAIRS = 500, 2_500, 3
FAULTS: Any = {
    "NServiceBus.MessageId": "1",
    "NServiceBus.FailedQ": "orders",
    "NServiceBus.ExceptionInfo.ExceptionType": "shop.BankUnreachable",
    "NServiceBus.ExceptionInfo.StackTrace": "\n".join(
        f"   at shop.step{number}() in /var/task/shop.py:line {number}" for number in range(40)
    ),
    "NServiceBus.TimeOfFailure": "2026-11-22 10:00:00:000000 Z",
}


def main() -> None:
    """Print the table."""
    print("| processor time of a message, ms | bare loop | recoverable errors retry | ratio |\n|---|---|---|---|")  # noqa: T201
    rows = [(cost(bare_loop), cost(ours)) for _ in range(PAIRS)]
    for bare, retry in rows:
        print(f"| | {bare * 1000:.2f} | {retry * 1000:.2f} | {bare / retry:.2f} |", flush=True)  # noqa: T201
    print(f"| median | | | {statistics.median(bare / retry for bare, retry in rows):.2f} |")  # noqa: T201


def cost(send_back: Callable[[ServiceBusClient, ServiceBusNamespace], None]) -> float:
    """Return the processor seconds of a message."""
    return (spent(send_back, LARGE) - spent(send_back, SMALL)) / (LARGE - SMALL)


def spent(send_back: Callable[[ServiceBusClient, ServiceBusNamespace], None], size: int) -> float:
    """Return the processor seconds of sending a queue of this size back."""
    with ServiceBusNamespace([Queue("orders"), Queue("error")], []) as namespace:
        with ServiceBusClient.from_connection_string(namespace.connection_string) as client:
            with client.get_queue_sender("error") as sender:
                made: list[Any] = [
                    ServiceBusMessage(b"x" * 500, application_properties=dict(FAULTS)) for _ in range(10)
                ]
                for _ in range(size // 10):
                    sender.send_messages(made)
            began = time.process_time()
            send_back(client, namespace)
            seconds = time.process_time() - began
        assert len(namespace.queue("orders").messages()) == size
    return seconds


def bare_loop(client: ServiceBusClient, _: ServiceBusNamespace) -> None:
    """Receive, send and complete until nothing comes."""
    with client.get_queue_receiver("error", max_wait_time=1) as receiver, client.get_queue_sender("orders") as sender:
        while found := receiver.receive_messages(10, max_wait_time=1):
            sender.send_messages(
                [
                    ServiceBusMessage(b"".join(each.body), application_properties=each.application_properties)
                    for each in found
                ]
            )
            for each in found:
                receiver.complete_message(each)


def ours(client: ServiceBusClient, namespace: ServiceBusNamespace) -> None:
    """Do as the command does."""
    clock, stop, plan = SystemClock(), Stop(), Plan()
    entity = Entity(f"127.0.0.1:{namespace.port}", "error", dead_letters=False)
    queue = open_entity(client, client, entity, clock=clock, stop=stop, max_delivery_count=10, poll=1, sessions=False)
    rules = Rules(queue.address, frozenset(), queue.canonical("orders"), queue.canonical)
    plan_redrive(queue, Filter(), None, rules, plan)
    Redrive(queue, Journal(":memory:"), Settings(rate=0), plan, clock=clock, stop=stop).run_groups(lambda plan: None)
    queue.give_back()


if __name__ == "__main__":
    main()
