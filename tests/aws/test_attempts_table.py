"""NServiceBus's table of attempts, counted end to end: by one instance and by six that compete."""

from __future__ import annotations

from collections import Counter

import pytest

from attempts_table import TABLE
from aws.harness import Mapping, compete, ladder, sqs_endpoint
from recoverable import Message
from servers.fixtures import NewQueue
from servers.moto import client_at
from servers.queues import Queue, bodies

table = pytest.mark.parametrize(("immediate", "delayed", "attempts"), TABLE)
BODIES = ("first", "second", "third")


class Ledger:
    """A handler that always fails, and remembers what it was given."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, int, int]] = []

    def __call__(self, message: Message) -> None:
        self.runs.append((message.text, message.round, message.attempt))
        raise ValueError("always")


def every_attempt(immediate: int, delayed: int) -> Counter[tuple[str, int, int]]:
    """Return the expected runs: each body once in each attempt of each round."""
    return Counter(
        (body, round_, attempt)
        for body in BODIES
        for round_ in range(delayed + 1)
        for attempt in range(1, immediate + 2)
    )


@table
@pytest.mark.parametrize("counter", ["native", "header"])
def test_one_instance_makes_the_attempts_of_the_table(
    orders: Queue, error: Queue, immediate: int, delayed: int, attempts: int, counter: str
) -> None:
    handler = Ledger()
    endpoint = sqs_endpoint(handler, ladder(error, immediate=immediate, delayed=delayed), counter=counter)
    for body in BODIES:
        orders.send(body)

    Mapping(orders, endpoint).run_dry()

    assert (len(handler.runs), Counter(handler.runs)) == (attempts * 3, every_attempt(immediate, delayed))
    assert bodies(error) == sorted(BODIES)


@table
def test_six_competing_instances_make_the_attempts_of_the_table(
    sqs: str, orders: Queue, error: Queue, new_queue: NewQueue, immediate: int, delayed: int, attempts: int
) -> None:
    handler = Ledger()
    recoverability = ladder(error, immediate=immediate, delayed=delayed)
    instances = [
        Mapping(orders, sqs_endpoint(handler, recoverability, client=client_at(sqs)), batch=2) for _ in range(6)
    ]
    for body in BODIES:
        orders.send(body)

    compete(instances, until=lambda: error.count() == len(BODIES) and orders.count() == 0)

    assert (len(handler.runs), Counter(handler.runs)) == (attempts * 3, every_attempt(immediate, delayed))
    assert bodies(error) == sorted(BODIES)
