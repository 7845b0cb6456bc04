"""The ladder counted by headers: each attempt is a copy, and deliveries count for nothing."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from aws.harness import Mapping, compete, ladder, lose_deliveries, sqs_endpoint
from recoverable import Message
from recoverable.headers import RETRY_HEADERS
from recoverable_local.testing import SqsWorld
from servers.faulty_proxy import FaultyProxy
from servers.moto import client_at
from servers.queues import Queue

HEADER: Any = {"counter": "header"}
COUNTS = ("NServiceBus.Retries", "NServiceBus.FLRetries")


class Ledger:
    """A handler that always fails, and remembers place on the ladder, delivery and counters of each run."""

    def __init__(self) -> None:
        self.runs: list[tuple[int, int]] = []
        self.headers: list[dict[str, str]] = []
        self.native: Counter[str] = Counter()

    def __call__(self, message: Message) -> None:
        self.runs.append((message.round, message.attempt))
        self.headers.append({name: message.headers[name] for name in COUNTS if name in message.headers})
        self.native[message.native["messageId"]] += 1
        raise ValueError("no")


@pytest.fixture
def handler() -> Ledger:
    return Ledger()


def test_every_attempt_is_a_copy_that_carries_the_count(
    orders: Queue, error: Queue, proxy: FaultyProxy, handler: Ledger
) -> None:
    orders.send()

    Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=1, delayed=1), **HEADER)).run_dry()

    retries, carried = COUNTS
    assert handler.runs == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert handler.headers == [{}, {carried: "1"}, {retries: "1"}, {retries: "1", carried: "1"}]
    assert len(handler.native) == 4
    assert proxy.entries == {"SendMessageBatch": 4, "DeleteMessageBatch": 4}


def test_six_competing_instances_make_the_attempts_of_the_table(
    sqs: str, orders: Queue, error: Queue, handler: Ledger
) -> None:
    settings = ladder(error, immediate=2, delayed=2)
    orders.send("first")
    orders.send("second")
    instances = [Mapping(orders, sqs_endpoint(handler, settings, client=client_at(sqs), **HEADER)) for _ in range(6)]

    compete(instances, until=lambda: error.count() == 2 and orders.count() == 0)

    places = [(round_, attempt) for round_ in range(3) for attempt in range(1, 4)]
    assert Counter(handler.runs) == Counter(places * 2)


def test_the_error_copy_has_no_counters(orders: Queue, error: Queue, handler: Ledger) -> None:
    orders.send()

    Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=1, delayed=1), **HEADER)).run_dry()

    (copy,) = error.arrived()
    assert [name for name in copy.headers if "Retries" in name or name in RETRY_HEADERS] == []


def test_up_to_two_lost_deliveries_of_a_copy_count_for_nothing(orders: Queue, error: Queue, handler: Ledger) -> None:
    orders.send()
    lose_deliveries(orders, 2)

    Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=1), **HEADER)).run_dry()

    assert handler.runs == [(0, 1), (0, 2)]


def test_three_lost_deliveries_of_one_copy_count_as_one_attempt(orders: Queue, error: Queue, handler: Ledger) -> None:
    orders.send()
    lose_deliveries(orders, 3)

    Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=2), **HEADER)).run_dry()

    assert handler.runs == [(0, 2), (0, 3)]


def test_a_message_that_kills_at_every_delivery_ends_in_the_error_queue(
    orders: Queue, error: Queue, handler: Ledger
) -> None:
    orders.send()
    endpoint = Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=1, delayed=1), **HEADER))

    for _ in range(4):
        lose_deliveries(orders, 3)
        endpoint.poll()

    (copy,) = error.arrived()
    assert (handler.runs, orders.count()) == ([], 0)
    assert copy.headers["NServiceBus.ExceptionInfo.ExceptionType"] == "recoverable.UnreportedFailure"


@pytest.mark.parametrize(("immediate", "delayed"), [(0, 0), (1, 0), (2, 1), (0, 2)])
def test_a_message_that_kills_runs_three_times_for_each_attempt_of_the_formula(immediate: int, delayed: int) -> None:
    world, runs = SqsWorld(), list[str]()

    def kill(message: Message) -> None:
        runs.append(message.id)
        world.kill()

    settings = ladder("errors", immediate=immediate, delayed=delayed, delay=1)
    world.serve("orders", sqs_endpoint(kill, settings, **HEADER))
    world.send("orders", "hello")
    world.run()

    assert len(runs) == 3 * (immediate + 1) * (delayed + 1)
    assert [seen.exception_type for seen in world.queue("errors")] == ["recoverable.UnreportedFailure"]
