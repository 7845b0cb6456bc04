"""Delays longer than one copy can wait: the copies hop until the message is due, and a hop is no attempt."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from threading import Lock
from time import monotonic
from typing import Any

import pytest

from aws.harness import Mapping, compete, ladder, lose_deliveries, sqs_endpoint, wait_for
from aws.placeholders import A_DATE, A_UUID
from builders import Clock, seconds
from recoverable import Message
from servers.moto import client_at
from servers.queues import HEADERS, Queue

SHORT: Any = {"longest_delay": timedelta(seconds=1)}
NOW = datetime(2026, 3, 4, 5, 6, 7, 89, tzinfo=UTC)
EARLIER, LATER = "2026-03-04 05:00:00:000000 Z", "2026-03-04 06:00:00:000000 Z"


class Ledger:
    """A handler that fails for some bodies, and remembers when it was given which attempt."""

    def __init__(self) -> None:
        self.runs: dict[str, list[tuple[int, int, float]]] = defaultdict(list)
        self._lock = Lock()

    def __call__(self, message: Message) -> None:
        with self._lock:
            self.runs[message.text].append((message.round, message.attempt, monotonic()))
        if message.text.startswith("bad"):
            raise ValueError("no")

    def places(self) -> dict[str, list[tuple[int, int]]]:
        return {body: [(round_, attempt) for round_, attempt, _ in runs] for body, runs in self.runs.items()}

    def waits(self, bodies: list[str]) -> list[float]:
        """Return the seconds between the last attempt of a body's round 0 and the first of its round 1."""
        return [self.runs[body][2][2] - self.runs[body][1][2] for body in bodies]


@pytest.mark.slow
@pytest.mark.parametrize("counter", ["native", "header"])
def test_a_delay_over_several_hops_is_never_short_and_counts_no_attempt(
    sqs: str, orders: Queue, error: Queue, counter: Any
) -> None:
    handler, settings = Ledger(), ladder(error, immediate=1, delayed=1, delay=3)
    bad, good = [f"bad {number}" for number in range(3)], [f"good {number}" for number in range(6)]
    for body in [*bad, *good]:
        orders.send(body)
    instances = [
        Mapping(orders, sqs_endpoint(handler, settings, client=client_at(sqs), counter=counter, **SHORT))
        for _ in range(3)
    ]

    compete(instances, until=lambda: error.count() == len(bad) and orders.count() == 0)

    ladder_of_the_bad = {body: [(0, 1), (0, 2), (1, 1), (1, 2)] for body in bad}
    assert handler.places() == {**{body: [(0, 1)] for body in good}, **ladder_of_the_bad}
    assert min(handler.waits(bad)) >= 3.0


@pytest.mark.slow
def test_a_delay_takes_as_many_hops_as_its_copies_wait_too_short(
    orders: Queue, error: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="recoverable")
    handler, clock = Ledger(), Clock()
    mapping = Mapping(orders, sqs_endpoint(handler, ladder(error, delayed=1, delay=3), clock=clock, **SHORT))
    orders.send("bad")

    for _ in range(4):  # an attempt, two hops of the three seconds, an attempt
        wait_for(lambda: mapping.poll() is not None)
        clock.advance(seconds(1))

    hops = ["it is not yet due" in record.getMessage() for record in caplog.records]
    assert (sum(hops), handler.places(), error.count()) == (2, {"bad": [(0, 1), (1, 1)]}, 1)


def not_due_before(moment: str) -> dict[str, Any]:
    """Return the headers of a copy on its way, as attributes to send."""
    headers = {
        "NServiceBus.MessageId": "the first id",
        "NServiceBus.Retries": "1",
        "NServiceBus.Retries.Timestamp": EARLIER,
        "NServiceBus.FLRetries": "2",
        "Recoverable.FirstDelayedRetry": EARLIER,
        "Recoverable.DueAt": moment,
    }
    return {HEADERS: {"DataType": "String", "StringValue": json.dumps(headers)}}


@pytest.mark.parametrize("lost", [0, 9])
def test_a_hop_leaves_every_header_as_it_is_however_often_it_was_delivered(
    orders: Queue, error: Queue, lost: int
) -> None:
    handler = Ledger()
    orders.send(attributes=not_due_before(LATER))
    lose_deliveries(orders, lost)
    mapping = Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=5, delayed=3), clock=lambda: NOW, **SHORT))

    reported = mapping.poll()

    wait_for(lambda: orders.visible() == 1)
    copies = orders.arrived()
    sent = json.loads(not_due_before(LATER)[HEADERS]["StringValue"])
    assert (reported, handler.runs) == ([], {})
    assert [copy.headers for copy in copies] == [sent | {"NServiceBus.TimeSent": A_DATE, "Recoverable.Origin": A_UUID}]


@pytest.mark.parametrize("due", [EARLIER, "2026-03-04 05:06:07:000089 Z", "9999-12-31 23:59:59:999999 Z", "soon"])
def test_what_is_due_or_says_nonsense_runs_now(orders: Queue, error: Queue, due: str) -> None:
    handler = Ledger()
    orders.send(attributes=not_due_before(due))

    Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=5), clock=lambda: NOW)).run_dry()

    assert handler.places() == {"hello": [(1, 3)]}
