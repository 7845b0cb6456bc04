"""SQS on bad days: whatever mixture of faults a seed gives, every message ends done with or in the error queue."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from aws.harness import Mapping, ladder, sqs_endpoint
from recoverable import Message
from recoverable_local.testing import AnswerLost, PartlyFailed, Refused, Unreachable
from servers.faulty_proxy import EmptyAnswer, Fault, FaultyProxy, Rule
from servers.queues import Queue

OPERATIONS = ("SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch")
FAULTS: list[Fault] = [
    Refused("RequestThrottled", status=403),
    AnswerLost(),
    Unreachable(),
    EmptyAnswer(),
    PartlyFailed(),
]
GOOD, BAD = [f"good {number}" for number in range(6)], [f"bad {number}" for number in range(6)]


def bad_day(random: Random) -> list[Rule]:
    """Return rules by which each of the first calls of each operation fails with a chance of one half."""
    return [
        Rule(operation, random.choice(FAULTS), calls=(number,))
        for operation in OPERATIONS
        for number in range(1, 9)
        if random.random() < 0.5
    ]


def run_to_the_end(mapping: Mapping, polls: int = 80) -> None:
    """Poll until nothing is left, letting visibility timeouts end between the polls."""
    for _ in range(polls):
        if mapping.queue.count() == 0:
            return
        if mapping.poll() is not None:
            mapping.expire()
    raise AssertionError(f"{mapping.queue.count()} messages are left after {polls} polls")


@pytest.mark.parametrize("counter", ["native", "header"])
@pytest.mark.parametrize("seed", [1, 3])
def test_whatever_calls_fail_nothing_is_lost_and_nothing_good_is_given_up(
    orders: Queue, error: Queue, proxy: FaultyProxy, seed: int, counter: Any
) -> None:
    runs: Counter[str] = Counter()

    def handle(message: Message) -> None:
        runs[message.text] += 1
        if message.text.startswith("bad"):
            raise ValueError("no")

    for body in [*GOOD, *BAD]:
        orders.send(body)
    proxy.rules = bad_day(Random(seed))
    lost = sum(rule.fault == AnswerLost() and rule.operation == OPERATIONS[0] for rule in proxy.rules)
    settings = ladder(error, immediate=1, delayed=1)
    mapping = Mapping(orders, sqs_endpoint(handle, settings, counter=counter))

    run_to_the_end(mapping)

    given_up = Counter(copy.body for copy in error.arrived())
    assert (set(runs), set(given_up), mapping.raised) == ({*GOOD, *BAD}, {*BAD}, [])
    assert max(given_up.values()) <= 2**lost
    assert (
        min(runs[body] for body in BAD) >= 2
    )  # the copy whose answer was lost is retried, though its original ends in the error queue
