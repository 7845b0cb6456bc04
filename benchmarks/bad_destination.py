"""Print what a handler that sends to a queue that does not exist costs another handler of its process: `bad_destination.py`, or `bad_destination.py 5` for five pairs.

The real SDK sends to the emulator. Periods with and without the bad handler take turns.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from contextlib import suppress
from statistics import median
from typing import NamedTuple

from azure.servicebus import ServiceBusClient

from failing_threads import native
from recoverable import Message, Recoverability
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.service_bus import Queue, ServiceBusNamespace

THREADS = 4
"""Of each handler."""

SECONDS = 3.0
PAIRS = 3


def send_to(queue: str, client: ServiceBusClient) -> ServiceBusEndpoint[None]:
    """Return an endpoint whose handler sends one message."""

    def bill(message: Message) -> None:
        message.send(queue, message.id)

    return ServiceBusEndpoint(bill, Recoverability(), queue="orders", connection="none", client=client)


def handle(endpoint: ServiceBusEndpoint[None], first: int, end: float) -> list[float]:
    """Handle messages one after the other, and return the seconds of each."""
    taken = list[float]()
    while (began := time.monotonic()) < end:
        with suppress(Exception):  # the host abandons the message
            endpoint(native(first + len(taken)))
        taken.append(time.monotonic() - began)
    return taken


class Period(NamedTuple):
    """How many messages the good handler handled, and the median of their milliseconds."""

    messages: int
    milliseconds: float


def period(client: ServiceBusClient, seconds: float, *, bad: bool) -> Period:
    """Run the good handler for so long, beside the bad one if that is asked for."""
    end, taken = time.monotonic() + seconds, list[float]()
    good, misspelt = send_to("invoices", client), send_to("misspelt", client)
    threads = [
        threading.Thread(target=lambda n=number: taken.extend(handle(good, n * 1_000_000, end)))
        for number in range(THREADS)
    ]
    if bad:
        threads += [threading.Thread(target=handle, args=(misspelt, n * 1_000_000, end)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Period(len(taken), median(taken) * 1e3)


def measured(pairs: int, seconds: float = SECONDS) -> tuple[Period, Period]:
    """Return the medians of periods without the bad handler, and of those beside it."""
    queues = [Queue("orders"), Queue("invoices")]
    with (
        ServiceBusNamespace(queues) as namespace,
        ServiceBusClient.from_connection_string(namespace.connection_string, retry_total=1) as client,
    ):
        period(client, 1, bad=False)
        runs = [(period(client, seconds, bad=False), period(client, seconds, bad=True)) for _ in range(pairs)]
    without, beside = (Period(*map(median, zip(*each, strict=True))) for each in zip(*runs, strict=True))
    return without, beside


def main(pairs: int) -> None:
    """Print a line for each, and their ratio."""
    logging.disable(logging.CRITICAL)
    without, beside = measured(pairs)
    for what, cost in (("alone", without), ("beside the bad one", beside)):
        print(f"{what:18}: {cost.messages:6.0f} messages in {SECONDS:g} s, median {cost.milliseconds:6.1f} ms")  # noqa: T201
    print(f"ratio             : {beside.messages / without.messages:6.2f}")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS)
