"""Check that handlers spend virtual time while others go on, limits are reached and processes die."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from local.testing.ladders import attempts, endpoint, happened, seconds
from recoverable import Message
from recoverable_local.testing import SqsWorld


def test_invocations_run_side_by_side(sqs_world: SqsWorld) -> None:
    began = sqs_world.now
    order: list[tuple[str, str, timedelta]] = []

    def handler(event: Any, _context: object) -> None:
        body = event["Records"][0]["body"]
        order.append((body, "begins", sqs_world.now - began))
        sqs_world.spend(float(body))
        order.append((body, "ends", sqs_world.now - began))

    sqs_world.serve("orders", handler, batch_size=1)
    for body in ("5", "1", "3"):
        sqs_world.send("orders", body)
    sqs_world.run()
    beginnings = [(body, "begins", seconds(0)) for body in ("5", "1", "3")]
    assert order == [*beginnings, *((body, "ends", seconds(int(body))) for body in ("1", "3", "5"))]


def test_no_more_invocations_run_than_the_mapping_allows(sqs_world: SqsWorld) -> None:
    began = sqs_world.now
    sqs_world.serve("orders", lambda _event, _context: sqs_world.spend(10), batch_size=1, concurrency=2)
    for _ in range(6):
        sqs_world.send("orders", "x")
    sqs_world.run()
    assert sqs_world.now - began == seconds(30)


def test_a_handler_that_takes_all_the_time_there_is_is_stopped_before_the_function(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint(lambda _message: sqs_world.spend(1000), delayed=0), timeout=30)
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert attempts(sqs_world) == [(27, "HandlerTimeout after 27 s"), (54, "HandlerTimeout after 27 s")]
    assert [m.exception_type for m in sqs_world.queue("orders-error")] == ["recoverable.HandlerTimeout"]


def test_a_function_that_hangs_is_killed_and_its_batch_comes_back(sqs_world: SqsWorld) -> None:
    hung: list[bool] = []

    def handler(_event: object, _context: object) -> None:
        if not hung:
            hung.append(True)
            sqs_world.spend(1000)

    sqs_world.serve("orders", handler, timeout=30)
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert happened(sqs_world, "invocation failed", "deleted") == [
        (seconds(30), "invocation failed", "timed out after 30 s"),
        (seconds(180), "deleted", ""),
    ]


def test_what_a_killed_process_still_does_reaches_nobody(sqs_world: SqsWorld) -> None:
    def swallow_and_send(_event: object, _context: object) -> dict[str, list[str]]:
        try:
            sqs_world.kill()
        except BaseException:  # noqa: BLE001  # as an endpoint does
            with pytest.raises(BaseException, match="died"):
                sqs_world.client.send_message(QueueUrl="ghosts", MessageBody="x")
        return {"batchItemFailures": []}

    sqs_world.create_queue("ghosts")
    sqs_world.serve("orders", swallow_and_send)
    sqs_world.send("orders", "x")
    sqs_world.run(for_=1)
    assert (len(sqs_world.queue("orders")), sqs_world.queue("ghosts")) == (1, [])


def test_a_message_that_kills_its_process_ends_in_the_error_queue(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint(lambda _message: sqs_world.kill()))
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert [m.exception_type for m in sqs_world.queue("orders-error")] == ["recoverable.UnreportedFailure"]


def test_a_handler_slower_than_the_visibility_timeout_has_its_message_run_twice(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint(lambda _message: sqs_world.spend(15)))
    sqs_world.create_queue("orders", visibility_timeout=10)
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert attempts(sqs_world) == [(15, "succeeded"), (25, "succeeded")]


def test_lambda_tells_the_time_that_is_left(sqs_world: SqsWorld) -> None:
    left: list[int] = []

    def handler(_event: object, context: Any) -> None:
        sqs_world.spend(2.5)
        left.append(context.get_remaining_time_in_millis())

    sqs_world.serve("orders", handler, timeout=30)
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert left == [27_500]


def test_time_is_spent_by_handlers_only(sqs_world: SqsWorld) -> None:
    with pytest.raises(RuntimeError, match=r"world\.run"):
        sqs_world.spend(1)


@pytest.mark.parametrize(
    ("seconds", "runs"),
    [
        (
            {"a": 5, "b": 24},
            [("a", 1), ("b", 1), ("b", 1)],
        ),  # b is stopped after 22 s, and is the first of the next invocation
        ({"a": 20, "b": 20}, [("a", 1), ("b", 1)]),  # b is not started: 7 s are left, and a took 20 s
    ],
    ids=["stopped", "not started"],
)
def test_a_message_without_time_left_is_handed_back_and_counts_no_attempt(
    sqs_world: SqsWorld, seconds: dict[str, int], runs: list[tuple[str, int]]
) -> None:
    made: list[tuple[str, int]] = []

    def slow(message: Message) -> None:
        made.append((message.text, message.attempt))
        sqs_world.spend(seconds[message.text])

    sqs_world.serve("orders", endpoint(slow), timeout=30)
    for body in "ab":
        sqs_world.send("orders", body)
    sqs_world.run()
    assert made == runs


@pytest.mark.parametrize(
    ("time", "kind", "text"),
    [
        (-1, ValueError, "a duration of -1 s; write 0 or more"),
        ("5", TypeError, "'5' is no duration; write a timedelta"),
    ],
)
def test_no_world_goes_back_or_takes_a_time_that_is_none(
    sqs_world: SqsWorld, time: Any, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        sqs_world.run(for_=time)
