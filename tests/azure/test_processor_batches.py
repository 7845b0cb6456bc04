"""A trigger that delivers many messages: the host completes or abandons all, so that each failure becomes a copy."""

from __future__ import annotations

from typing import Any

import azure.functions as func
import pytest
from azure.servicebus.exceptions import ServiceBusError

from azure.endpoints import Handler, ended, endpoint
from azure.recording import RecordingClient, properties
from azure.triggers import trigger_message, trigger_messages
from builders import ERROR_QUEUE, NOW, QUEUE, Boom, recoverability, seconds
from recoverable import Message
from recoverable._ladder.faults import EXCEPTION_MESSAGE
from recoverable._service_bus.wire import in_milliseconds
from recoverable.azure import CopyNotSent
from recoverable.headers import DELAYED_RETRIES, MESSAGE_ID, ORIGIN, PRIOR_ATTEMPTS

LAST_ATTEMPT = {ORIGIN: "1", PRIOR_ATTEMPTS: "2", DELAYED_RETRIES: "2"}


def bad_ones_fail(message: Message) -> None:
    """Fail for a body that says so."""
    if message.text == "bad":
        raise Boom("it broke")


def batch(*bodies: str, **fields: Any) -> list[func.ServiceBusMessage]:
    """Return messages of these bodies."""
    return trigger_messages(*({"body": body.encode(), **fields} for body in bodies))


def test_when_all_succeed_nothing_is_sent() -> None:
    client = RecordingClient()

    assert ended(endpoint(bad_ones_fail, client=client, batch=True), batch("good", "good")) is None
    assert client.calls == []


def test_an_immediate_retry_is_a_copy_that_carries_the_count() -> None:
    client = RecordingClient()

    assert ended(endpoint(bad_ones_fail, client=client, batch=True), batch("good", "bad")) is None
    [(queue, copy)] = client.sent
    assert (queue, properties(copy)[MESSAGE_ID], properties(copy)[PRIOR_ATTEMPTS]) == (QUEUE, "m-2", "1")
    assert copy.scheduled_enqueue_time_utc is None


def test_all_attempts_are_made_whichever_batch_they_come_in() -> None:
    client = RecordingClient()
    handler = Handler(Boom("it broke"))
    called = endpoint(handler, client=client, batch=True)
    waiting = [(QUEUE, dict[str, Any]())]

    while waiting and waiting[0][0] == QUEUE:
        client.calls.clear()
        ended(called, trigger_messages({"properties": waiting[0][1]}))
        waiting = [(queue, properties(copy)) for queue, copy in client.sent]

    attempts = [(message.round, message.attempt) for message in handler.handled]
    assert attempts == [(round_, attempt) for round_ in range(3) for attempt in (1, 2, 3)]
    assert [queue for queue, _ in waiting] == [ERROR_QUEUE]


@pytest.mark.parametrize("error_queue", ["orders-error", "error"])
def test_copies_to_one_queue_go_out_in_one_call_and_errors_before_retries(error_queue: str) -> None:
    client = RecordingClient()
    messages = [{"properties": LAST_ATTEMPT | {DELAYED_RETRIES: str(round_)}} for round_ in (0, 2, 1, 2)]

    ended(
        endpoint(settings=recoverability(error_queue=error_queue), client=client, batch=True),
        trigger_messages(*messages),
    )

    sent = [(queue, [properties(copy)[MESSAGE_ID] for copy in copies]) for queue, copies in client.calls]
    assert sent == [(error_queue, ["m-2", "m-4"]), (QUEUE, ["m-1", "m-3"])]


def test_sessions_do_not_share_a_call() -> None:
    client = RecordingClient()
    messages = [{"SessionId": session} for session in ("a", "b", "a")]

    ended(endpoint(client=client, batch=True), trigger_messages(*messages))

    assert sorted(len(copies) for _, copies in client.calls) == [1, 2]


