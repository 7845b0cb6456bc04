"""What each action of a policy becomes on SQS, and where a message goes that is given up."""

from __future__ import annotations

import logging
from datetime import timedelta
from time import monotonic
from typing import Any

import pytest

from aws.harness import Mapping, ladder, sqs_endpoint
from recoverable import (
    Action,
    Delayed,
    DelayedRetry,
    Discard,
    ErrorContext,
    Failed,
    Immediate,
    ImmediateRetry,
    Message,
    MoveToError,
    Recoverability,
    RetryAfter,
    default_policy,
)
from servers.faulty_proxy import FaultyProxy
from servers.fixtures import NewQueue
from servers.queues import Queue


class Handler:
    """Fails with one exception, and remembers its place on the ladder and the time."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.runs: list[tuple[int, int]] = []
        self.times: list[float] = []
        self._failure = failure or ValueError("no")

    def __call__(self, message: Message) -> None:
        self.runs.append((message.round, message.attempt))
        self.times.append(monotonic())
        raise self._failure


def types(queue: Queue) -> list[str]:
    """Return the exceptions for which messages were given up."""
    return [copy.headers["NServiceBus.ExceptionInfo.ExceptionType"] for copy in queue.arrived()]


def run_to_the_end(orders: Queue, settings: Recoverability, failure: Exception | None = None) -> Handler:
    """Send a message and let it be retried to its end."""
    handler = Handler(failure)
    orders.send()
    Mapping(orders, sqs_endpoint(handler, settings)).run_dry()
    return handler


@pytest.mark.parametrize("named_by", ["name", "arn", "url"])
def test_the_error_queue_can_be_named_by_name_arn_or_url(
    orders: Queue, new_queue: NewQueue, proxy: FaultyProxy, named_by: str
) -> None:
    aside = new_queue("aside")
    name = getattr(aside, named_by)
    if named_by == "url":
        name = name.replace(aside.client.meta.endpoint_url, proxy.url)

    run_to_the_end(orders, ladder(name))

    assert (types(aside), proxy.calls["GetQueueUrl"]) == (["ValueError"], 0)


@pytest.mark.parametrize("named_by", ["name", "arn"])
def test_a_policy_chooses_the_error_queue(orders: Queue, error: Queue, new_queue: NewQueue, named_by: str) -> None:
    poison = new_queue("poison")

    run_to_the_end(orders, ladder(error, policy=lambda *_: MoveToError(getattr(poison, named_by))))

    assert (types(poison), error.count()) == (["ValueError"], 0)


def test_messages_for_several_error_queues_go_each_to_its_own_in_one_batch_for_each(
    orders: Queue, error: Queue, new_queue: NewQueue, proxy: FaultyProxy
) -> None:
    poison = new_queue("poison")
    for body in "abab":
        orders.send(body)

    def sort(_: Recoverability, context: ErrorContext) -> Action:
        return MoveToError(poison.name if context.message.text == "b" else None)

    Mapping(orders, sqs_endpoint(Handler(), ladder(error, policy=sort))).run_dry()

    assert ([copy.body for copy in error.arrived()], [copy.body for copy in poison.arrived()]) == (
        ["a", "a"],
        ["b", "b"],
    )
    assert proxy.calls == {"SendMessageBatch": 2, "DeleteMessageBatch": 2}


def test_a_discarded_message_is_gone_and_the_log_keeps_the_reason(
    orders: Queue, error: Queue, proxy: FaultyProxy, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="recoverable")

    handler = run_to_the_end(orders, ladder(error, immediate=5, policy=lambda *_: Discard("out of date")))

    assert (len(handler.runs), error.count(), dict(proxy.calls)) == (1, 0, {})
    assert "Reason: out of date" in caplog.text


def test_an_unrecoverable_failure_goes_to_the_error_queue_at_once(orders: Queue, error: Queue) -> None:
    handler = run_to_the_end(orders, ladder(error, immediate=5, delayed=3, unrecoverable=(LookupError,)), KeyError("x"))

    assert (handler.runs, types(error)) == ([(0, 1)], ["KeyError"])


def test_a_body_that_cannot_be_read_goes_to_the_error_queue_at_once(orders: Queue, error: Queue) -> None:
    orders.send("no JSON")

    Mapping(orders, sqs_endpoint(Message.json, ladder(error, immediate=5, delayed=3))).run_dry()

    assert types(error) == ["recoverable.MessageDeserializationError"]


def test_a_handler_that_asks_to_wait_gets_its_delay_at_once_and_as_often_as_there_are_delayed_retries(
    orders: Queue, error: Queue
) -> None:
    failure = RetryAfter(timedelta(seconds=1), "429")

    handler = run_to_the_end(orders, ladder(error, immediate=5, delayed=1, delay=600), failure)

    assert (handler.runs, types(error)) == ([(0, 1), (1, 1)], ["recoverable.RetryAfter"])
    assert handler.times[1] - handler.times[0] >= 1.0


def test_a_policy_may_have_retries_of_its_own(orders: Queue, error: Queue) -> None:
    def twice_at_once_then_once_later(settings: Recoverability, context: ErrorContext) -> Action:
        if context.immediate_processing_failures < 2:
            return ImmediateRetry()
        if context.delayed_deliveries_performed < 1:
            return DelayedRetry(timedelta(0))
        return default_policy(settings, context)

    handler = run_to_the_end(orders, ladder(error, immediate=1, policy=twice_at_once_then_once_later))

    assert (handler.runs, types(error)) == ([(0, 1), (0, 2), (1, 1), (1, 2)], ["ValueError"])


@pytest.mark.parametrize("nonsense", [lambda *_: None, lambda *_: "retry", lambda *_: 1 / 0])
def test_a_policy_that_raises_or_answers_no_action_is_replaced_by_the_default_one(
    orders: Queue, error: Queue, caplog: pytest.LogCaptureFixture, nonsense: Any
) -> None:
    handler = run_to_the_end(orders, ladder(error, immediate=1, policy=nonsense))

    assert (handler.runs, types(error)) == ([(0, 1), (0, 2)], ["ValueError"])
    assert "The next simpler policy decides for this message." in caplog.text


def test_a_policy_that_always_retries_later_ends_after_a_thousand_rounds(orders: Queue, error: Queue) -> None:
    from servers.queues import HEADERS

    headers = '{"NServiceBus.Retries": "999"}'
    orders.send(attributes={HEADERS: {"DataType": "String", "StringValue": headers}})
    handler = Handler()
    settings = Recoverability(
        Immediate(0), Delayed(0), Failed(error.name), policy=lambda *_: DelayedRetry(timedelta(0))
    )

    Mapping(orders, sqs_endpoint(handler, settings)).run_dry()

    assert (handler.runs, types(error)) == ([(999, 1), (1000, 1)], ["ValueError"])
