"""Batches from FIFO queues: not wanted, warned of, and yet the order is kept."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from aws.conftest import NewQueue
from aws.harness import AMPLE, Context, Mapping, ladder, lose_deliveries, sqs_endpoint
from aws.queues import Queue
from recoverable import Message


@pytest.fixture
def orders(new_queue: NewQueue) -> Queue:
    return new_queue("orders.fifo", ContentBasedDeduplication="true")


@pytest.fixture
def error(new_queue: NewQueue) -> Queue:
    return new_queue("error.fifo")


def send(queue: Queue, *bodies: str) -> None:
    """Send to the groups that the first letters name."""
    for body in bodies:
        queue.send(body, MessageGroupId=body[0])


def failing(*bad: str, runs: list[str]) -> Callable[[Message], None]:
    """A handler that fails for some bodies."""

    def handle(message: Message) -> None:
        runs.append(message.text)
        if message.text in bad:
            raise ValueError("no")

    return handle


def test_what_follows_a_failed_message_of_its_group_is_held_back(
    orders: Queue, error: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    runs: list[str] = []
    send(orders, "a1", "a2", "b1")

    reported = Mapping(orders, sqs_endpoint(failing("a1", runs=runs), ladder(error, immediate=5))).poll()

    assert (runs, reported) == (["a1", "b1"], ["a1", "a2"])
    assert "A batch of 3 records from the FIFO queue" in caplog.text
    assert "Set the event source mapping's BatchSize to 1." in caplog.text


def test_what_follows_a_message_that_was_moved_or_done_goes_on(orders: Queue, error: Queue) -> None:
    runs: list[str] = []
    send(orders, "a1", "a2", "a3")

    reported = Mapping(orders, sqs_endpoint(failing("a2", runs=runs), ladder(error))).poll()

    assert (runs, reported, [copy.body for copy in error.arrived()]) == (["a1", "a2", "a3"], [], ["a2"])


def test_the_order_is_kept_to_the_end(orders: Queue, error: Queue) -> None:
    runs: list[str] = []
    send(orders, "a1", "a2", "b1", "a3")

    Mapping(orders, sqs_endpoint(failing("a1", runs=runs), ladder(error, immediate=1, delayed=1))).run_dry()

    done = [body for body in dict.fromkeys(runs) if body[0] == "a"]
    assert (done, runs.count("a2"), runs.count("a3")) == (["a1", "a2", "a3"], 1, 1)
    assert runs.index("a2") > max(place for place, body in enumerate(runs) if body == "a1")


def test_what_was_held_back_often_is_not_convicted_for_it(orders: Queue, error: Queue) -> None:
    runs: list[str] = []
    send(orders, "a1", "a2")
    lose_deliveries(orders, 9)

    Mapping(orders, sqs_endpoint(failing(runs=runs), ladder(error))).poll()

    assert (runs, error.count(), orders.count()) == (["a1", "a2"], 0, 0)


def test_what_has_no_time_left_waits_in_place_with_all_that_follows_it(orders: Queue, error: Queue) -> None:
    context = Context()
    runs: list[str] = []

    def use_up_the_time(message: Message) -> None:
        runs.append(message.text)
        context.seconds = AMPLE - 0.1

    send(orders, "a1", "a2", "b1")

    reported = Mapping(orders, sqs_endpoint(use_up_the_time, ladder(error)), contexts=lambda: context).poll()

    assert (runs, reported, orders.count()) == (["a1"], ["a2", "b1"], 2)
