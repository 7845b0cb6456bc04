"""Two messages that fail, the faults that calls about them can meet, and what the log tells of it."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from aws.faulty_proxy import FailEntry, Fault, HangUp, Late, LoseAnswer, Refuse, SayNothing
from aws.harness import Mapping, ladder, sqs_endpoint
from aws.queues import Queue
from recoverable import Message

SETTLE_WITHIN = timedelta(seconds=20)  # a call gets half of it, and half of that to answer
A, B = "secret of A", "secret of B"

NOTHING_DONE: list[Fault] = [
    Refuse("RequestThrottled", 403),
    Refuse("ExpiredToken", 403),
    Refuse("AccessDenied", 403),
    Refuse("ServiceUnavailable", 503),
    Refuse("QueueDoesNotExist"),
    HangUp(),
    SayNothing(),
]
LATE = pytest.param(Late(), marks=pytest.mark.slow)
nothing_done = pytest.mark.parametrize("fault", NOTHING_DONE, ids=str)
all_done = pytest.mark.parametrize("fault", [LoseAnswer(), LATE], ids=str)
any_fault = pytest.mark.parametrize("fault", [*NOTHING_DONE, LoseAnswer(), LATE, FailEntry(0)], ids=str)


class Handler:
    """Always fails, and counts its runs by body."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()

    def __call__(self, message: Message) -> None:
        self.runs[message.text] += 1
        raise ValueError("no")


def mapping(orders: Queue, error: Queue, handler: Handler, *, immediate: int = 0) -> Mapping:
    """Two messages waiting for an endpoint whose messages go to the error queue after the immediate retries."""
    orders.send(A)
    orders.send(B)
    endpoint = sqs_endpoint(handler, ladder(error, immediate=immediate), settle_within=SETTLE_WITHIN)
    return Mapping(orders, endpoint)


def bodies(queue: Queue) -> list[str]:
    return sorted(message.body for message in queue.arrived())


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the settlement's log says will happen."""
    records = [record for record in caplog.records if record.name == "recoverable.settlement"]
    return [record.getMessage().partition("). ")[2] for record in records]
