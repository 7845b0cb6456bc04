"""A copy that has become due while the rate is limited asks for its attempt once."""

from __future__ import annotations

from aws.harness import Mapping, ladder, sqs_endpoint
from aws.queues import HEADERS, Queue
from builders import Clock, seconds
from recoverable import Message, RateLimit

IS_DUE = '{"Recoverable.DueAt": "2026-03-14 15:00:00:000000 Z"}'


def test_a_copy_that_is_due_is_the_probe_and_ends_the_limit(orders: Queue, error: Queue) -> None:
    runs: list[str] = []
    clock = Clock()

    def bank(message: Message) -> None:
        runs.append(message.text)
        if message.text == "bad":
            raise ConnectionError("no answer")

    settings = ladder(error, immediate=1).__replace__(rate_limit=RateLimit(1, wait=seconds(60)))
    mapping = Mapping(orders, sqs_endpoint(bank, settings, clock=clock))
    orders.send("bad")
    mapping.poll()
    clock.advance(seconds(61))
    orders.send("due", attributes={HEADERS: {"DataType": "String", "StringValue": IS_DUE}})

    mapping.poll()

    assert runs == ["bad", "due"]
