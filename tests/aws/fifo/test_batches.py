"""Batches from FIFO queues: not wanted, warned of, and yet the order is kept."""

from __future__ import annotations

import pytest

from aws.fifo.groups import Failing, send
from aws.harness import AMPLE, Context, Mapping, ladder, lose_deliveries, sqs_endpoint
from recoverable import Message
from servers.queues import Queue


def test_what_follows_a_failed_message_of_its_group_is_held_back(
    orders: Queue, error: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    handler = Failing("a1")
    send(orders, "a1", "a2", "b1")

    reported = Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=5))).poll()

    assert (handler.bodies, reported) == (["a1", "b1"], ["a1", "a2"])
    assert "A batch of 3 records from the FIFO queue" in caplog.text
    assert "Set the event source mapping's BatchSize to 1." in caplog.text


def test_what_follows_a_message_that_was_moved_or_done_goes_on(orders: Queue, error: Queue) -> None:
    handler = Failing("a2")
    send(orders, "a1", "a2", "a3")

    reported = Mapping(orders, sqs_endpoint(handler, ladder(error))).poll()

    assert (handler.bodies, reported, [copy.body for copy in error.arrived()]) == (["a1", "a2", "a3"], [], ["a2"])


def test_the_order_is_kept_to_the_end(orders: Queue, error: Queue) -> None:
    handler = Failing("a1")
    send(orders, "a1", "a2", "b1", "a3")

    Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=1, delayed=1))).run_dry()

    done = [body for body in dict.fromkeys(handler.bodies) if body[0] == "a"]
    assert (done, handler.bodies.count("a2"), handler.bodies.count("a3")) == (["a1", "a2", "a3"], 1, 1)
    assert handler.bodies.index("a2") > max(place for place, body in enumerate(handler.bodies) if body == "a1")


def test_being_held_back_often_does_not_count_as_a_failure(orders: Queue, error: Queue) -> None:
    handler = Failing()
    send(orders, "a1", "a2")
    lose_deliveries(orders, 9)

    Mapping(orders, sqs_endpoint(handler, ladder(error), visibility_timeout=None)).poll()

    assert (handler.bodies, error.count(), orders.count()) == (["a1", "a2"], 0, 0)


def test_a_message_without_time_left_stays_on_the_queue_with_all_that_follow_it(orders: Queue, error: Queue) -> None:
    context = Context()
    runs: list[str] = []

    def use_up_the_time(message: Message) -> None:
        runs.append(message.text)
        context.seconds = AMPLE - 0.1

    send(orders, "a1", "a2", "b1")

    reported = Mapping(orders, sqs_endpoint(use_up_the_time, ladder(error)), contexts=lambda: context).poll()

    assert (runs, reported, orders.count()) == (["a1"], ["a2", "b1"], 2)


def test_a_message_runs_as_long_as_any_time_is_left_since_it_cannot_be_handed_back_without_an_attempt(
    orders: Queue, error: Queue
) -> None:
    context = Context()
    runs: list[str] = []

    def use_most_of_the_time(message: Message) -> None:
        runs.append(message.text)
        context.seconds = AMPLE + 5

    send(orders, "a1", "a2", "b1")

    Mapping(orders, sqs_endpoint(use_most_of_the_time, ladder(error)), contexts=lambda: context).poll()

    assert runs == ["a1", "a2", "b1"]


def test_one_groups_failure_holds_back_no_other_group(orders: Queue, error: Queue) -> None:
    handler = Failing("a1", "c1")
    send(orders, "a1", "b1", "c1", "a2", "b2", "c2", "d1")

    reported = Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=1))).poll()

    assert (sorted(handler.bodies), sorted(reported or [])) == (
        ["a1", "b1", "b2", "c1", "d1"],
        ["a1", "a2", "c1", "c2"],
    )
