"""Rows of NServiceBus's table of attempts on a local SQS, counted behind the processor and behind the endpoint."""

from __future__ import annotations

from collections import Counter

import pytest

from aws.harness import Mapping, ladder
from powertools.entry_points import ENDPOINT, PROCESSOR, Context, Shop, function
from servers.queues import Arrived, Queue

VARIES = (
    "MessageId",
    "TimeSent",
    "TimeOfFailure",
    "Handler start time",
    "Handler failure time",
    "FirstFailedAt",
    "Origin",
    "StackTrace",
)  # which message, when, and where its handler stands


def constant(copy: Arrived) -> Arrived:
    """Return the copy without what differs from message to message."""
    return copy._replace(headers={name: text for name, text in copy.headers.items() if not name.endswith(VARIES)})


def retried(
    entry_point: str, orders: Queue, error: Queue, *, immediate: int, delayed: int, counter: str
) -> tuple[Counter[tuple[str, int, int]], list[Arrived]]:
    """Return what the handler was given for one message that fails and one that passes, and what reached the error queue."""
    shop = Shop()
    endpoint = function(entry_point, shop, ladder(error, immediate=immediate, delayed=delayed), counter=counter)
    orders.send("fails")
    orders.send("passes")
    Mapping(orders, endpoint, contexts=Context).run_dry()
    return Counter(shop.runs), [constant(copy) for copy in error.arrived()]


@pytest.mark.parametrize("counter", ["native", "header"])
@pytest.mark.parametrize(("immediate", "delayed", "attempts"), [(0, 0, 1), (1, 1, 4), (2, 1, 6)])
def test_the_processor_makes_the_endpoint_s_attempts_and_its_error_copy(
    orders: Queue, error: Queue, immediate: int, delayed: int, attempts: int, counter: str
) -> None:
    ladder_of = {"immediate": immediate, "delayed": delayed, "counter": counter}

    processor = retried(PROCESSOR, orders, error, **ladder_of)  # type: ignore[arg-type]  # two numbers and a word
    endpoint = retried(ENDPOINT, orders, error, **ladder_of)  # type: ignore[arg-type]

    assert processor == endpoint
    assert (processor[0].total(), [copy.body for copy in processor[1]]) == (attempts + 1, ["fails"])
