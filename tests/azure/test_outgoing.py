"""What a handler sends on Service Bus: it leaves when the attempt has succeeded, and before its message is completed."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from datetime import timedelta
from typing import Any

import pytest
from azure.servicebus.exceptions import (
    MessagingEntityNotFoundError,
    ServiceBusAuthorizationError,
    ServiceBusError,
    ServiceBusServerBusyError,
)

from azure.endpoints import ended, endpoint
from azure.namespace import INVOICES, SESSIONS, Bus
from azure.recording import RecordingClient, properties
from azure.triggers import trigger_message, trigger_messages
from builders import ERROR_QUEUE, NOW, NOW_WRITTEN, QUEUE, Boom, Clock, recoverability, seconds, written
from outgoing.worlds import service_bus_world
from recoverable import Message, OutgoingRefused
from recoverable._service_bus.clients import client_for
from recoverable._service_bus.wire import in_milliseconds
from recoverable.azure import ServiceBusEndpoint
from recoverable.headers import REFUSED_SINCE
from recoverable.hosting import Environment, current_environment
from recoverable_local.testing import Refused, Throttled


class Billing:
    """A handler that sends, and then fails so often."""

    def __init__(self, failures: int = 0, to: str = INVOICES) -> None:
        self.failures, self.to, self.attempts = failures, to, 0

    def __call__(self, message: Message) -> None:
        self.attempts += 1
        message.send(self.to, f"invoice for {message.text}")
        if self.attempts <= self.failures:
            raise Boom


def serving(handler: Any, immediate: int = 0, delayed: int = 0, **parts: Any) -> ServiceBusEndpoint[Any]:
    """Return an endpoint of the emulated namespace."""
    settings = recoverability(immediate, delayed, time_increase=seconds(0), error_queue=ERROR_QUEUE)
    return ServiceBusEndpoint(
        handler,
        settings,
        **{"queue": QUEUE, "connection": "ServiceBus", "name": "orders", "lock": timedelta(minutes=1), **parts},
    )


def invoices(bus: Bus) -> list[str]:
    """Return the bodies of what was sent."""
    return sorted(seen.body.decode() for seen in bus.seen(INVOICES))


@pytest.mark.parametrize("batch", [False, True], ids=["one message", "a batch"])
def test_a_ladder_of_which_the_last_attempt_succeeds_sends_once(bus: Bus, *, batch: bool) -> None:
    billing = Billing(failures=5)
    bus.send("order 1")

    bus.serve(serving(billing, immediate=2, delayed=1, batch=batch), lambda: invoices(bus), batch=batch)

    assert (billing.attempts, invoices(bus), bus.seen(ERROR_QUEUE)) == (6, ["invoice for order 1"], [])


def test_a_ladder_of_attempts_that_fail_sends_nothing(bus: Bus) -> None:
    billing = Billing(failures=6)
    bus.send("order 1")

    bus.serve(serving(billing, immediate=2, delayed=1), lambda: bus.seen(ERROR_QUEUE))

    assert (billing.attempts, invoices(bus)) == (6, [])


def test_a_send_to_a_queue_that_does_not_exist_is_a_failed_attempt(bus: Bus) -> None:
    bus.send("order 1")

    bus.serve(serving(Billing(to="no-such-queue")), lambda: bus.seen(ERROR_QUEUE))

    [failed] = bus.seen(ERROR_QUEUE)
    assert failed.application_properties["NServiceBus.ExceptionInfo.ExceptionType"] == "recoverable.OutgoingRefused"
    assert (
        "'no-such-queue' refused an outgoing message"
        in failed.application_properties["NServiceBus.ExceptionInfo.Message"]
    )


async def bill_async(message: Message) -> None:
    message.send(INVOICES, message.text)


def test_a_coroutine_sends_too() -> None:
    client = RecordingClient()

    assert ended(endpoint(bill_async, client=client), trigger_message(b"order 1")) is None
    assert [(queue, properties(sent)["NServiceBus.MessageIntent"]) for queue, sent in client.sent] == [
        (INVOICES, "Send")
    ]


def test_the_messages_of_a_batch_are_sent_in_one_call() -> None:
    client = RecordingClient()
    batch = trigger_messages({"body": b"1"}, {"body": b"2"})

    assert ended(endpoint(Billing(), client=client, batch=True), batch) is None
    assert [queue for queue, _ in client.sent] == [INVOICES, INVOICES]
    assert len(client.calls) == 1


def test_no_message_of_a_batch_is_lost_that_sent_before_one_of_a_session() -> None:
    client = RecordingClient(lambda queue: MessagingEntityNotFoundError(message="gone") if queue == INVOICES else None)
    batch = [trigger_message(b"1", SequenceNumber=1), trigger_message(b"2", SequenceNumber=2, SessionId="a")]

    assert ended(endpoint(Billing(), client=client, batch=True), batch) is None
    assert [(queue, b"".join(sent.body)) for queue, sent in client.sent] == [(QUEUE, b"1"), (QUEUE, b"2")]


def test_a_run_that_is_repeated_sends_under_the_same_id() -> None:
    client = RecordingClient()
    serving_again = endpoint(Billing(), client=client)

    assert [ended(serving_again, trigger_message(b"order 1", SequenceNumber=7)) for _ in range(2)] == [None, None]
    first, again = (sent.message_id for _, sent in client.sent)
    assert first == again


def test_a_handler_that_goes_on_after_a_send_that_was_refused_at_once_has_nothing_to_send() -> None:
    def bill(message: Message) -> None:
        with suppress(ValueError):
            message.send("sb://elsewhere.servicebus.windows.net/invoices", "invoice")

    assert ended(endpoint(bill), trigger_message(b"order 1")) is None


@pytest.mark.parametrize(("warm", "made"), [(False, 0), (True, 1)])
def test_the_client_is_made_at_the_start_where_it_is_asked_for_and_else_by_the_first_send(
    bus: Bus, *, warm: bool, made: int
) -> None:
    client_for.cache_clear()
    endpoint = serving(Billing(), warm=warm)
    made_at_the_start = client_for.cache_info().misses

    bus.send("order 1")
    bus.serve(endpoint, lambda: invoices(bus))

    assert (made_at_the_start, client_for.cache_info().misses) == (made, 1)


def test_what_a_session_sends_comes_in_the_order_of_its_messages_and_of_each_handlers_sends(bus: Bus) -> None:
    def bill(message: Message) -> None:
        for number in range(3):
            message.send(INVOICES, f"{message.text} part {number}")

    bus.send("order 1", "order 2", to=SESSIONS, session_id="a")
    wanted = [f"order {order} part {part}" for order in (1, 2) for part in range(3)]

    bus.serve(serving(bill, queue=SESSIONS, sessions=True), lambda: len(invoices(bus)) >= len(wanted), session_id="a")

    assert [(seen.body.decode(), seen.session_id) for seen in bus.seen(INVOICES)] == [(body, "a") for body in wanted]


def test_in_a_batch_a_message_of_a_session_sends_before_the_next_one_runs() -> None:
    client, sent_before = RecordingClient(), list[int]()

    def bill(message: Message) -> None:
        sent_before.append(len(client.sent))
        message.send(INVOICES, message.text)

    batch = trigger_messages({"body": b"1", "SessionId": "a"}, {"body": b"2", "SessionId": "a"})

    assert ended(endpoint(bill, client=client, batch=True, sessions=True), batch) is None
    assert sent_before == [0, 1]


def busy(queue: str) -> RecordingClient:
    """Return a client whose namespace has one queue that is busy."""
    return RecordingClient(lambda to: ServiceBusServerBusyError(message="busy") if to == queue else None)


def test_who_is_busy_costs_no_attempt_and_the_message_waits_by_a_copy_that_keeps_its_counts() -> None:
    client = busy(INVOICES)
    earlier = {"NServiceBus.Retries": "1", "NServiceBus.FLRetries": "1", "Recoverable.Origin": "1"}

    assert ended(endpoint(Billing(), client=client), trigger_message(b"order 1", properties=earlier)) is None
    [(queue, copy)] = client.sent
    kept = {name: properties(copy).get(name) for name in (*earlier, "Recoverable.HeldSince")}
    assert (queue, copy.scheduled_enqueue_time_utc) == (QUEUE, in_milliseconds(NOW + seconds(2.5)))
    assert kept == {**earlier, "Recoverable.HeldSince": NOW_WRITTEN}


def test_who_is_busy_for_some_seconds_is_asked_again_after_pauses_in_the_same_invocation() -> None:
    billing = Billing()
    world = service_bus_world(billing)
    world.create_queue(INVOICES)
    world.fail("send_messages", Throttled(), queue=INVOICES, during=seconds(5))
    world.run()

    assert (billing.attempts, [seen.body for seen in world.queue(INVOICES)]) == (1, ["invoice for order 1"])


def denied(*without_links: str) -> RecordingClient:
    """Return a client whose namespace denies access to one queue, and a new link to others."""
    error = ServiceBusAuthorizationError(message="no role")
    return RecordingClient(lambda to: error if to == INVOICES else None, without_links=without_links)


def test_where_the_own_queue_takes_no_link_either_the_credentials_may_be_at_fault_and_no_attempt_is_lost() -> None:
    client = denied(QUEUE)

    assert ended(endpoint(Billing(), client=client), trigger_message(b"order 1")) is None
    [(queue, copy)] = client.sent
    assert (queue, properties(copy)["Recoverable.HeldSince"], client.closed) == (QUEUE, NOW_WRITTEN, [QUEUE])


def test_access_that_is_denied_to_the_destination_alone_is_a_failed_attempt() -> None:
    client = denied()

    assert isinstance(ended(endpoint(Billing(), client=client), trigger_message(b"order 1")), OutgoingRefused)
    assert client.sent == []


def test_the_longer_who_is_busy_the_longer_is_the_wait() -> None:
    client = busy(INVOICES)
    held = {"Recoverable.HeldSince": written(NOW - seconds(100))}

    assert ended(endpoint(Billing(), client=client), trigger_message(b"order 1", properties=held)) is None
    [(_, copy)] = client.sent
    assert copy.scheduled_enqueue_time_utc == in_milliseconds(NOW + seconds(100))


def test_the_neighbours_of_a_message_that_waits_for_who_is_busy_complete() -> None:
    client = busy("overloaded")

    def bill(message: Message) -> None:
        message.send("overloaded" if message.text == "2" else INVOICES, message.text)

    batch = trigger_messages({"body": b"1"}, {"body": b"2"}, {"body": b"3"})

    assert ended(endpoint(bill, client=client, batch=True), batch) is None
    assert sorted((queue, b"".join(sent.body)) for queue, sent in client.sent) == [
        (INVOICES, b"1"),
        (INVOICES, b"3"),
        (QUEUE, b"2"),
    ]


TOO_MUCH: dict[str, tuple[dict[str, Any], str]] = {
    "a property": ({"attributes": {"trace": "x" * 32_764}}, "'trace' of 32,769 bytes; Service Bus takes 32,768"),
    "a header": ({"headers": {"note": "x" * 32_764}}, "'note' of 32,769 bytes"),
    "all of them": ({"attributes": {"a": "x" * 32_000, "b": "x" * 32_000, "c": "x" * 1_300}}, "properties and headers of 65,"),
    "a number of 65 bits": ({"attributes": {"number": 2**64}}, "write an integer of 64 bits"),
}  # fmt: skip


@pytest.mark.parametrize(("parts", "text"), TOO_MUCH.values(), ids=TOO_MUCH)
@pytest.mark.parametrize("verb", ["send", "publish"])
def test_what_amqp_or_service_bus_does_not_take_is_refused_in_the_handler(
    verb: str, parts: dict[str, Any], text: str
) -> None:
    def bill(message: Message) -> None:
        getattr(message, verb)(INVOICES, "invoice", **parts)

    error = ended(endpoint(bill), trigger_message(b"order 1"))

    assert (type(error), text in str(error)) == (ValueError, True)


def test_bytes_as_a_property_are_refused_because_they_would_arrive_as_text() -> None:
    error = ended(endpoint(lambda message: message.send(INVOICES, "x", attributes={"blob": b"1"})), trigger_message())

    advice = "write text, a number, a bool or a datetime, and bytes as text, such as base64"
    assert (type(error), str(error)) == (TypeError, f"Message.send(attributes) has 'blob' of type bytes; {advice}")


@pytest.mark.parametrize("sizes", [(32_763,), (32_000, 32_000)])
def test_what_fits_with_the_headers_of_this_package_is_taken(sizes: tuple[int, ...]) -> None:
    world = service_bus_world(
        lambda message: message.send(
            INVOICES, "invoice", attributes={f"p{place}": "x" * size for place, size in enumerate(sizes)}
        )
    )
    world.create_queue(INVOICES)
    world.run()

    assert len(world.queue(INVOICES)) == 1


class Unknown:
    """A handler that sends to a queue that gives an unknown answer."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, message: Message) -> None:
        self.runs += 1
        message.send(INVOICES, message.text)


