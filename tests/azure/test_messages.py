"""A trigger's message as a delivery: its identity, its attempt and round, and what the host does not give."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from azure.triggers import BODY, ENQUEUED, trigger_message, trigger_messages
from builders import NOW, QUEUE, platform, recoverability, written
from recoverable._ladder.delivery import Delivery
from recoverable.azure._messages import ambiguous_fields, as_list, checked_binary, delivery_of, without_ambiguous_fields
from recoverable.headers import (
    ATTEMPTS,
    DELAYED_RETRIES,
    DUE_AT,
    FAILED_QUEUE_ADDRESS,
    FIRST_FAILED_AT,
    HELD_SINCE,
    MESSAGE_ID,
    ORIGIN,
    PRIOR_ATTEMPTS,
    REDRIVES,
    TIME_SENT,
)  # fmt: skip

if TYPE_CHECKING:
    from recoverable._ladder.settlement import Counter


def delivered(*, counter: Counter = "native", body: bytes = BODY, **metadata: Any) -> Delivery:
    """Return the message as a delivery on the builders' ladder, with two immediate retries."""
    return delivery_of(trigger_message(body, **metadata), QUEUE, recoverability(), platform(counter))


def test_a_first_delivery_is_a_first_attempt() -> None:
    delivery = delivered(SessionId="customer-7")

    message = delivery.message
    assert (delivery.deliveries, delivery.prior_attempts, delivery.unreported) == (1, 0, False)
    assert (message.id, message.attempt, message.round, message.queue) == ("m-1", 1, 0, QUEUE)
    assert (message.body, message.sent_at, message.group_id) == (BODY, ENQUEUED, "customer-7")


def test_a_time_without_zone_is_utc() -> None:
    native = trigger_message(EnqueuedTimeUtc="2026-03-14T15:00:00.123456")  # as a host may write it

    assert native.enqueued_time_utc == ENQUEUED.replace(tzinfo=None)
    assert delivery_of(native, QUEUE, recoverability(), platform()).message.sent_at == ENQUEUED


def test_a_message_may_have_no_body() -> None:
    assert delivered(body=b"").message.body == b""


COUNTS: dict[str, tuple[Any, int]] = {
    "first": (1, 1),
    "fourth": (4, 4),
    "missing": (None, 1),
    "none, as the SDK counts": (0, 1),
    "negative": (-3, 1),
    "absurd": (10_001, 1),
}


@pytest.mark.parametrize(("delivery_count", "deliveries"), COUNTS.values(), ids=COUNTS)
def test_deliveries_are_counted_from_one(delivery_count: int | None, deliveries: int) -> None:
    assert delivered(DeliveryCount=delivery_count).deliveries == deliveries


PLACES: dict[str, tuple[Counter, int, dict[str, Any], tuple[int, int, bool]]] = {
    "redelivered": ("native", 3, {}, (3, 0, False)),
    "a round later": ("native", 1, {DELAYED_RETRIES: "2"}, (1, 2, False)),
    "deferred before": ("native", 2, {ORIGIN: "1", DELAYED_RETRIES: "1", PRIOR_ATTEMPTS: "1"}, (3, 1, False)),
    "two lost": ("native", 5, {}, (5, 0, False)),
    "three lost": ("native", 6, {}, (6, 0, True)),
    "counted by header": ("header", 1, {ORIGIN: "1", PRIOR_ATTEMPTS: "2"}, (3, 0, False)),
    "two lost, counted by header": ("header", 3, {ORIGIN: "1", PRIOR_ATTEMPTS: "1"}, (2, 0, False)),
    "three lost, counted by header": ("header", 4, {ORIGIN: "1", PRIOR_ATTEMPTS: "1"}, (2, 0, True)),
    "counters that are none": (
        "native",
        1,
        {ORIGIN: "1", DELAYED_RETRIES: "many", PRIOR_ATTEMPTS: "-1"},
        (1, 0, False),
    ),
    "counters as numbers": ("native", 1, {ORIGIN: "1", DELAYED_RETRIES: 2, PRIOR_ATTEMPTS: 1}, (2, 2, False)),
}


@pytest.mark.parametrize(("counter", "count", "properties", "place"), PLACES.values(), ids=PLACES)
def test_attempt_and_round_come_from_the_count_and_the_headers(
    counter: Counter, count: int, properties: dict[str, Any], place: tuple[int, int, bool]
) -> None:
    delivery = delivered(counter=counter, DeliveryCount=count, properties=properties)

    assert (delivery.message.attempt, delivery.message.round, delivery.unreported) == place


