"""Two messages that fail, the faults that calls about them can meet, and what the log says of them."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from aws.harness import Mapping, ladder, sqs_endpoint
from recoverable import Message
from recoverable_local.testing import AnswerLost, PartlyFailed, Refused, Unreachable
from servers.faulty_proxy import EmptyAnswer, Fault, Late, Truncated
from servers.queues import Queue

SETTLE_WITHIN = timedelta(seconds=20)  # a call gets half of it, and half of that to answer
A, B = "secret of A", "secret of B"

NOTHING_DONE: list[Fault] = [
    Refused("RequestThrottled", status=403),
    Refused("ExpiredToken", status=403),
    Refused("AccessDenied", status=403),
    Refused("ServiceUnavailable", status=503),
    Refused("QueueDoesNotExist"),
    Unreachable(),
    EmptyAnswer(),
]
LATE = pytest.param(Late(), marks=pytest.mark.slow)
nothing_done = pytest.mark.parametrize("fault", NOTHING_DONE, ids=str)
all_done = pytest.mark.parametrize("fault", [Truncated(), LATE], ids=str)
unrepeated = pytest.mark.parametrize(
    "fault", [*(each for each in NOTHING_DONE if each != Unreachable()), Truncated(), LATE, PartlyFailed()], ids=str
)
"""Faults after which no call is made once more on a new connection, as after a reset on one that has carried a look at the queue."""
any_fault = pytest.mark.parametrize("fault", [*NOTHING_DONE, AnswerLost(), LATE, PartlyFailed()], ids=str)


class Handler:
    """Always fails, and counts its runs by body."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()

    def __call__(self, message: Message) -> None:
        self.runs[message.text] += 1
        raise ValueError("no")


def mapping(orders: Queue, error: Queue, handler: Handler, *, immediate: int = 0) -> Mapping:
    """Send two messages, and return the mapping of an endpoint that moves messages to the error queue after the immediate retries."""
    orders.send(A)
    orders.send(B)
    endpoint = sqs_endpoint(handler, ladder(error, immediate=immediate), settle_within=SETTLE_WITHIN)
    return Mapping(orders, endpoint)


def consequences(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what happens to the messages, as the log of failed settlements says."""
    records = [record for record in caplog.records if record.name == "recoverable.settlement"]
    return [record.getMessage().partition("). ")[2] for record in records]
