"""How an invocation ends: with an answer, without partial responses, or with the exception that ends the process."""

from __future__ import annotations

import pytest

from aws.harness import Mapping, ladder, lose_deliveries, sqs_endpoint
from recoverable import Message
from recoverable.aws import UnfinishedBatch
from recoverable_local.testing import Refused
from servers.faulty_proxy import FaultyProxy, Rule
from servers.queues import Queue, bodies, send

INTERRUPTIONS = [KeyboardInterrupt, SystemExit]


class Handler:
    """Does what the body says, and remembers what it was given."""

    def __init__(self, interruption: type[BaseException] = KeyboardInterrupt) -> None:
        self.runs: list[str] = []
        self._interruption = interruption

    def __call__(self, message: Message) -> None:
        self.runs.append(message.text)
        if message.text == "end":
            raise self._interruption
        if message.text == "bad":
            raise ValueError("no")


def without_partial_responses(orders: Queue, error: Queue, handler: Handler, *, immediate: int = 0) -> Mapping:
    return Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=immediate), partial_responses=False))


def test_without_partial_responses_what_is_done_with_is_deleted_before_the_invocation_fails(
    orders: Queue, error: Queue
) -> None:
    handler = Handler()
    send(orders, "good", "bad", "fine")
    mapping = without_partial_responses(orders, error, handler, immediate=1)

    mapping.poll()

    (raised,) = mapping.raised
    assert isinstance(raised, UnfinishedBatch)
    assert str(raised) == f"1 of 3 messages of '{orders.name}' will be redelivered; the others are deleted"
    assert orders.count() == 1

    mapping.poll()

    assert (handler.runs, bodies(error), orders.count()) == (["good", "bad", "fine", "bad"], ["bad"], 0)


def test_without_partial_responses_a_batch_of_which_nothing_is_left_succeeds(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    send(orders, "good", "bad")
    mapping = without_partial_responses(orders, error, Handler())

    assert (mapping.poll(), mapping.raised, orders.count(), bodies(error)) == ([], [], 0, ["bad"])


def test_without_partial_responses_a_batch_that_succeeds_costs_no_call(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    send(orders, "good", "fine")
    mapping = without_partial_responses(orders, error, Handler())

    assert (mapping.poll(), orders.count(), dict(proxy.calls)) == ([], 0, {})


def test_without_partial_responses_a_copy_that_is_not_sent_fails_the_invocation(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    send(orders, "good", "bad")
    proxy.rules = [Rule("SendMessageBatch", Refused("RequestThrottled", status=403))]
    mapping = without_partial_responses(orders, error, Handler())

    mapping.poll()

    assert ([type(error) for error in mapping.raised], orders.count()) == ([UnfinishedBatch], 1)


def test_without_partial_responses_what_could_not_be_deleted_comes_back_and_is_not_lost(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    handler = Handler()
    send(orders, "good", "bad")
    proxy.rules = [Rule("DeleteMessageBatch", Refused("RequestThrottled", status=403))]
    mapping = without_partial_responses(orders, error, handler, immediate=1)
    mapping.poll()
    proxy.rules = []
    mapping.expire()

    mapping.run_dry()

    assert (sorted(handler.runs), bodies(error)) == (["bad", "bad", "good", "good"], ["bad"])


@pytest.mark.parametrize("interruption", INTERRUPTIONS)
def test_an_interruption_is_a_failed_attempt_and_raised_again_after_settling(
    orders: Queue, error: Queue, interruption: type[BaseException]
) -> None:
    handler = Handler(interruption)
    send(orders, "good", "bad", "end", "late")
    mapping = Mapping(orders, sqs_endpoint(handler, ladder(error)))

    mapping.poll()

    assert ([type(error) for error in mapping.raised], handler.runs) == ([interruption], ["good", "bad", "end"])
    assert (bodies(error), orders.count(), bodies(orders)) == (["bad", "end"], 1, ["late"])


def test_an_interruption_leaves_an_immediate_retry_to_the_next_invocation(orders: Queue, error: Queue) -> None:
    handler = Handler(SystemExit)
    send(orders, "end")
    mapping = Mapping(orders, sqs_endpoint(handler, ladder(error, immediate=1)))

    mapping.poll()
    mapping.poll()

    assert ([type(error) for error in mapping.raised], handler.runs) == ([SystemExit] * 2, ["end"] * 2)
    assert (bodies(error), orders.count()) == (["end"], 0)


@pytest.mark.parametrize("interruption", INTERRUPTIONS)
def test_an_interruption_in_a_coroutine_is_raised_again_after_settling(
    orders: Queue, error: Queue, interruption: type[BaseException]
) -> None:
    handler = Handler(interruption)

    async def handle(message: Message) -> None:
        handler(message)

    send(orders, "good", "end", "late")
    mapping = Mapping(orders, sqs_endpoint(handle, ladder(error)))

    mapping.poll()

    assert ([type(error) for error in mapping.raised], handler.runs) == ([interruption], ["good", "end"])
    assert (bodies(error), orders.count(), bodies(orders)) == (["end"], 1, ["late"])


def test_after_an_interruption_what_was_delivered_earlier_is_handed_back_too(orders: Queue, error: Queue) -> None:
    handler = Handler()
    send(orders, "again")
    lose_deliveries(orders, 1)
    send(orders, "end")

    Mapping(orders, sqs_endpoint(handler, ladder(error))).poll()

    assert (handler.runs, bodies(error), bodies(orders)) == (["end"], ["end"], ["again"])


@pytest.mark.parametrize("raised", [BaseException, GeneratorExit, MemoryError, RecursionError])
def test_every_other_end_of_a_handler_is_a_failed_attempt(
    orders: Queue, error: Queue, raised: type[BaseException]
) -> None:
    handler = Handler(raised)
    send(orders, "end", "good")
    mapping = Mapping(orders, sqs_endpoint(handler, ladder(error)))

    assert (mapping.poll(), mapping.raised, handler.runs) == ([], [], ["end", "good"])
    assert bodies(error) == ["end"]