UNKNOWN = Refused("amqp:internal-error", "The service was unable to process the request; please retry the operation.")


@pytest.mark.parametrize("condition", ["amqp:internal-error", "com.microsoft:something-new"])
def test_an_answer_that_nobody_knows_is_a_failed_attempt_after_ten_deliveries(condition: str) -> None:
    handler = Unknown()
    world = service_bus_world(handler)
    world.create_queue(INVOICES)
    world.fail("send_messages", Refused(condition, "something"), queue=INVOICES)
    world.run(for_=seconds(86_400))

    [failed] = world.queue("error")
    assert (handler.runs, failed.exception_type) == (11, "recoverable.OutgoingRefused")
    assert "did not take an outgoing message (ServiceBusError), 10 times since" in str(failed.exception_message)
    assert REFUSED_SINCE not in failed.headers


def test_it_is_a_failed_attempt_after_a_day_and_from_then_on_at_once() -> None:
    client = RecordingClient(lambda to: ServiceBusError(message="new") if to == INVOICES else None)
    since = {REFUSED_SINCE: f"{written(NOW - seconds(86_400))} 2 {INVOICES}"}
    slept: list[float] = []
    environment = Environment(client.as_client(), Clock(), nullcontext, sleep=slept.append)
    serving_it = endpoint(Unknown(), recoverability(1, 0), resend_for=seconds(60))

    token = current_environment.set(environment)
    error = ended(serving_it, trigger_message(b"1", properties=since))
    current_environment.reset(token)

    assert (type(error), slept) == (OutgoingRefused, [])


