"""What a million delayed messages cost by hopping, from a store, and by EventBridge Scheduler: the table of docs/use/later.md.

    PYTHONPATH=tests:tests/benchmarks .venv/bin/python tests/benchmarks/timeouts_cost.py

Hopping is simulated with the real endpoint; what the store costs follows from the size of a row and the calls that the store makes, which its tests count.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from math import ceil
from typing import Any

from recoverable import Delayed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.timeouts import Timeouts
from recoverable.timeouts._dynamodb_items import to_item
from recoverable.timeouts._store import Selection
from recoverable_local.testing import SqsWorld
from recoverable_local.timeouts import SqliteStore
from simulation.meter import Meter
from simulation.prices import lambda_dollars, sqs_dollars

WRITE_UNIT = 0.625 / 1_000_000
"""Dollars for writing up to 1 KB (Amazon DynamoDB on-demand pricing, us-east-1, since November 2024)."""

READ_UNIT = 0.125 / 1_000_000
"""Dollars for a consistent read of up to 4 KB (Amazon DynamoDB on-demand pricing, us-east-1, since November 2024)."""

STORED_GB_MONTH = 0.25 + 0.20
"""Dollars for 10⁹ bytes a month, and for being able to restore them to any point (Amazon DynamoDB pricing, us-east-1)."""

SCHEDULER = 1.00 / 1_000_000
"""Dollars for an invocation of a schedule, beyond the free 14 million a month (Amazon EventBridge Scheduler pricing, us-east-1)."""

MILLION = 1_000_000
MESSAGES = 100
LONGEST = timedelta(seconds=900)
"""SQS delays a message by 15 minutes at most (Amazon SQS delay queues)."""

ALONE = 20.0
"""Seconds between two messages, for each to travel alone."""

DELAYS = (timedelta(hours=1), timedelta(hours=6), timedelta(days=1), timedelta(days=7), timedelta(days=30))
BODY = "x" * 1_000


def main() -> None:
    """Print the table."""
    logging.disable()
    print("| delay | hopping, each alone | hopping, ten together | store | EventBridge Scheduler |")  # noqa: T201
    print("| --- | --- | --- | --- | --- |")  # noqa: T201
    alone, together = a_hop(apart=ALONE), a_hop(apart=0.0)
    for delay in DELAYS:
        hops = ceil(delay / LONGEST) - 1
        figures = (hops * alone, hops * together, stored(delay), SCHEDULER * MILLION)
        dollars = " | ".join(f"{each:,.2f}" for each in figures)
        print(f"| {named(delay)} | {dollars} |", flush=True)  # noqa: T201


def named(delay: timedelta) -> str:
    """Return a delay in words."""
    hours = delay // timedelta(hours=1)
    return f"{hours} h" if hours < 24 else f"{delay.days} d"


def a_hop(*, apart: float) -> float:
    """Return the dollars for a million hops, beyond the cost of the retry itself: three make an hour of four quarters."""
    return (run(4 * LONGEST, apart) - run(LONGEST, apart)) / 3


def run(delay: timedelta, apart: float) -> float:
    """Return the dollars for a million messages that fail once and are retried after the delay."""
    world = SqsWorld(seed=1, most_invocations=10**9)
    meter = Meter(world, calls_take_time=True)
    ladder = Recoverability(immediate=Immediate(0), delayed=Delayed(1, time_increase=delay))
    world.serve("orders", meter.over(SqsEndpoint(fail_once, ladder)), recursive_loop="Allow")

    def send() -> None:
        world.send("orders", BODY)

    for number in range(MESSAGES):
        world.at(number * apart, send)
    world.run()
    dollars = sqs_dollars(meter.requests) + lambda_dollars(meter.invocations, meter.milliseconds / 1_000)
    return dollars / MESSAGES * MILLION


def fail_once(message: Message) -> None:
    """Fail at the first attempt."""
    if message.round == 0:
        raise ConnectionError


def stored(delay: timedelta) -> float:
    """Return the dollars for a million timeouts: written, checked, read, marked, kept, and sent ten at a time."""
    size = bytes_of(a_row())
    units = 2 * ceil(size / 1_024) * WRITE_UNIT + READ_UNIT + size / 4_096 * READ_UNIT
    months = delay / timedelta(days=30)
    return (units + size / 1e9 * STORED_GB_MONTH * months + sqs_dollars(0.1)) * MILLION


def a_row() -> dict[str, Any]:
    """Return the item of a message of 1 KB."""
    store: Any = SqliteStore()
    Timeouts(store, endpoint="shop").schedule(
        "https://sqs.us-east-1.amazonaws.com/123456789012/orders", BODY, delay=timedelta(hours=1)
    )
    [[row]] = list(store.scan(Selection()))
    store.close()
    return to_item(row.timeout)


def bytes_of(item: dict[str, Any]) -> int:
    """Return an item's bytes as DynamoDB counts them: names and values."""
    return sum(len(name) + len(str(value).encode()) for name, value in item.items())


def a_month_of_polling() -> float:
    """Return the dollars for the dispatcher's runs in a month in which nothing is due: eight shards taken, four minutes of each read, given back."""
    runs, shards = 30 * 24 * 60, 8
    units = shards * (2 * WRITE_UNIT + READ_UNIT + 4 * READ_UNIT)
    return runs * (units + lambda_dollars(1, 0.5))


if __name__ == "__main__":
    main()
    print(f"\nA row of a message of 1 KB has {bytes_of(a_row()):,} bytes.")  # noqa: T201
    print(f"Polling costs {a_month_of_polling():.2f} dollars a month.")  # noqa: T201
