"""Large messages: what is trimmed, how batches are cut, and what becomes of a message of which no copy can be made."""

from __future__ import annotations

import json
from typing import Literal

import pytest

from aws.harness import Mapping, ladder, sqs_endpoint
from recoverable import Delayed, Immediate, Message, Recoverability
from recoverable_local.testing import SqsWorld
from servers.faulty_proxy import FaultyProxy
from servers.fixtures import NewQueue
from servers.queues import Arrived, Queue

LIMIT = 1_048_576
INFO = "NServiceBus.ExceptionInfo."


def size(copy: Arrived) -> int:
    """Return the bytes of the body and of our attribute."""
    ours = len("NServiceBus.AmazonSQS.Headers") + len("String") + len(json.dumps(copy.headers))
    return len(copy.body.encode()) + ours


def fail_at_length(message: Message) -> None:
    """Fail with a long message, a long note and a deep stack."""

    def dive(depth: int) -> None:
        if depth:
            dive(depth - 1)
        failure = ValueError("m" * 200_000)
        failure.add_note("ä" * 100_000)
        raise failure

    dive(500)


def test_a_message_of_900_kib_arrives_with_what_fits_of_a_long_failure(orders: Queue, error: Queue) -> None:
    body = "x" * 900 * 1024
    orders.send(body)

    Mapping(orders, sqs_endpoint(fail_at_length, ladder(error))).run_dry()

    (copy,) = error.arrived()
    assert copy.body == body
    assert size(copy) <= LIMIT
    assert (copy.headers[INFO + "ExceptionType"], copy.headers[INFO + "Message"]) == ("ValueError", "m" * 16_384)


def test_only_as_much_of_the_failure_is_trimmed_as_must_be(orders: Queue, error: Queue) -> None:
    orders.send("x" * (LIMIT - 20_000))

    Mapping(orders, sqs_endpoint(fail_with_a_long_message, ladder(error))).run_dry()

    (copy,) = error.arrived()
    assert 0 <= LIMIT - size(copy) < 10
    assert copy.headers[INFO + "Message"] == "m" * 16_384
    assert copy.headers[INFO + "StackTrace"].startswith("ValueError: mmm")


def fail_with_a_long_message(message: Message) -> None:
    raise ValueError("m" * 200_000)


def test_a_body_that_leaves_no_room_for_the_failure_still_arrives_and_says_where_it_failed(
    orders: Queue, error: Queue
) -> None:
    orders.send("x" * (LIMIT - 700))

    Mapping(orders, sqs_endpoint(fail_at_length, ladder(error))).run_dry()

    (copy,) = error.arrived()
    assert (copy.headers["NServiceBus.FailedQ"], size(copy) <= LIMIT) == (orders.name, True)
    assert INFO + "StackTrace" not in copy.headers


def test_ten_messages_of_200_kb_that_fail_together_go_in_two_batches(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    for number in range(10):
        orders.send(str(number) + "-" * 199_999)  # which is no base64, so that its error copy stays as it is

    Mapping(orders, sqs_endpoint(short_failure, ladder(error))).run_dry()

    assert sorted(copy.body[0] for copy in error.arrived()) == list("0123456789")
    assert proxy.calls == {"SendMessageBatch": 2, "DeleteMessageBatch": 2}


def short_failure(message: Message) -> None:
    raise ValueError(len(message.body))


@pytest.mark.parametrize(("immediate", "delayed"), [(0, 0), (1, 1)])
def test_a_message_of_which_no_copy_can_be_made_is_redelivered_until_the_redrive_policy_takes_it(
    new_queue: NewQueue, error: Queue, caplog: pytest.LogCaptureFixture, immediate: int, delayed: int
) -> None:
    redrive = {"deadLetterTargetArn": error.arn, "maxReceiveCount": str(immediate + 2)}
    orders = new_queue("orders", RedrivePolicy=json.dumps(redrive))
    orders.send("x" * LIMIT)

    endpoint = sqs_endpoint(short_failure, ladder(error, immediate=immediate, delayed=delayed))
    mapping = Mapping(orders, endpoint)
    while mapping.poll():
        mapping.expire()

    assert orders.count() == 0
    assert [len(copy.body) for copy in error.arrived()] == [LIMIT]
    assert mapping.raised == []
    assert (
        "a copy would be larger than SQS takes. It stays on the queue and will be redelivered until the redrive policy takes it"
        in caplog.text
    )


@pytest.mark.parametrize("counter", ["native", "header"])
def test_a_message_of_which_no_copy_can_be_made_never_comes_back_at_once(
    orders: Queue, error: Queue, proxy: FaultyProxy, counter: Literal["native", "header"]
) -> None:
    """Without a redrive policy it would else go on without a pause, for as long as the queue keeps messages."""
    orders.send("x" * LIMIT)
    settings = ladder(error) if counter == "native" else ladder(error, immediate=1)

    reported = Mapping(orders, sqs_endpoint(short_failure, settings, counter=counter)).poll()

    assert (reported, proxy.calls) == (["x" * LIMIT], {})


@pytest.mark.parametrize("orders", [1, 3], ids=["one", "several"])
def test_an_error_queue_that_takes_less_gets_the_copy_without_the_details(sqs_world: SqsWorld, orders: int) -> None:
    sqs_world.create_queue("error", max_size=1024)
    sqs_world.serve(
        "orders", sqs_endpoint(fail_with_a_long_message, Recoverability(immediate=Immediate(0), delayed=Delayed(0)))
    )
    sent = [sqs_world.send("orders", "a card") for _ in range(orders)]

    sqs_world.run()

    arrived = sqs_world.queue("error")
    assert sorted(copy.id for copy in arrived) == sorted(sent)
    assert {copy.headers["NServiceBus.FailedQ"] for copy in arrived} == {"orders"}
    assert {name for copy in arrived for name in copy.headers if name.startswith(INFO)} == set()


def test_a_copy_that_is_refused_without_fault_headers_too_leaves_its_message_on_the_queue(sqs_world: SqsWorld) -> None:
    sqs_world.create_queue("orders", dead_letter_queue="dead", max_receive_count=3)
    sqs_world.create_queue("error", max_size=1024)
    sqs_world.serve(
        "orders", sqs_endpoint(fail_with_a_long_message, Recoverability(immediate=Immediate(0), delayed=Delayed(0)))
    )
    sqs_world.send("orders", "x" * 2_000)

    sqs_world.run()

    assert [(copy.queue, copy.receive_count) for copy in sqs_world.queue("dead")] == [("dead", 3)]
