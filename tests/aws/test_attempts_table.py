"""NServiceBus's table of attempts: each row in virtual time, and on moto one row by one instance, and the longest by six that compete."""

from __future__ import annotations

from collections import Counter

import pytest

from attempts_table import TABLE
from aws.harness import Mapping, compete, ladder, sqs_endpoint
from recoverable import Message
from recoverable_local.testing import SqsWorld
from servers.moto import client_at
from servers.queues import Queue, bodies

each_counter = pytest.mark.parametrize("counter", ["native", "header"])
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


@each_counter
@pytest.mark.parametrize(("immediate", "delayed", "attempts"), TABLE)
@pytest.mark.parametrize("instances", [1, 6])
def test_the_attempts_of_the_table_are_made_by_any_number_of_instances(
    immediate: int, delayed: int, attempts: int, counter: str, instances: int
) -> None:
    world, handler = SqsWorld(seed=1), Ledger()
    endpoint = sqs_endpoint(handler, ladder("error", immediate=immediate, delayed=delayed, delay=1), counter=counter)
    world.serve("orders", endpoint, batch_size=2, concurrency=instances, recursive_loop="Allow")
    for body in BODIES:
        world.send("orders", body)
    world.run()

    assert (len(handler.runs), Counter(handler.runs)) == (attempts * 3, every_attempt(immediate, delayed))
    assert sorted(each.body for each in world.queue("error")) == sorted(BODIES)


@each_counter
def test_one_instance_makes_them_on_a_server(orders: Queue, error: Queue, counter: str) -> None:
    handler = Ledger()
    endpoint = sqs_endpoint(handler, ladder(error, immediate=2, delayed=2), counter=counter)
    for body in BODIES:
        orders.send(body)

    Mapping(orders, endpoint).run_dry()

    assert Counter(handler.runs) == every_attempt(2, 2)
    assert bodies(error) == sorted(BODIES)


def test_six_competing_instances_make_them_on_a_server(sqs: str, orders: Queue, error: Queue) -> None:
    handler = Ledger()
    recoverability = ladder(error, immediate=5, delayed=3)
    instances = [
        Mapping(orders, sqs_endpoint(handler, recoverability, client=client_at(sqs)), batch=2) for _ in range(6)
    ]
    for body in BODIES:
        orders.send(body)

    compete(instances, until=lambda: error.count() == len(BODIES) and orders.count() == 0)

    assert Counter(handler.runs) == every_attempt(5, 3)
    assert bodies(error) == sorted(BODIES)
