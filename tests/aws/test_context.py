"""The context of the invocation, which a handler reaches by its message."""

from __future__ import annotations

from typing import Any

import pytest

from aws.harness import Context, ladder, sqs_endpoint
from aws.recording_client import RecordingClient
from aws.records import event, record
from builders import Boom
from recoverable import ErrorContext, Immediate, Message, MoveToError, Recoverability
from recoverable_local.testing import SqsWorld


class Watching:
    """Notes the context of each of its messages."""

    def __init__(self) -> None:
        self.contexts: list[Any] = []

    def __call__(self, message: Message) -> None:
        self.contexts.append(message.context)


def asynchronous(handler: Watching) -> Any:
    """Return a coroutine handler that does what a plain one does."""

    async def handle(message: Message) -> None:
        handler(message)

    return handle


@pytest.mark.parametrize("wrap", [lambda handler: handler, asynchronous], ids=["plain", "coroutine"])
def test_each_message_has_the_context_of_its_invocation(wrap: Any) -> None:
    handler, contexts = Watching(), [Context(), Context(), None]
    endpoint = sqs_endpoint(wrap(handler), ladder("error"))

    for context in contexts:
        endpoint(event(record(), record()), context)

    assert handler.contexts == [context for context in contexts for _ in range(2)]


def test_an_attempt_in_process_has_it_too() -> None:
    handler, context = Watching(), Context()

    def fail(message: Message) -> None:
        handler(message)
        raise Boom

    settings = Recoverability(Immediate(1, in_process=True))
    sqs_endpoint(fail, settings, client=RecordingClient().as_client())(event(record()), context)

    assert handler.contexts == [context, context]


def test_a_policy_reaches_it_once_the_attempt_has_ended() -> None:
    seen: list[Any] = []

    def fail(message: Message) -> None:
        raise Boom

    def policy(_settings: Recoverability, failed: ErrorContext) -> MoveToError:
        seen.append(failed.message.context)
        return MoveToError()

    context = Context()
    sqs_endpoint(fail, Recoverability(policy=policy), client=RecordingClient().as_client())(event(record()), context)

    assert seen == [context]


def test_in_a_world_it_is_the_one_that_stands_in_for_lambda_s(sqs_world: SqsWorld) -> None:
    handler = Watching()
    sqs_world.create_queue("orders")
    sqs_world.serve("orders", sqs_endpoint(handler, ladder("error")), timeout=30)
    sqs_world.send("orders", "hello")

    sqs_world.run()

    assert [context.get_remaining_time_in_millis() for context in handler.contexts] == [30_000]