def test_what_is_too_much_for_one_call_goes_out_in_several() -> None:
    client = RecordingClient(largest=10_000)
    fields: dict[str, Any] = {"properties": LAST_ATTEMPT}

    assert ended(endpoint(bad_ones_fail, client=client, batch=True), batch(*["bad"] * 20, **fields)) is None
    assert sum(len(copies) for _, copies in client.calls) == 20
    assert 1 < len(client.calls) < 20


def test_one_that_is_too_large_for_a_call_with_others_goes_alone() -> None:
    client = RecordingClient(largest=10_000)
    messages = [{"body": b"small"}, {"body": b"b" * 9_650}, {"body": b"small"}, {"body": b"small"}]

    assert ended(endpoint(client=client, batch=True), trigger_messages(*messages)) is None
    sent = [[properties(copy)[MESSAGE_ID] for copy in copies] for _, copies in client.calls]
    assert sent == [["m-2"], ["m-1", "m-3", "m-4"]]


def test_one_that_can_never_be_sent_multiplies_no_others() -> None:
    client = RecordingClient(largest=10_000)
    messages: list[dict[str, Any]] = [{"body": b"small"}, {"body": b"b" * 10_000}, {"body": b"small", "SessionId": "a"}]

    error = ended(endpoint(client=client, batch=True), trigger_messages(*messages))

    assert (type(error), client.calls) == (CopyNotSent, [])


def test_one_that_is_too_large_for_any_call_goes_with_fewer_fault_headers() -> None:
    client = RecordingClient(largest=10_000)
    last: dict[str, Any] = {"properties": LAST_ATTEMPT}
    messages = [{"body": b"small", **last}, {"body": b"b" * 9_000, **last}, {"body": b"small", **last}]

    assert ended(endpoint(Handler(Boom("x" * 2_000)), client=client, batch=True), trigger_messages(*messages)) is None
    sent = {properties(copy)[MESSAGE_ID]: EXCEPTION_MESSAGE in properties(copy) for _, copy in client.sent}
    assert sent == {"m-1": True, "m-2": False, "m-3": True}


def test_when_no_queue_takes_anything_the_host_abandons_the_whole_batch() -> None:
    client = RecordingClient(lambda _: ServiceBusError("busy"))
    messages = [{}, {"properties": LAST_ATTEMPT}]

    error = ended(endpoint(client=client, batch=True), trigger_messages(*messages))

    assert isinstance(error, CopyNotSent)
    assert client.calls == []


def test_a_message_that_ends_its_process_alone_runs_twice_more_and_then_goes_through_its_retries_without_its_handler() -> (
    None
):
    ran = []
    for count in (2, 3, 4):
        client, handler = RecordingClient(), Handler()
        ended(endpoint(handler, client=client, batch=True), batch("a", DeliveryCount=count))
        ran.append((len(handler.handled), [properties(copy)[PRIOR_ATTEMPTS] for _, copy in client.sent]))

    assert ran == [(1, []), (1, []), (0, ["1"])]


def test_fields_that_the_host_does_not_give_are_omitted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    client = RecordingClient()

    ended(endpoint(client=client, batch=True), trigger_messages({"CorrelationId": None}, {"CorrelationId": "c-2"}))

    assert [copy.correlation_id for _, copy in client.sent] == [None, None]
    assert "Reading correlation_id failed for a batch from 'orders'" in caplog.messages[-1]


def test_a_batch_endpoint_takes_one_message_too() -> None:
    client = RecordingClient()

    assert ended(endpoint(client=client, batch=True), trigger_message()) is None
    assert [properties(copy)[PRIOR_ATTEMPTS] for _, copy in client.sent] == ["1"]


def test_delays_are_those_of_the_ladder() -> None:
    client = RecordingClient()
    settings = recoverability(0, 2)

    ended(endpoint(settings=settings, client=client, batch=True), batch("a", "b"))

    due = {copy.scheduled_enqueue_time_utc for _, copy in client.sent}
    assert due == {in_milliseconds(NOW + seconds(2))}
