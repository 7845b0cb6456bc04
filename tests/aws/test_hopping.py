"""Delays longer than one copy can wait: the copies hop until the message is due, and a hop is no attempt."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from aws.harness import Mapping, ladder, lose_deliveries, sqs_endpoint, wait_for
from aws.placeholders import A_DATE, A_UUID
from builders import Clock, seconds
from recoverable import Message
from recoverable_local.testing import SqsWorld
from servers.queues import HEADERS, Queue

SHORT: Any = {"longest_delay": timedelta(seconds=1)}
NOW = datetime(2026, 3, 4, 5, 6, 7, 89, tzinfo=UTC)
EARLIER, LATER = "2026-03-04 05:00:00:000000 Z", "2026-03-04 06:00:00:000000 Z"


class Ledger:
    """A handler that fails for some bodies, and remembers which attempts it was given of each."""

    def __init__(self) -> None:
        self.places: dict[str, list[tuple[int, int]]] = defaultdict(list)

    def __call__(self, message: Message) -> None:
        self.places[message.text].append((message.round, message.attempt))
        if message.text.startswith("bad"):
            raise ValueError("no")


@pytest.mark.parametrize("counter", ["native", "header"])
def test_a_delay_over_several_hops_is_kept_and_counts_no_attempt(counter: Any) -> None:
    world, handler = SqsWorld(seed=1), Ledger()
    settings = ladder("errors", immediate=1, delayed=1, delay=3)
    world.serve("orders", sqs_endpoint(handler, settings, counter=counter, **SHORT), concurrency=3)
    bad, good = [f"bad {number}" for number in range(3)], [f"good {number}" for number in range(6)]
    for body in [*bad, *good]:
        world.send("orders", body)
    world.run()

    ladder_of_the_bad = {body: [(0, 1), (0, 2), (1, 1), (1, 2)] for body in bad}
    assert handler.places == {**{body: [(0, 1)] for body in good}, **ladder_of_the_bad}
    begun = {event.at for event in world.timeline() if event.what == "attempted"}
    assert begun == {timedelta(0), timedelta(seconds=3)}
    assert sorted(each.body for each in world.queue("errors")) == bad


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
    assert (sum(hops), handler.places, error.count()) == (2, {"bad": [(0, 1), (1, 1)]}, 1)


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
    assert (reported, handler.places) == ([], {})
    assert [copy.headers for copy in copies] == [sent | {"NServiceBus.TimeSent": A_DATE, "Recoverable.Origin": A_UUID}]


@pytest.mark.parametrize("due", [EARLIER, "2026-03-04 05:06:07:000089 Z", "9999-12-31 23:59:59:999999 Z", "soon"])
def test_what_is_due_or_says_nonsense_runs_now(orders: Queue, error: Queue, due: str) -> None:
    handler = Ledger()
    orders.send(attributes=not_due_before(due))

    Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=5), clock=lambda: NOW)).run_dry()

    assert handler.places == {"hello": [(1, 3)]}
