"""FIFO queues: the group waits while its first message is retried, delays are visibility, and the error copy keeps group and identity."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from time import monotonic
from typing import Any

import pytest

from aws.fifo.groups import Failing, send
from aws.harness import Mapping, ladder, lose_deliveries, sqs_endpoint
from aws.records import event, received
from recoverable import DelayedRetry, Message, RetryAfter
from recoverable_local.testing import AnswerLost, Refused
from servers.faulty_proxy import FaultyProxy, Rule
from servers.fixtures import NewQueue
from servers.queues import Queue, bodies


def mapping(queue: Queue, handler: Callable[[Message], Any], *, batch: int = 1, error: Queue, **steps: Any) -> Mapping:
    return Mapping(queue, sqs_endpoint(handler, ladder(error, **steps)), batch=batch)


def test_the_order_of_a_group_is_kept_while_its_first_message_is_retried(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    handler = Failing("a1")
    send(orders, "a1", "a2")

    mapping(orders, handler, error=error, immediate=1, delayed=1).run_dry()

    assert handler.runs == [("a1", 0, 1), ("a1", 0, 2), ("a1", 1, 1), ("a1", 1, 2), ("a2", 0, 1)]
    assert [copy.body for copy in error.arrived()] == ["a1"]
    assert proxy.calls == {"ChangeMessageVisibilityBatch": 3, "SendMessageBatch": 1, "DeleteMessageBatch": 1}


def test_other_groups_go_on_while_one_waits(orders: Queue, error: Queue) -> None:
    handler = Failing("a1")
    send(orders, "a1", "a2", "b1")
    endpoint = mapping(orders, handler, error=error, delayed=1, delay=600)

    endpoint.poll()
    endpoint.poll()

    assert (handler.runs, endpoint.poll(), orders.count()) == ([("a1", 0, 1), ("b1", 0, 1)], None, 2)


def test_a_delayed_retry_is_the_same_message_out_of_sight(orders: Queue, error: Queue) -> None:
    seen: list[tuple[float, str]] = []

    def handle(message: Message) -> None:
        seen.append((monotonic(), message.native["messageId"]))
        raise ValueError("no")

    send(orders, "a1")
    mapping(orders, handle, error=error, delayed=1, delay=1).run_dry()

    (first, one), (second, other) = seen
    assert (one, second - first >= 1.0) == (other, True)


def test_a_delay_beyond_what_visibility_can_moves_the_message_to_the_error_queue(
    orders: Queue, error: Queue, proxy: FaultyProxy, caplog: pytest.LogCaptureFixture
) -> None:
    send(orders, "a1")
    reported = mapping(orders, Failing("a1"), error=error, delayed=1, delay=100 * 3600).poll()

    assert (reported, bodies(error)) == ([], ["a1"])
    assert "has a delay of 4 days, 4:00:00, and a message of the FIFO queue" in caplog.text
    assert (
        "a message can wait for 11:50:00 at most where its order is kept. It moves to the error queue." in caplog.text
    )


def test_a_handler_that_asks_to_wait_chooses_the_delay_only(orders: Queue, error: Queue) -> None:
    seen: list[tuple[float, int, int]] = []

    def handle(message: Message) -> None:
        seen.append((monotonic(), message.round, message.attempt))
        if len(seen) == 1:
            raise RetryAfter(timedelta(seconds=1))

    send(orders, "a1")
    mapping(orders, handle, error=error, immediate=1, delayed=1).run_dry()

    (first, *_), (second, *place) = seen
    assert (place, second - first >= 1.0) == ([0, 2], True)


def test_a_policy_chooses_the_delay_only_and_grants_no_attempt(orders: Queue, error: Queue) -> None:
    handler = Failing("a1")
    send(orders, "a1")

    steps: Any = {"immediate": 1, "delayed": 1, "policy": lambda *_: DelayedRetry(timedelta(0))}
    mapping(orders, handler, error=error, **steps).run_dry()

    ladder_alone = [("a1", 0, 1), ("a1", 0, 2), ("a1", 1, 1), ("a1", 1, 2)]
    assert (handler.runs, [copy.body for copy in error.arrived()]) == (ladder_alone, ["a1"])


def test_the_error_copy_keeps_the_group_and_has_one_identity_for_each_error_queue(
    orders: Queue, error: Queue, new_queue: NewQueue
) -> None:
    other = new_queue("other.fifo")
    send(orders, "a1")
    (message,) = orders.receive()
    for queue in (error, other):
        sqs_endpoint(Failing("a1"), ladder(queue))(event(received(message, orders.arn)), None)

    (here,), (there,) = error.arrived(), other.arrived()
    assert (here.group, there.group) == ("a", "a")
    assert here.deduplication != there.deduplication


def test_a_copy_whose_answer_was_lost_is_recognized_and_arrives_once(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    handler = Failing("a1")
    send(orders, "a1")
    endpoint = mapping(orders, handler, error=error, immediate=5, unrecoverable=(ValueError,))
    proxy.rules = [Rule("SendMessageBatch", AnswerLost(), calls=(1,))]

    endpoint.poll()
    endpoint.expire()
    endpoint.run_dry()

    assert (len(handler.runs), proxy.calls["SendMessageBatch"]) == (2, 2)
    assert [copy.body for copy in error.arrived()] == ["a1"]


def test_a_copy_that_is_not_sent_holds_up_its_group(orders: Queue, error: Queue, proxy: FaultyProxy) -> None:
    handler = Failing("a1")
    send(orders, "a1", "a2")
    proxy.rules = [Rule("SendMessageBatch", Refused("AccessDenied", status=403), calls=(1,))]
    endpoint = mapping(orders, handler, error=error)

    endpoint.poll()
    assert endpoint.poll() is None
    endpoint.expire()
    endpoint.run_dry()

    assert handler.bodies == ["a1", "a1", "a2"]
    assert [copy.body for copy in error.arrived()] == ["a1"]


def test_a_standard_queue_may_be_the_error_queue(orders: Queue, new_queue: NewQueue) -> None:
    error = new_queue("error")
    send(orders, "a1")

    mapping(orders, Failing("a1"), error=error).run_dry()

    assert [(copy.body, copy.group) for copy in error.arrived()] == [("a1", "a")]


@pytest.mark.parametrize(("lost", "runs"), [(2, 1), (3, 1), (5, 1), (6, 0), (7, 0)])
def test_a_message_delivered_beyond_its_ladder_goes_to_the_error_queue_without_running(
    orders: Queue, error: Queue, lost: int, runs: int
) -> None:
    handler = Failing("a1")
    send(orders, "a1")
    lose_deliveries(orders, lost)

    mapping(orders, handler, error=error, immediate=1, delayed=1).poll()

    given_up = [copy.headers["NServiceBus.ExceptionInfo.ExceptionType"] for copy in error.arrived()]
    assert len(handler.runs) == runs
    assert given_up == (["recoverable.UnreportedFailure"] if not runs else ["ValueError"] if lost >= 3 else [])
