"""What each action becomes where the trigger delivers one message: a return, an exception, or a copy and a return."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from azure.servicebus.exceptions import MessageSizeExceededError, ServiceBusError

from azure.endpoints import Handler, ended, endpoint
from azure.recording import RecordingClient, properties
from azure.triggers import trigger_message
from builders import ERROR_QUEUE, NOW, NOW_WRITTEN, QUEUE, Boom, Clock, recoverability, seconds, written
from recoverable import (
    Delayed,
    Discard,
    ErrorContext,
    Immediate,
    Message,
    MoveToError,
    Recoverability,
    UnreportedFailure,
)
from recoverable._ladder.faults import EXCEPTION_TYPE, FAILED_QUEUE, STACK_TRACE
from recoverable._service_bus.senders import MAX_SENDERS
from recoverable._service_bus.wire import in_milliseconds
from recoverable.azure import Abandoned, CopyNotSent, ServiceBusEndpoint
from recoverable.headers import DELAYED_RETRIES, DELAYED_RETRY_AT, DUE_AT, MESSAGE_ID, ORIGIN, PRIOR_ATTEMPTS
from recoverable.hosting import Deadline, Environment, current_environment

LAST: dict[str, Any] = {"DeliveryCount": 3}
LAST_ROUND: dict[str, Any] = {"DeliveryCount": 3, "properties": {DELAYED_RETRIES: "2"}}
ERROR = Boom("it broke")


def test_what_succeeds_is_completed_by_the_host_and_nothing_is_sent() -> None:
    client = RecordingClient()

    assert ended(endpoint(Handler(), client=client), trigger_message()) is None
    assert (client.senders, client.calls) == ([], [])


@pytest.mark.parametrize("count", [1, 2])
def test_an_immediate_retry_raises_the_handlers_exception(count: int) -> None:
    client = RecordingClient()

    assert ended(endpoint(Handler(ERROR), client=client), trigger_message(DeliveryCount=count)) is ERROR
    assert client.calls == []


def test_a_delayed_retry_is_a_copy_that_is_scheduled() -> None:
    client = RecordingClient()

    assert ended(endpoint(client=client), trigger_message(**LAST)) is None
    [(queue, copy)] = client.sent
    assert (queue, copy.scheduled_enqueue_time_utc, properties(copy)) == (
        QUEUE,
        in_milliseconds(NOW + seconds(2)),
        {
            MESSAGE_ID: "m-1",
            "NServiceBus.TimeSent": "2026-03-14 15:00:00:123456 Z",
            "Recoverable.Origin": "42@1773500400123",
            DELAYED_RETRIES: "1",
            DELAYED_RETRY_AT: NOW_WRITTEN,
            "Recoverable.FirstDelayedRetry": NOW_WRITTEN,
            "Recoverable.Attempts": "3",
            "Recoverable.FirstFailedAt": NOW_WRITTEN,
        },
    )


def test_a_move_to_error_is_a_copy_with_the_reason() -> None:
    client = RecordingClient()

    assert ended(endpoint(client=client), trigger_message(**LAST_ROUND)) is None
    [(queue, copy)] = client.sent
    headers = properties(copy)
    assert (queue, copy.scheduled_enqueue_time_utc, headers[FAILED_QUEUE]) == (ERROR_QUEUE, None, QUEUE)
    assert (headers[EXCEPTION_TYPE], DELAYED_RETRIES in headers) == ("builders.Boom", False)
    assert headers[STACK_TRACE].startswith("builders.Boom: it broke\n   at azure.endpoints.__call__() in /")


def test_a_policy_may_choose_the_error_queue() -> None:
    client = RecordingClient()
    settings = recoverability(policy=lambda _, __: MoveToError("payments-error"))

    ended(endpoint(settings=settings, client=client), trigger_message())

    assert [queue for queue, _ in client.sent] == ["payments-error"]


def test_a_policy_with_many_error_queues_keeps_few_connections_open() -> None:
    client = RecordingClient()
    settings = recoverability(policy=lambda _, context: MoveToError(context.message.text))
    called = endpoint(settings=settings, client=client)
    queues = [f"error-{number:02}" for number in range(MAX_SENDERS + 3)]

    for queue in (*queues[:MAX_SENDERS], queues[0], *queues[MAX_SENDERS:]):
        assert ended(called, trigger_message(queue.encode())) is None

    assert (client.senders, client.closed) == (queues, queues[1:4])


def test_what_is_discarded_is_completed() -> None:
    client = RecordingClient()
    settings = recoverability(policy=lambda _, __: Discard("a duplicate"))

    assert ended(endpoint(settings=settings, client=client), trigger_message()) is None
    assert client.calls == []


def test_what_is_discarded_without_an_attempt_is_decided_about_once() -> None:
    asked = list[BaseException]()

    def discards(_: Recoverability, context: ErrorContext) -> Discard:
        asked.append(context.exception)
        return Discard("it kills")

    handler = Handler()
    called = endpoint(handler, recoverability(policy=discards))

    assert ended(called, trigger_message(DeliveryCount=6)) is None
    assert ([type(error) for error in asked], handler.handled) == ([UnreportedFailure], [])


@pytest.mark.parametrize("metadata", [LAST, LAST_ROUND], ids=["delayed retry", "move to error"])
def test_when_a_copy_cannot_be_sent_the_host_abandons_the_message(metadata: dict[str, Any]) -> None:
    refusal = ServiceBusError("busy")
    client = RecordingClient(lambda _: refusal)

    error = ended(endpoint(client=client), trigger_message(**metadata))

    assert isinstance(error, CopyNotSent)
    assert (str(error).split(": ", 1)[1], error.__cause__) == ("ServiceBusError: busy", refusal)


def test_a_policys_error_queue_that_is_the_queue_itself_is_replaced_by_the_default_policy() -> None:
    client = RecordingClient()
    settings = recoverability(0, 0, policy=lambda _, __: MoveToError(QUEUE.upper()))

    error = ended(endpoint(settings=settings, client=client), trigger_message())

    assert (error, [queue for queue, _ in client.sent]) == (None, [ERROR_QUEUE])


def test_without_a_connection_the_message_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ServiceBus", raising=False)
    settings = Recoverability(Immediate(0), Delayed(0))
    called = ServiceBusEndpoint(Handler(Boom()), settings, queue=QUEUE, connection="ServiceBus")

    assert str(ended(called, trigger_message())).startswith("the connection 'ServiceBus' is not among")


def test_a_copy_that_is_not_yet_due_hops_on_and_no_handler_runs() -> None:
    client, handler = RecordingClient(), Handler()
    due = written(NOW + seconds(5))

    assert ended(endpoint(handler, client=client), trigger_message(properties={DUE_AT: due})) is None
    [(queue, copy)] = client.sent
    assert (queue, copy.scheduled_enqueue_time_utc, handler.handled) == (QUEUE, in_milliseconds(NOW + seconds(5)), [])


def test_a_deferral_that_cannot_be_sent_runs_the_handler_instead() -> None:
    client, handler = RecordingClient(lambda _: ServiceBusError("busy")), Handler()
    due = written(NOW + seconds(5))

    assert ended(endpoint(handler, client=client), trigger_message(properties={DUE_AT: due})) is None
    assert [message.id for message in handler.handled] == ["m-1"]


def test_an_unreported_message_gets_its_next_round_and_no_handler_runs() -> None:
    client, handler = RecordingClient(), Handler()

    assert ended(endpoint(handler, client=client), trigger_message(DeliveryCount=6)) is None
    [(queue, copy)] = client.sent
    assert (queue, properties(copy)[DELAYED_RETRIES], handler.handled) == (QUEUE, "1", [])


def test_an_unreported_message_that_cannot_be_sent_is_abandoned() -> None:
    client, handler = RecordingClient(lambda _: ServiceBusError("busy")), Handler()

    error = ended(endpoint(handler, client=client), trigger_message(DeliveryCount=6))

    assert (type(error), handler.handled) == (CopyNotSent, [])


def test_a_fault_header_makes_no_message_undeliverable() -> None:
    client = RecordingClient(largest=20_000)
    handler = Handler(Boom("x" * 16_000))

    assert ended(endpoint(handler, client=client), trigger_message(b"b" * 15_000, **LAST_ROUND)) is None
    headers = properties(client.sent[0][1])
    assert (STACK_TRACE in headers, headers[EXCEPTION_TYPE], headers[FAILED_QUEUE]) == (False, "builders.Boom", QUEUE)


def test_a_message_too_large_without_fault_headers_is_abandoned_to_the_host() -> None:
    client = RecordingClient(largest=20_000)

    error = ended(endpoint(client=client), trigger_message(b"b" * 20_000, **LAST_ROUND))

    assert isinstance(error, CopyNotSent)
    assert isinstance(error.__cause__, MessageSizeExceededError)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)], ids=repr)
def test_an_interruption_is_raised_and_nothing_is_sent_beside_a_message_that_comes_back(error: BaseException) -> None:
    client = RecordingClient()

    assert ended(endpoint(Handler(error), client=client), trigger_message(**LAST)) is error
    assert client.calls == []


def test_an_exception_that_no_host_expects_reaches_it_as_one_that_it_does() -> None:
    error = GeneratorExit()

    raised = ended(endpoint(Handler(error)), trigger_message())

    assert isinstance(raised, Abandoned)
    assert raised.__cause__ is error


def test_a_platform_names_itself_by_its_app_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBSITE_SITE_NAME", "shop")
    monkeypatch.setenv("WEBSITE_INSTANCE_ID", "i-7")

    found = endpoint()._processor.platform

    assert (found.host, found.machine, found.shared_process, found.text_log) == ("shop", "i-7", True, True)


def test_a_test_world_lends_its_client_and_its_clock() -> None:
    client, later = RecordingClient(), NOW + timedelta(days=1)
    token = current_environment.set(Environment(client, Clock(later), Deadline))
    try:
        ended(endpoint(), trigger_message(**LAST))
    finally:
        current_environment.reset(token)

    assert [copy.scheduled_enqueue_time_utc for _, copy in client.sent] == [in_milliseconds(later + seconds(2))]


def test_longer_delays_than_sqs_has_need_no_hop() -> None:
    client = RecordingClient()
    settings = recoverability(time_increase=timedelta(days=30))

    ended(endpoint(settings=settings, client=client), trigger_message(**LAST))

    [(_, copy)] = client.sent
    due = in_milliseconds(NOW + timedelta(days=30))
    assert (copy.scheduled_enqueue_time_utc, DUE_AT in properties(copy)) == (due, False)


def test_the_counters_of_a_round_are_gone_from_the_next() -> None:
    client = RecordingClient()

    ended(endpoint(client=client), trigger_message(DeliveryCount=1, properties={ORIGIN: "1", PRIOR_ATTEMPTS: "2"}))

    assert PRIOR_ATTEMPTS not in properties(client.sent[0][1])


def test_an_older_extension_does_not_make_a_message_retry_for_ever() -> None:
    client = RecordingClient()
    mine = {"tenant": "north", DELAYED_RETRIES: "2"}

    ended(endpoint(client=client), trigger_message(DeliveryCount=3, properties=mine, old=True))

    [(queue, copy)] = client.sent
    assert (queue, properties(copy)["tenant"]) == (ERROR_QUEUE, "north")


def test_by_a_slow_clock_a_copy_waits_from_when_service_bus_took_its_message() -> None:
    client = RecordingClient()
    took = NOW + timedelta(hours=1)

    ended(endpoint(client=client), trigger_message(**LAST, EnqueuedTimeUtc=took.isoformat()))

    assert [copy.scheduled_enqueue_time_utc for _, copy in client.sent] == [in_milliseconds(took + seconds(2))]


@pytest.mark.parametrize("batch", [False, True], ids=["single", "batch"])
def test_what_a_handler_does_to_its_message_and_to_the_native_record_changes_no_copy(*, batch: bool) -> None:
    def tamper_and_fail(message: Message) -> None:
        for name in ("id", "round", "attempt", "queue", "native"):
            with suppress(AttributeError):
                setattr(message, name, "changed")
        message.native.application_properties["tenant"] = "red"
        message.native.application_properties["more"] = "x"
        raise Boom("no")

    client = RecordingClient()
    native = trigger_message(properties={"tenant": "blue", "count": 7, MESSAGE_ID: "m-0"})

    assert (
        ended(
            endpoint(tamper_and_fail, recoverability(0, 0), client=client, batch=batch), [native] if batch else native
        )
        is None
    )

    ((queue, copy),) = client.sent
    kept = {name: value for name, value in properties(copy).items() if name in ("tenant", "count", "more", MESSAGE_ID)}
    assert (queue, kept) == (ERROR_QUEUE, {"tenant": "blue", "count": 7, MESSAGE_ID: "m-0"})