def test_answers_of_another_destination_or_that_cannot_be_read_are_not_counted() -> None:
    client = RecordingClient(lambda to: ServiceBusError(message="new") if to == INVOICES else None)
    for text in (f"{written(NOW - seconds(90_000))} 9 elsewhere", "yesterday 9 invoices", "x" * 40):
        ended(endpoint(Unknown(), client=client), trigger_message(b"1", properties={REFUSED_SINCE: text}))

    assert [properties(sent)[REFUSED_SINCE] for _, sent in client.sent] == [f"{NOW_WRITTEN} 1 {INVOICES}"] * 3


def test_in_a_batch_it_is_a_failed_attempt_at_once_where_the_queue_took_what_another_message_sent() -> None:
    answers = [ServiceBusError(message="new")] * 2  # to both together, then to the first by itself
    client, handler = RecordingClient(lambda _: answers.pop() if answers else None), Unknown()
    serving_it = endpoint(handler, recoverability(0, 0, error_queue=ERROR_QUEUE), client=client, batch=True)

    ended(serving_it, trigger_messages({"body": b"1"}, {"body": b"2"}))

    assert [(queue, b"".join(sent.body)) for queue, sent in client.sent] == [(INVOICES, b"2"), (ERROR_QUEUE, b"1")]


def test_in_a_batch_it_is_a_failed_attempt_after_three_deliveries() -> None:
    client = RecordingClient(lambda to: ServiceBusError(message="new") if to == INVOICES else None)
    since = {REFUSED_SINCE: f"{NOW_WRITTEN} 3 {INVOICES}"}
    settings = recoverability(0, 0, error_queue=ERROR_QUEUE)

    ended(
        endpoint(Unknown(), settings, client=client, batch=True), trigger_messages({"body": b"1", "properties": since})
    )

    assert [queue for queue, _ in client.sent] == [ERROR_QUEUE]
