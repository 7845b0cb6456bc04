"""Check that the event source mapping gathers, invokes and deletes as Lambda's does."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from local.testing.ladders import endpoint, happened, seconds
from recoverable_local.testing import SqsWorld, Throttled


def sizes_of(world: SqsWorld) -> tuple[list[int], Callable[[Any, object], None]]:
    """Return a list that fills with the sizes of batches, and the handler that fills it."""
    sizes: list[int] = []
    return sizes, lambda event, _context: sizes.append(len(event["Records"]))


def test_a_batch_has_as_many_messages_as_are_there_up_to_its_size(sqs_world: SqsWorld) -> None:
    sizes, handler = sizes_of(sqs_world)
    sqs_world.serve("orders", handler, batch_size=4)
    for _ in range(10):
        sqs_world.send("orders", "x")
    sqs_world.run()
    assert sizes == [4, 4, 2]


def test_a_window_gathers_what_comes_in_it(sqs_world: SqsWorld) -> None:
    sizes, handler = sizes_of(sqs_world)
    sqs_world.serve("orders", handler, batch_size=100, window=5)
    for delay in (0, 3, 4, 6):
        sqs_world.send("orders", "x", delay=delay)
    sqs_world.run()
    assert (sizes, happened(sqs_world, "deleted")[0][0]) == ([3, 1], seconds(5))


def test_a_record_has_the_count_of_its_own_receive_when_its_message_is_received_again_before_the_invocation(
    sqs_world: SqsWorld,
) -> None:
    counts: list[str] = []

    def handler(event: Any, _context: object) -> None:
        counts.extend(record["attributes"]["ApproximateReceiveCount"] for record in event["Records"])

    sqs_world.create_queue("orders", visibility_timeout=30)
    sqs_world.serve("orders", handler, window=40)
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert counts == ["1", "2"]


def test_a_full_batch_does_not_wait_for_its_window(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", lambda _event, _context: None, batch_size=2, window=60)
    for _ in range(2):
        sqs_world.send("orders", "x")
    sqs_world.run()
    assert [at for at, _, _ in happened(sqs_world, "deleted")] == [seconds(0)] * 2


def test_an_event_is_no_larger_than_6_megabytes(sqs_world: SqsWorld) -> None:
    sizes, handler = sizes_of(sqs_world)
    sqs_world.serve("orders", handler)
    for _ in range(8):
        sqs_world.send("orders", "x" * 1_000_000)
    sqs_world.run()
    assert sizes == [6, 2]


ANSWERS: dict[str, tuple[object, list[str]]] = {
    "nothing": (None, []),
    "no failures": ({"batchItemFailures": []}, []),
    "failures that are null": ({"batchItemFailures": None}, []),
    "another key": ({"failures": ["a"]}, []),
    "one failure": ({"batchItemFailures": ["a"]}, ["a"]),
    "an empty identifier": ({"batchItemFailures": [""]}, ["a", "b"]),
    "an identifier that is null": ({"batchItemFailures": [None]}, ["a", "b"]),
    "an identifier of no message": ({"batchItemFailures": ["c"]}, ["a", "b"]),
    "a bad item": ({"batchItemFailures": [{"id": "a"}]}, ["a", "b"]),
    "a text": ("done", ["a", "b"]),
    "what is no JSON": (object(), ["a", "b"]),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_says_what_comes_back(sqs_world: SqsWorld, case: str) -> None:
    answer, kept = ANSWERS[case]

    def handler(event: Any, _context: object) -> object:
        ids = {record["body"]: record["messageId"] for record in event["Records"]}
        if not isinstance(answer, dict) or not isinstance(answer.get("batchItemFailures"), list):
            return answer
        items = answer["batchItemFailures"]
        named = [i if isinstance(i, dict) else {"itemIdentifier": ids.get(i, i)} for i in items]
        return {"batchItemFailures": named}

    sqs_world.serve("orders", handler)
    for body in "ab":
        sqs_world.send("orders", body)
    sqs_world.run(for_=1)
    assert [message.body for message in sqs_world.queue("orders")] == kept


def test_without_partial_responses_the_answer_is_not_looked_at(sqs_world: SqsWorld) -> None:
    answer = {"batchItemFailures": [{"itemIdentifier": "nonsense"}]}
    sqs_world.serve("orders", lambda _event, _context: answer, partial_responses=False)
    sqs_world.send("orders", "x")
    sqs_world.run(for_=1)
    assert sqs_world.queue("orders") == []


def test_a_handler_that_raises_fails_its_whole_batch_and_the_log_says_so(
    sqs_world: SqsWorld, caplog: pytest.LogCaptureFixture
) -> None:
    def handler(_event: object, _context: object) -> None:
        raise ValueError("no")

    sqs_world.serve("orders", handler)
    sqs_world.send("orders", "x")
    sqs_world.run(for_=1)
    assert [detail for _, _, detail in happened(sqs_world, "invocation failed")] == ["ValueError: no"]
    assert "Invocation 1 of 'handler' failed" in caplog.text


def test_an_endpoint_in_decorators_of_others_finds_its_world(sqs_world: SqsWorld) -> None:
    def logged(handler: Any) -> Any:
        @functools.wraps(handler)
        def wrapper(event: Any, context: Any) -> Any:
            return handler(event, context)

        return wrapper

    sqs_world.serve("orders", logged(endpoint()))
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert len(sqs_world.queue("orders-error")) == 1


def test_an_instance_stays_warm_until_it_dies(sqs_world: SqsWorld) -> None:
    instances: list[str] = []

    def handler(event: Any, context: Any) -> None:
        instances.append(context.log_stream_name[-1])
        if event["Records"][0]["body"] == "deadly" and len(instances) == 2:
            sqs_world.kill()

    sqs_world.serve("orders", handler, batch_size=1, concurrency=1)
    for body in ("x", "deadly", "x"):
        sqs_world.send("orders", body)
    sqs_world.run()
    assert instances == ["1", "1", "2", "2"]


def test_a_handler_that_exits_takes_its_instance_along(sqs_world: SqsWorld) -> None:
    def handler(_event: object, _context: object) -> None:
        raise SystemExit(3)

    sqs_world.serve("orders", handler)
    sqs_world.send("orders", "x")
    sqs_world.run(for_=1)
    assert [detail for _, _, detail in happened(sqs_world, "invocation failed")] == ["exited with 3"]


def test_a_throttled_invocation_is_tried_again_with_the_same_receive(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", lambda _event, _context: None)
    sqs_world.fail("invoke", Throttled(), during=5)
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert happened(sqs_world, "received", "deleted") == [
        (seconds(0), "received", "receive 1"),
        (seconds(7), "deleted", ""),
    ]


def test_a_throttled_batch_costs_a_receive_for_each_visibility_timeout(sqs_world: SqsWorld) -> None:
    sizes, handler = sizes_of(sqs_world)
    sqs_world.create_queue("orders", visibility_timeout=30)
    sqs_world.serve("orders", handler)
    sqs_world.fail("invoke", Throttled(), during=60)
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert sizes == [1]
    assert [detail for _, _, detail in happened(sqs_world, "received")] == ["receive 1", "receive 2", "receive 3"]


def looping(world: SqsWorld) -> Callable[[Any, object], None]:
    """Return a handler that sends each message on to its own queue, 20 times."""

    def handler(event: Any, _context: object) -> None:
        for record in event["Records"]:
            if int(record["body"]) < 20:
                world.client.send_message(QueueUrl="orders", MessageBody=str(int(record["body"]) + 1))

    return handler


def test_lambda_stops_a_message_that_came_through_the_function_16_times(sqs_world: SqsWorld) -> None:
    sqs_world.create_queue("orders", dead_letter_queue="dead", max_receive_count=3)
    sqs_world.serve("orders", looping(sqs_world))
    sqs_world.send("orders", "0")
    sqs_world.run()
    assert [message.body for message in sqs_world.queue("dead")] == ["16"]


def test_lambda_lets_a_loop_go_on_when_the_function_allows_it(sqs_world: SqsWorld) -> None:
    sqs_world.create_queue("orders", dead_letter_queue="dead", max_receive_count=3)
    sqs_world.serve("orders", looping(sqs_world), recursive_loop="Allow")
    sqs_world.send("orders", "0")
    sqs_world.run()
    assert (sqs_world.queue("dead"), sqs_world.queue("orders")) == ([], [])


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no messages": ({"batch_size": 0}, "write 1 to 10000"),
    "a large batch without a window": ({"batch_size": 11}, "need a window of 1 s"),
    "a long window": ({"window": 301}, "write 0 to 300"),
    "no concurrency": ({"concurrency": 0}, "write 1 to 1000"),
    "a long time-out": ({"timeout": 901}, "up to 900"),
    "another loop": ({"recursive_loop": "Stop"}, '"Terminate" or "Allow"'),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_mapping_is_refused_that_has(sqs_world: SqsWorld, case: str) -> None:
    options, advice = REFUSED[case]
    with pytest.raises(ValueError, match=advice):
        sqs_world.serve("orders", lambda _event, _context: None, **options)


def test_a_mapping_is_refused_whose_queue_shows_messages_again_before_the_function_is_done(sqs_world: SqsWorld) -> None:
    sqs_world.create_queue("orders", visibility_timeout=5)

    with pytest.raises(
        ValueError, match=r"'orders' is 5 s, and .* 30 s; write create_queue\(..., visibility_timeout=180"
    ):
        sqs_world.serve("orders", endpoint())


def test_a_fifo_mapping_is_refused_that_has_a_window(sqs_world: SqsWorld) -> None:
    with pytest.raises(ValueError, match="not for FIFO"):
        sqs_world.serve("orders.fifo", lambda _event, _context: None, window=1)