def test_a_copy_stays_the_message_it_was() -> None:
    sent = NOW - timedelta(hours=1)
    delivery = delivered(properties={MESSAGE_ID: "m-0", TIME_SENT: written(sent)})

    assert (delivery.message.id, delivery.message.sent_at) == ("m-0", sent)


def test_a_copy_knows_when_it_is_due_and_since_when_it_waits() -> None:
    delivery = delivered(properties={DUE_AT: written(NOW), HELD_SINCE: written(ENQUEUED)})

    assert (delivery.due_at, delivery.held_since) == (NOW, ENQUEUED)


def test_the_users_properties_are_headers_as_texts() -> None:
    properties = {"tenant": "north", "priority": 3, "urgent": True, "share": 0.5, "nothing": None}

    headers = delivered(properties=properties).message.headers

    assert headers == {"tenant": "north", "priority": "3", "urgent": "true", "share": "0.5"}


def test_a_message_moved_back_from_the_error_queue_starts_anew() -> None:
    earlier = {
        "NServiceBus.FailedQ": QUEUE, "NServiceBus.ExceptionInfo.Message": "no", ATTEMPTS: "12", FIRST_FAILED_AT: written(NOW),
        FAILED_QUEUE_ADDRESS: f"sb://shop/{QUEUE}", MESSAGE_ID: "m-1", "tenant": "blue", REDRIVES: "1",
    }  # fmt: skip

    delivery = delivered(properties=earlier)

    assert delivery.message.headers == {MESSAGE_ID: "m-1", "tenant": "blue", REDRIVES: "2"}
    assert (delivery.carried.attempts, delivery.carried.first_failed_at, delivery.carried.redrives) == (0, None, 2)


def test_ambiguous_fields_of_a_batch_are_found() -> None:
    natives = trigger_messages(
        {"CorrelationId": None, "Subject": "a", "ReplyTo": None},
        {"CorrelationId": "c-2", "Subject": "b", "ReplyTo": None},
    )

    assert natives[0].correlation_id == "c-2"  # what the host's array of one text leads to
    assert ambiguous_fields(natives) == {"correlation_id"}


def test_a_session_that_the_host_does_not_give_is_none() -> None:
    natives = trigger_messages({"SessionId": None}, {"SessionId": "customer-7"})

    natives = without_ambiguous_fields(natives, QUEUE)
    deliveries = [delivery_of(each, QUEUE, recoverability(), platform("header")) for each in natives]

    assert [delivery.message.group_id for delivery in deliveries] == [None, None]


def test_a_single_message_has_all_its_fields() -> None:
    assert ambiguous_fields(trigger_messages({"CorrelationId": "c-1"})) == frozenset()


OVERWRITTEN = {
    "an object": b'{"order": 42}',
    "beside what the host tells": b'{"messageId": "m-9", "order": 42}',
    "texts": b'{"order": "42"}',
    "the delivery count alone": b'{"deliveryCount": 0}',
    "the sequence number, by which copies are known": b'{"messageId": "m-9", "sequenceNumber": 7}',
}


@pytest.mark.parametrize("body", OVERWRITTEN.values(), ids=OVERWRITTEN)
def test_the_log_says_that_a_trigger_that_delivers_text_must_deliver_bytes(body: bytes) -> None:
    with pytest.raises(TypeError, match=r"^the trigger delivers text, .* write data_type=func\.DataType\.BINARY"):
        checked_binary(trigger_message(body, text=True), batch=False)


BINARY = {
    "an object": (b'{"order": 42}', {}),
    "what the host tells too": (b'{"messageId": "m-1"}', {}),
    "no object": (b'["order"]', {"Novelty": "x"}),
    "no JSON": (b"order", {"Novelty": "x"}),
    "no text": (b"\xff\xfe", {"Novelty": "x"}),
    "a new name of the host, with another value": (b'{"novelty": "y"}', {"Novelty": "x"}),
}


@pytest.mark.parametrize(("body", "metadata"), BINARY.values(), ids=BINARY)
def test_nothing_is_logged_about_a_trigger_that_delivers_bytes(body: bytes, metadata: dict[str, Any]) -> None:
    checked_binary(trigger_message(body, **metadata), batch=False)


STRANGE: dict[str, tuple[object, str]] = {
    "text": ("order 42", "^the trigger delivers a str; annotate its argument as func.ServiceBusMessage"),
    "bytes": (b"order 42", "^the trigger delivers a bytes; "),
    "texts": (["order 42"], "^the trigger delivers a str; "),
    "many": ([trigger_message()], r"^the trigger delivers many messages, .* batch=True"),
}


@pytest.mark.parametrize(("messages", "text"), STRANGE.values(), ids=STRANGE)
def test_what_is_no_single_message_is_refused_and_says_what_to_write(messages: object, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        as_list(messages, batch=False)
