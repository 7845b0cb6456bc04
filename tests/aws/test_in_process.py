"""Immediate retries that the same invocation makes, on SQS: how few calls they take, and that a copy carries what is left over."""

from __future__ import annotations

import pytest

from aws.harness import AMPLE, Context, Mapping, sqs_endpoint
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable._limits import NO_DELAY
from servers.faulty_proxy import FaultyProxy
from servers.queues import Queue, bodies, send

TEN = [str(number) for number in range(10)]


def ladder(error: Queue, immediate: int = 5, delayed: int = 1) -> Recoverability:
    """Return immediate retries in process, and delayed ones without delay."""
    return Recoverability(Immediate(immediate, in_process=True), Delayed(delayed, NO_DELAY), Failed(error.name))


class Orders:
    """Notes body and attempt, and fails for those that are bad."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []

    def __call__(self, message: Message) -> None:
        self.seen.append((message.text, message.attempt))
        if message.text != "good":
            raise ValueError("no")


@pytest.mark.parametrize("counter", ["native", "header"])
@pytest.mark.parametrize("names", [["bad"], TEN], ids=["one", "ten"])
def test_messages_that_fail_for_good_cost_a_send_and_a_delete_a_round(
    orders: Queue, error: Queue, proxy: FaultyProxy, names: list[str], counter: str
) -> None:
    send(orders, *names)
    handler = Orders()

    Mapping(orders, sqs_endpoint(handler, ladder(error), counter=counter)).run_dry()

    assert proxy.calls == {"SendMessageBatch": 2, "DeleteMessageBatch": 2}
    assert (len(handler.seen), bodies(error)) == (12 * len(names), names)


def test_a_neighbour_is_handled_once(orders: Queue, error: Queue) -> None:
    send(orders, "bad", "good")
    handler = Orders()

    Mapping(orders, sqs_endpoint(handler, ladder(error, delayed=0))).run_dry()

    assert sorted(handler.seen) == [*(("bad", number) for number in range(1, 7)), ("good", 1)]


def test_what_is_left_over_goes_on_by_a_copy(orders: Queue, error: Queue, proxy: FaultyProxy) -> None:
    send(orders, "bad")
    handler, contexts = Orders(), [Context() for _ in range(6)]

    def use_up_the_time(message: Message) -> None:
        contexts[message.attempt - 1].seconds = AMPLE
        handler(message)

    called = sqs_endpoint(use_up_the_time, ladder(error, delayed=0))
    Mapping(orders, called, contexts=iter(contexts).__next__).run_dry()

    assert handler.seen == [("bad", number) for number in range(1, 7)]
    assert (bodies(error), proxy.calls["SendMessageBatch"]) == (["bad"], 6)


def test_a_message_whose_delivery_was_lost_is_left_to_the_count_of_sqs(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    send(orders, "bad")
    mapping = Mapping(orders, sqs_endpoint(Orders(), ladder(error)))
    orders.client.change_message_visibility(
        QueueUrl=orders.url, ReceiptHandle=orders.receive()[0]["ReceiptHandle"], VisibilityTimeout=0
    )

    mapping.poll()

    assert proxy.calls == {"ChangeMessageVisibilityBatch": 1}
