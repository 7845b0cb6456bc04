"""Check what `serve` takes: handlers that call an endpoint, an error queue for them, and functions that fail by themselves."""

from __future__ import annotations

from typing import Any

import pytest

from local.testing.ladders import decline, endpoint
from recoverable import Message
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import EndlessRun, SqsWorld

orders = endpoint(immediate=0, delayed=0)


def wrapping(event: dict[str, Any], context: Any) -> Any:
    """A handler that wraps an endpoint, without functools."""
    return orders(event, context)


def test_a_handler_that_calls_an_endpoint_is_given_its_error_queue(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", wrapping, error_queue="orders-error")
    sqs_world.send("orders", "x")

    sqs_world.run()

    assert [m.exception_type for m in sqs_world.queue("orders-error")] == ["local.testing.ladders.CardDeclined"]


def test_the_error_queue_of_serve_is_the_dead_letter_queue(sqs_world: SqsWorld) -> None:
    def fail(_event: object, _context: object) -> None:
        raise ValueError

    sqs_world.serve("orders", fail, error_queue="graves")
    message = sqs_world.send("orders", "x")

    sqs_world.run()

    assert [(m.id, m.receive_count) for m in sqs_world.queue("graves")] == [(message, 50)]


def test_the_error_queue_of_serve_comes_before_that_of_the_endpoint(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", endpoint(lambda _message: sqs_world.kill(), immediate=0, delayed=0), error_queue="graves")

    queues = sqs_world.client.get_queue_attributes(QueueUrl="orders", AttributeNames=["RedrivePolicy"])
    assert ":graves" in queues["Attributes"]["RedrivePolicy"]


def one_argument(_event: object) -> None:
    pass


@pytest.mark.parametrize("handler", [one_argument, decline])
def test_a_handler_that_lambda_could_not_call_is_refused(sqs_world: SqsWorld, handler: Any) -> None:
    with pytest.raises(
        TypeError, match=r"serve\(handler\) cannot be called with an event and a context \(too many positional"
    ):
        sqs_world.serve("orders", handler)


def forgetful(_event: dict[str, Any], _context: Any) -> Any:
    """A handler with a mistake: the endpoint wants the event."""
    return orders()  # type: ignore[call-arg]


def test_a_function_that_fails_by_itself_ends_the_run_with_the_reason(sqs_world: SqsWorld) -> None:
    sqs_world.create_queue("orders", visibility_timeout=180)
    sqs_world.serve("orders", forgetful)
    sqs_world.send("orders", "x")

    with pytest.raises(EndlessRun) as ended:
        sqs_world.run()

    assert str(ended.value) == (
        "50 invocations of 'forgetful' in a row failed with the same error: TypeError: SqsEndpoint.__call__() missing 1 required"
        " positional argument: 'event'. It is raised by the function itself, so nothing retries, moves or explains its messages;"
        " mend the function, or give its queue a dead-letter queue by serve(..., error_queue=...)"
    )


def test_an_answer_that_lambda_cannot_read_ends_the_run_too(sqs_world: SqsWorld) -> None:
    sqs_world.serve("orders", lambda _event, _context: "done")
    sqs_world.send("orders", "x")

    with pytest.raises(EndlessRun, match="in a row failed with the same error: the answer is 'done'"):
        sqs_world.run()


def test_a_function_that_fails_for_a_while_does_not_end_the_run(sqs_world: SqsWorld) -> None:
    calls: list[object] = []

    def fail(event: object, _context: object) -> None:
        calls.append(event)
        if len(calls) < 50:
            raise ValueError

    sqs_world.serve("orders", fail)
    sqs_world.send("orders", "x")

    sqs_world.run()

    assert (len(calls), sqs_world.queue("orders")) == (50, [])


def test_deaths_and_messages_that_fail_without_partial_responses_do_not_end_the_run(sqs_world: SqsWorld) -> None:
    def handle(message: Message) -> None:
        if message.text == "kill":
            sqs_world.kill()
        decline(message)

    sqs_world.create_queue("orders", visibility_timeout=180)
    ladder = endpoint(handle, immediate=29, delayed=1, partial_responses=False).recoverability
    served = SqsEndpoint(handle, ladder, partial_responses=False)
    sqs_world.serve("orders", served, partial_responses=False, recursive_loop="Allow")
    for body in ("kill", "fail"):
        sqs_world.send("orders", body)

    sqs_world.run()

    assert sorted(str(m.exception_type) for m in sqs_world.queue("orders-error")) == [
        "local.testing.ladders.CardDeclined",
        "recoverable.UnreportedFailure",
    ]
