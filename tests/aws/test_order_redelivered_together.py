"""Messages that were delivered before, and of which each delivery was reported: they are run and settled together."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from aws.harness import Mapping, ladder, lose_deliveries, sqs_endpoint
from builders import NOW, delivery
from recoverable import Message
from recoverable.aws import SqsEndpoint
from recoverable.aws._order import clear_reported
from servers.faulty_proxy import FaultyProxy
from servers.queues import Queue

TEN = [str(number) for number in range(10)]
HIDDEN_FOR = 30.0


def fail(message: Message) -> None:
    """Fail at each attempt."""
    raise ValueError("no")


def endpoint(error: Queue, **settings: Any) -> SqsEndpoint:
    """Return an endpoint that trusts the queue to hide what it gave out for as long as the function may run."""
    return sqs_endpoint(fail, ladder(error, immediate=2), **{"visibility_timeout": None, **settings})


def since(milliseconds: object) -> dict[str, Any]:
    """Return a native record with the time of its first receive."""
    return {"messageId": "1", "attributes": {"ApproximateFirstReceiveTimestamp": milliseconds}}


def first_received(ago: float) -> dict[str, Any]:
    """Return a native record that was first received so many seconds ago."""
    return since(str(round((NOW.timestamp() - ago) * 1000)))


@pytest.mark.parametrize(
    ("native", "suspect"),
    [
        (first_received(ago=0), False),
        (first_received(ago=28.9), False),
        (first_received(ago=29.1), True),
        (first_received(ago=300), True),
        (first_received(ago=-0.9), False),
        (first_received(ago=-1.1), True),
        (since("yesterday"), True),
        (since(None), True),
        (since("9" * 400), True),
        ({"messageId": "1", "attributes": {}}, True),
        ({"messageId": "1"}, True),
        ({"messageId": "1", "attributes": None}, True),
    ],
)
def test_a_message_is_no_suspect_while_a_lost_delivery_would_still_hide_it(native: Any, *, suspect: bool) -> None:
    one = delivery(deliveries=2, native=native)
    one.suspect = True

    clear_reported([one], NOW, HIDDEN_FOR)

    assert one.suspect == suspect


def test_a_copy_whose_original_was_a_suspect_stays_one() -> None:
    one = delivery(deliveries=1, prior_attempts=1, native=first_received(ago=0))
    one.suspect = True

    clear_reported([one], NOW, HIDDEN_FOR)

    assert one.suspect


def test_ten_that_fail_together_are_shown_again_by_one_call_each_time(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    for body in TEN:
        orders.send(body)
    mapping = Mapping(orders, endpoint(error))

    for _ in range(2):
        mapping.poll()

    assert proxy.calls == {"ChangeMessageVisibilityBatch": 2}


@pytest.mark.parametrize("counter", ["native", "header"])
def test_ten_that_use_up_the_ladder_together_are_forwarded_together(
    orders: Queue, error: Queue, proxy: FaultyProxy, counter: str
) -> None:
    for body in TEN:
        orders.send(body)

    Mapping(orders, endpoint(error, counter=counter)).run_dry()

    copies = 3 if counter == "header" else 1
    assert error.count() == 10
    assert (proxy.calls["SendMessageBatch"], proxy.calls["DeleteMessageBatch"]) == (copies, copies)


@pytest.mark.parametrize("hidden", [timedelta(0), timedelta(seconds=1)])
def test_where_the_queue_hides_messages_for_less_time_they_run_one_by_one(
    orders: Queue, error: Queue, proxy: FaultyProxy, hidden: timedelta
) -> None:
    for body in TEN:
        orders.send(body)
    lose_deliveries(orders, 1)

    Mapping(orders, endpoint(error, visibility_timeout=hidden)).poll()

    assert proxy.calls == {"ChangeMessageVisibilityBatch": 10}


def test_without_a_time_limit_nothing_shows_that_a_delivery_was_reported(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    for body in TEN:
        orders.send(body)
    lose_deliveries(orders, 1)

    Mapping(orders, endpoint(error), contexts=lambda: None).poll()

    assert proxy.calls == {"ChangeMessageVisibilityBatch": 1 + 10}  # the first hides all of them anew


def test_a_local_host_says_how_soon_messages_come_back_after_a_crash(
    orders: Queue, error: Queue, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOVERABLE_REDELIVER_AFTER", "1")
    for body in TEN:
        orders.send(body)
    lose_deliveries(orders, 1)

    Mapping(orders, endpoint(error)).poll()

    assert proxy.calls == {"ChangeMessageVisibilityBatch": 10}  # settled one by one; the queue hides them to the end
