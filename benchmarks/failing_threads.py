"""Prints how many failing messages a second one process settles on Azure, by its threads: `failing_threads.py` or `failing_threads.py 16`.

Each message fails for the last time, so that its copy goes to the error queue. The client takes a fixed time for each send, as a
namespace in the same region does, and sends one batch at a time, as a sender of azure-servicebus does.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from azure.servicebus import ServiceBusMessage, ServiceBusMessageBatch

from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.azure import ServiceBusEndpoint

SEND = 0.015
"""Seconds of a send."""

SECONDS = 3.0
THREADS = (1, 16, 32)


class SlowSender:
    """A sender whose sends take their time; two at once would be a mistake."""

    def __init__(self) -> None:
        self._in_use = threading.Lock()
        self.sends = 0

    def create_message_batch(self) -> ServiceBusMessageBatch:
        """Return an empty batch of the usual size."""
        return ServiceBusMessageBatch(262_144)

    def send_messages(
        self, message: ServiceBusMessage | ServiceBusMessageBatch, *, timeout: float
    ) -> None:  # as the SDK
        """Take the time of a send, unless there is nothing to send."""
        if isinstance(message, ServiceBusMessageBatch) and not len(message):
            return
        if not self._in_use.acquire(blocking=False):
            raise AssertionError("two threads send at once")
        time.sleep(SEND)
        self.sends += 1
        self._in_use.release()


class SlowClient:
    """A client with one slow sender for each queue."""

    fully_qualified_namespace = "bench.servicebus.windows.net"

    def __init__(self) -> None:
        self.sender = SlowSender()

    def get_queue_sender(self, queue_name: str, **options: Any) -> SlowSender:  # as the SDK
        """Return the sender."""
        return self.sender


def fail(message: Message) -> None:
    """Fail for good."""
    raise ValueError(message.id)


def native(number: int) -> Any:
    """Return a trigger's message."""
    fields = {"message_id": f"m-{number}", "sequence_number": number, "delivery_count": 1, "application_properties": {}}
    fields |= dict.fromkeys(("user_properties", "enqueued_time_utc", "expires_at_utc", "metadata"))
    texts = dict.fromkeys(
        (
            "content_type",
            "correlation_id",
            "partition_key",
            "reply_to",
            "reply_to_session_id",
            "session_id",
            "subject",
            "to",
        )
    )
    return SimpleNamespace(get_body=lambda: b"{}", **fields, **texts)


def rate(threads: int, seconds: float = SECONDS) -> tuple[float, float]:
    """Return how many messages a second are settled, and how many of them go out with each send."""
    client: Any = SlowClient()
    settings = Recoverability(Immediate(0), Delayed(0, time_increase=timedelta(0)), Failed("error"))
    endpoint = ServiceBusEndpoint(fail, settings, queue="orders", connection="none", client=client)
    settled, end = [0] * threads, time.monotonic() + seconds

    def work(place: int) -> None:
        while time.monotonic() < end:
            endpoint(native(place * 1_000_000 + settled[place]))
            settled[place] += 1

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))
    return sum(settled) / seconds, sum(settled) / max(client.sender.sends, 1)


def main(counts: tuple[int, ...]) -> None:
    """Print a line for each number of threads."""
    logging.disable(logging.CRITICAL)
    for threads in counts:
        messages, together = rate(threads)
        print(f"{threads:3} threads: {messages:6.0f} failing messages a second, {together:4.1f} with each send")  # noqa: T201


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or THREADS)
