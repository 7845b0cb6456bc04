"""For how long a message waits that a handler sends, or an operator sends back: as said, else as its queue says."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from builders import Boom, seconds
from outgoing.worlds import ladder, sqs_world
from recoverable import Message
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import SqsWorld
from recoverable_local.testing.engine.redriving import Options

QUEUES_OWN = 90
SEARCH = 8
"""Seconds that it takes to find what is sent back, at most."""


def received_after(world: SqsWorld, queue: str, body: str) -> float:
    """Return after how many seconds from now an endpoint of the queue gets a message."""
    seen, began = dict[str, float](), world.now

    def read(message: Message) -> None:
        seen[message.text] = (world.now - began).total_seconds()

    world.serve(queue, SqsEndpoint(read, ladder()))
    world.run()
    return seen[body]


DELAYS: dict[str, tuple[timedelta | None, float]] = {
    "as the queue says": (None, QUEUES_OWN),
    "none": (seconds(0), 0),
    "as the handler says": (seconds(10), 10),
}


@pytest.mark.parametrize(("delay", "expected"), DELAYS.values(), ids=DELAYS)
def test_a_queues_own_delay_holds_where_the_handler_says_none(delay: timedelta | None, expected: float) -> None:
    def bill(message: Message) -> None:
        message.send("invoices", "invoice", delay=delay)

    world = sqs_world(bill)
    world.create_queue("invoices", delay=QUEUES_OWN)

    assert received_after(world, "invoices", "invoice") == pytest.approx(expected, abs=1)


@pytest.mark.parametrize(("delay", "expected"), DELAYS.values(), ids=DELAYS)
def test_it_holds_for_what_is_sent_back_where_the_operator_says_none(delay: timedelta | None, expected: float) -> None:
    began = list[datetime]()

    def fail_once(_: Message) -> None:
        began.append(world.now)
        if len(began) == 1:
            raise Boom

    world = SqsWorld()
    world.create_queue("orders", delay=QUEUES_OWN, dead_letter_queue="error")
    world.serve("orders", SqsEndpoint(fail_once, ladder()))
    world.send("orders", "order 1")
    world.run()
    sent_back_at = world.now
    options: Options = {} if delay is None else {"delay": delay}
    world.redrive("error", **options)
    world.run()

    assert 0 <= (began[1] - sent_back_at).total_seconds() - expected < SEARCH
