"""What it costs to send an error queue back: messages a second beside a plain loop, and memory by the size of the queue.

    PYTHONPATH=tests:benchmarks .venv/bin/python benchmarks/error_queue.py

The plain loop receives, sends and deletes ten at a time, on as many connections: one. Both run in turn against ministack on
this machine, in short pairs, so that what else the machine does slows both; the ratio says what the plan, the journal and
the temporary database cost. Memory is that of a process of its
own, against a client in that process that makes its messages up; the base is what the process has before it looks.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from recoverable_operate.errors import Filter, Journal, Redrive, Rules, Settings, SqsErrorQueue, Stop, SystemClock
from recoverable_operate.errors._sweep import Plan, choosing
from waiting.stores import ministack

MESSAGES, PAIRS = 500, 20
HEADERS = "NServiceBus.AmazonSQS.Headers"
TRACE = "\n".join(f"   at shop.step{number}() in /var/task/shop.py:line {number}" for number in range(40))
FAULTS = {
    "NServiceBus.MessageId": "1",
    "NServiceBus.FailedQ": "orders",
    "NServiceBus.ExceptionInfo.ExceptionType": "shop.BankUnreachable",
    "NServiceBus.ExceptionInfo.StackTrace": TRACE,
    "NServiceBus.TimeOfFailure": "2026-11-22 10:00:00:000000 Z",
}
ATTRIBUTES: Any = {HEADERS: {"DataType": "String", "StringValue": json.dumps(FAULTS)}}


def main() -> None:
    """Print both tables."""
    with TemporaryDirectory() as folder, ministack(Path(folder)) as cloud:
        client = cloud.client("sqs")
        pairs = [(timed(client, plain_loop), timed(client, partial(ours, folder=folder))) for _ in range(PAIRS)]
    print("| messages a second | plain loop | recoverable errors retry | ratio |\n|---|---|---|---|")  # noqa: T201
    for name, (plain, sent, ratio) in quartiles([(plain, sent, sent / plain) for plain, sent in pairs]):
        print(f"| {name} of {PAIRS} pairs | {plain:,.0f} | {sent:,.0f} | {ratio:.2f} |", flush=True)  # noqa: T201
    print("\n| messages | peak MB above the base |\n|---|---|")  # noqa: T201
    for size in (10_000, 100_000):
        print(f"| {size:,} | {memory(size):.1f} |", flush=True)  # noqa: T201


def quartiles(rows: list[tuple[float, ...]]) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield the quartiles of each column."""
    columns = [statistics.quantiles(column, n=4) for column in zip(*rows, strict=True)]
    yield from zip(("lower quartile", "median", "upper quartile"), zip(*columns, strict=True), strict=True)


def timed(client: Any, send_back: Any) -> float:
    """Return the messages a second of one way to send a full error queue back."""
    error, orders = (client.create_queue(QueueName=f"q-{uuid4().hex}")["QueueUrl"] for _ in range(2))
    for _ in range(MESSAGES // 10):
        entries = [{"Id": str(n), "MessageBody": "x" * 500, "MessageAttributes": ATTRIBUTES} for n in range(10)]
        client.send_message_batch(QueueUrl=error, Entries=entries)
    began = time.perf_counter()
    send_back(client, error, orders)
    seconds = time.perf_counter() - began
    found = client.get_queue_attributes(QueueUrl=orders, AttributeNames=["All"])["Attributes"]
    assert int(found["ApproximateNumberOfMessages"]) == MESSAGES, found
    return MESSAGES / seconds


def plain_loop(client: Any, error: str, orders: str) -> None:
    """Receive, send and delete until nothing comes."""
    while messages := client.receive_message(
        QueueUrl=error, MaxNumberOfMessages=10, MessageAttributeNames=["All"], MessageSystemAttributeNames=["All"]
    ).get("Messages"):
        entries = [
            {"Id": str(n), "MessageBody": each["Body"], "MessageAttributes": each["MessageAttributes"]}
            for n, each in enumerate(messages)
        ]
        client.send_message_batch(QueueUrl=orders, Entries=entries)
        handles = [{"Id": str(n), "ReceiptHandle": each["ReceiptHandle"]} for n, each in enumerate(messages)]
        client.delete_message_batch(QueueUrl=error, Entries=handles)


def ours(client: Any, error: str, orders: str, folder: str) -> None:
    """Do as the command does."""
    send_back(client, error, orders, Journal(f"{folder}/{uuid4().hex}.sqlite"))


def send_back(client: Any, error: str, orders: str, journal: Journal) -> None:
    """Look, choose all, send back, and give back."""
    clock, stop, plan = SystemClock(), Stop(), Plan()
    queue = SqsErrorQueue(client, error, sender_for=lambda _: client, clock=clock, stop=stop, poll=0)
    rules = Rules(queue.address, frozenset(), queue.canonical(orders), queue.canonical)
    looking = choosing(queue, Filter(), None, rules, plan)
    Redrive(queue, journal, Settings(rate=0), plan, clock=clock, stop=stop).run_along(looking)
    queue.give_back()


class MadeUp:
    """A client whose queue has so many messages, made up when they are received.

    Args:
        size: how many.
    """

    def __init__(self, size: int) -> None:
        self._left = self._size = size
        self.meta = type("Meta", (), {"endpoint_url": "http://sqs"})()

    def get_queue_attributes(self, **_: Any) -> Any:
        arn = "arn:aws:sqs:eu-west-1:123456789012:error"
        return {"Attributes": {"QueueArn": arn, "ApproximateNumberOfMessages": str(self._size)}}

    def receive_message(self, **_: Any) -> Any:
        count = min(10, self._left)
        self._left -= count
        made = {"Attributes": {"SentTimestamp": "1", "ApproximateReceiveCount": "1"}, "MessageAttributes": ATTRIBUTES}
        return {
            "Messages": [
                {"MessageId": str(uuid4()), "ReceiptHandle": "h" * 400, "Body": "x" * 500, **made} for _ in range(count)
            ]
        }

    def __getattr__(self, name: str) -> Any:
        return lambda Entries, **_: {"Successful": [{"Id": each["Id"]} for each in Entries]}  # noqa: N803  # as boto3 has it


def memory(size: int) -> float:
    """Return the MB that a process of its own needs for a queue of this size."""
    run = subprocess.run([sys.executable, __file__, str(size)], capture_output=True, text=True, check=True)
    return float(run.stdout)


def measure(size: int) -> None:
    """Print the MB that sending so many back adds to this process."""
    import boto3  # noqa: F401  # which the command has loaded

    from recoverable.timeouts import SendFailed  # noqa: F401

    base = peak()
    with TemporaryDirectory() as folder:
        journal = Journal(f"{folder}/journal.sqlite")
        send_back(MadeUp(size), "http://sqs/123456789012/error", "http://sqs/123456789012/orders", journal)
    print(peak() - base)  # noqa: T201


def peak() -> float:
    """Return the most memory that this process had, in MB, as Linux counts it; `getrusage` would include that of its parent."""
    [found] = [line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line]
    return int(found) / 1024


if __name__ == "__main__":
    measure(int(sys.argv[1])) if sys.argv[1:] else main()
