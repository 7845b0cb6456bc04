"""Dead letters of Service Bus become error copies, each once and none lost."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import azure.functions as func
import pytest
from azure.servicebus.exceptions import MessagingEntityNotFoundError, ServiceBusServerBusyError

from azure.recording import NAMESPACE, RecordingClient, properties
from azure.triggers import trigger_message
from recoverable.hosting import Deadline, Environment, current_environment, utc_clock
from recoverable_local.testing import ServiceBusWorld
from recoverable_operate import stamp

DIED_AT = "2026-03-14 15:00:00:123456 Z"
REASON = {"DeadLetterReason": "MaxDeliveryCountExceeded", "DeadLetterErrorDescription": "delivered 10 times"}
FAILURE = {
    "NServiceBus.MessageId": "7",
    "NServiceBus.FailedQ": "orders",
    "NServiceBus.ExceptionInfo.ExceptionType": "shop.CardDeclined",
    "NServiceBus.TimeOfFailure": "2026-03-04 05:06:07:000089 Z",
    "Recoverable.FailedQueue": f"sb://{NAMESPACE}/orders",
}
"""Headers of an error copy of this package."""


class Run:
    """One invocation of a stamp on a message, in a world where waiting takes no time.

    Args:
        died: the message.
        client: what it sends by.
    """

    def __init__(self, died: func.ServiceBusMessage, client: RecordingClient | None = None) -> None:
        self.client, self.waited = client or RecordingClient(), list[float]()
        environment = Environment(self.client.as_client(), utc_clock(None), Deadline, sleep=self.waited.append)
        token = current_environment.set(environment)
        [function] = stamp(to="error").blueprint(queue="orders-dead", connection="ServiceBus")._function_builders
        try:
            function.build().get_user_function()(died)
        finally:
            current_environment.reset(token)

    @property
    def copy(self) -> dict[str, Any]:
        """Return the properties of the only copy."""
        [(queue, message)] = self.client.sent
        assert queue == "error"
        return properties(message)


def dead(source: str | None = "orders", **parts: Any) -> func.ServiceBusMessage:
    """Return a dead letter as the trigger of the queue that it was forwarded to gives it."""
    given = {**REASON, **parts.pop("headers", {})}
    return trigger_message(b'{"id": 1}', properties=given, DeadLetterSource=source, **parts)


def test_a_dead_letter_says_where_it_died_and_the_broker_s_reason() -> None:
    assert Run(dead(headers={"tenant": "blue", "count": 3})).copy == {
        "tenant": "blue",
        "count": 3,
        "NServiceBus.MessageId": "m-1",
        "NServiceBus.TimeSent": DIED_AT,
        "NServiceBus.ContentType": "application/json",
        "NServiceBus.ProcessingEndpoint": "orders",
        "NServiceBus.FailedQ": "orders",
        "NServiceBus.ExceptionInfo.ExceptionType": "recoverable.UnreportedFailure",
        "NServiceBus.ExceptionInfo.Message": "MaxDeliveryCountExceeded: delivered 10 times",
        "NServiceBus.TimeOfFailure": DIED_AT,
        "Recoverable.FailedQueue": f"sb://{NAMESPACE}/orders",
        "Recoverable.Origin": "42@1773500400123",
    }


def test_a_copy_that_is_made_twice_has_one_id() -> None:
    first, again = (Run(dead()).client.sent[0][1] for _ in range(2))

    assert (first.message_id, properties(first)) == (again.message_id, properties(again))


def test_a_message_that_was_sent_back_and_died_is_stamped_anew() -> None:
    copy = Run(dead(headers=FAILURE)).copy

    assert copy["NServiceBus.ExceptionInfo.ExceptionType"] == "recoverable.UnreportedFailure"
    assert (copy["NServiceBus.TimeOfFailure"], copy["Recoverable.Redrives"]) == (DIED_AT, "1")


def test_an_error_copy_is_sent_on_as_it_is() -> None:
    assert Run(dead(source="custom-error", headers=FAILURE)).copy == {**FAILURE, **REASON}


def test_an_error_copy_that_died_on_its_way_loses_what_would_send_it_on_again() -> None:
    assert Run(dead(headers={**FAILURE, "Recoverable.RefusedSends": "3"})).copy == FAILURE


def test_fields_and_session_of_the_message_stay() -> None:
    [(_, sent)] = Run(dead(SessionId="a", CorrelationId="c-1", Subject="order")).client.sent

    assert (sent.session_id, sent.correlation_id, sent.subject) == ("a", "c-1", "order")


def test_a_dead_letter_of_a_subscription_is_said_to_be_one() -> None:
    copy = Run(dead(source="events/Subscriptions/orders")).copy

    assert copy["NServiceBus.FailedQ"] == "orders-dead"
    assert copy["NServiceBus.ExceptionInfo.Message"].endswith(", of the subscription events/Subscriptions/orders")


def test_an_error_queue_that_is_busy_is_asked_again_with_growing_pauses() -> None:
    answers = iter([ServiceBusServerBusyError(), ServiceBusServerBusyError(), None])

    run = Run(dead(), RecordingClient(lambda _queue: next(answers)))

    assert run.copy["NServiceBus.FailedQ"] == "orders"
    assert {1.0, 2.0} <= set(run.waited)


def test_a_dead_letter_that_is_refused_with_its_headers_is_sent_on_as_it_is() -> None:
    answers = iter([ValueError("too large")] * 3)  # with all its headers, and without those that it can go without

    assert Run(dead(), RecordingClient(lambda _queue: next(answers, None))).copy == REASON


def test_a_dead_letter_that_no_queue_takes_is_delivered_again() -> None:
    missing = RecordingClient(lambda _queue: MessagingEntityNotFoundError(message="gone"))

    with pytest.raises(Exception, match=r"'error' did not take a dead letter from 'orders-dead' \(missing"):
        Run(dead(), missing)


def test_what_never_reached_any_code_is_in_the_error_queue_with_its_reason() -> None:
    app = func.FunctionApp()

    @app.service_bus_queue_trigger(arg_name="message", queue_name="orders", connection="ServiceBus")
    def orders(message: func.ServiceBusMessage) -> None:
        raise ImportError("no module named shop")

    world = ServiceBusWorld(create_missing=False)
    world.create_queue("error")
    world.create_queue("orders-dead", dead_letter_queue="error")
    world.create_queue("orders", max_delivery_count=3, dead_letter_queue="orders-dead")
    world.serve("orders", app)
    app.register_functions(stamp(to="error").blueprint(queue="orders-dead", connection="ServiceBus"))
    world.serve("orders-dead", app)
    world.send("orders", {"id": 1}, attributes={"count": 3})
    world.run(for_=timedelta(minutes=10))

    (seen,) = world.queue("error")
    assert (seen.json(), seen.exception_type, seen.failed_queue, seen.attributes["count"]) == (
        {"id": 1}, "recoverable.UnreportedFailure", "orders", 3,
    )  # fmt: skip
    assert "MaxDeliveryCountExceeded" in str(seen.exception_message)
    assert (world.queue("orders"), world.queue("orders-dead")) == ([], [])
