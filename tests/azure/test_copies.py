"""A copy keeps what the message is, carries our headers, and fits into Service Bus."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from azure.triggers import BODY, NEVER, trigger_message
from builders import ERROR_QUEUE, NOW, QUEUE, platform, recoverability, seconds
from recoverable._ladder.faults import (
    CONTENT,
    DATA,
    EXCEPTION_MESSAGE,
    EXCEPTION_TYPE,
    FAILED_QUEUE,
    FIRST_TO_TRIM,
    STACK_TRACE,
    TIME_OF_FAILURE,
)
from recoverable._ladder.settlement import Forward
from recoverable._limits import NO_DELAY
from recoverable._service_bus.wire import MAX_PROPERTIES, MAX_PROPERTY, Copy, in_milliseconds, smaller, weight
from recoverable.azure._copies import copy_of
from recoverable.azure._messages import delivery_of
from recoverable.headers import FAILED_QUEUE_ADDRESS, FOLDED, ORIGIN

NAMESPACE = "shop.servicebus.windows.net"
TO_ERROR = Forward(ERROR_QUEUE, NO_DELAY, {FAILED_QUEUE: QUEUE})


def later(delay: float = 10, **changes: str | None) -> Forward:
    """Return a delayed retry."""
    return Forward(QUEUE, seconds(delay), changes)


def copied(forward: Forward | None = None, *, queue: str = QUEUE, namespace: str = NAMESPACE, **fields: Any) -> Copy:
    """Return the copy of a trigger's message."""
    delivery = delivery_of(trigger_message(**fields), queue, recoverability(), platform())
    return copy_of(delivery, forward or later(), namespace=namespace, now=NOW)


def test_a_copy_keeps_body_and_fields() -> None:
    fields: dict[str, Any] = {
        "ContentType": "application/json", "CorrelationId": "c-1", "PartitionKey": "p-1", "ReplyTo": "replies",
        "ReplyToSessionId": "r-1", "Subject": "placed", "To": "north",
    }  # fmt: skip

    copy = copied(**fields)

    assert copy == Copy("m-1", QUEUE, {
        "application_properties": {}, "body": BODY, "content_type": "application/json", "correlation_id": "c-1",
        "message_id": copy.fields["message_id"], "partition_key": "p-1", "reply_to": "replies",
        "reply_to_session_id": "r-1", "scheduled_enqueue_time_utc": in_milliseconds(NOW + seconds(10)), "subject": "placed", "to": "north",
    }, (FOLDED, *CONTENT, *FIRST_TO_TRIM))  # fmt: skip


def test_a_retry_of_what_came_back_from_the_error_queue_is_no_error_copy() -> None:
    back = {
        FAILED_QUEUE: QUEUE,
        TIME_OF_FAILURE: "2026-03-04 05:06:07:000089 Z",
        FAILED_QUEUE_ADDRESS: f"sb://shop/{QUEUE}",
    }
    removed = Forward(QUEUE, seconds(10), dict.fromkeys(back))

    copy = copied(removed, properties=back, ExpiresAtUtc=NOW + timedelta(hours=1))

    assert back.keys() & copy.properties.keys() == set()
    assert copy.fields["time_to_live"] == timedelta(hours=1)


@pytest.mark.parametrize(
    ("microsecond", "sent"), [(535_000, 535_000), (535_001, 536_000), (535_897, 536_000), (999_999, 1_000_000)]
)
def test_no_delay_is_over_early_for_what_amqp_cuts_off(microsecond: int, sent: int) -> None:
    second = NOW.replace(microsecond=0)
    assert in_milliseconds(second + timedelta(microseconds=microsecond)) == second + timedelta(microseconds=sent)


def test_a_session_is_the_partition_key() -> None:
    fields = copied(SessionId="customer-7", PartitionKey="customer-7").fields

    assert (fields["session_id"], "partition_key" in fields) == ("customer-7", False)


VALUES: dict[str, tuple[Any, Any]] = {
    "text": ("north", "north"),
    "truth": (True, True),
    "fraction": (0.5, 0.5),
    "nothing": (None, None),
    "int": (2**31 - 1, 2**31 - 1),
    "negative int": (-(2**31), -(2**31)),
    "long": (2**31, {"TYPE": "LONG", "VALUE": 2**31}),
    "negative long": (-(2**63), {"TYPE": "LONG", "VALUE": -(2**63)}),
    "ulong": (2**64 - 1, {"TYPE": "ULONG", "VALUE": 2**64 - 1}),
    "larger than any": (2**64, "18446744073709551616"),
    "no simple type": ({"a": [1]}, '{"a": [1]}'),
    "half a character": ("\ud800", "\ufffd"),
    "a NUL": ("a\0", "a\ufffd"),
}


@pytest.mark.parametrize(("value", "sent"), VALUES.values(), ids=VALUES)
def test_the_users_properties_keep_their_values_and_types(value: Any, sent: Any) -> None:
    assert copied(properties={"mine": value}).properties == {"mine": sent}


def test_half_a_character_in_a_name_stops_no_copy() -> None:
    assert copied(properties={"\ud800": 1}).properties == {"\ufffd": 1}


def test_headers_are_set_replaced_and_removed() -> None:
    forward = Forward(QUEUE, NO_DELAY, {"set": "new", "replaced": "new", "gone": None, "never": None})

    copy = copied(forward, properties={"replaced": 1, "gone": "old", "kept": 2})

    assert copy.properties == {"kept": 2, "set": "new", "replaced": "new", ORIGIN: "42@1773500400123"}


def test_what_is_not_delayed_is_not_scheduled() -> None:
    assert "scheduled_enqueue_time_utc" not in copied(TO_ERROR).fields


LIVES: dict[str, tuple[Forward, datetime | None, timedelta | None]] = {
    "for ever": (later(), NEVER, None),
    "not given": (later(), None, None),
    "as long as is left": (later(), NOW + timedelta(hours=1), timedelta(hours=1)),
    "a minute beyond the delay": (later(600), NOW + seconds(5), seconds(660)),
    "although over": (later(), NOW - seconds(5), seconds(70)),
    "longer than the wire can say": (later(), NOW + timedelta(days=50), None),
    "for ever in the error queue": (TO_ERROR, NOW + seconds(5), None),
}


@pytest.mark.parametrize(("forward", "expires", "lives"), LIVES.values(), ids=LIVES)
def test_a_copy_lives_long_enough(forward: Forward, expires: datetime | None, lives: timedelta | None) -> None:
    assert copied(forward, ExpiresAtUtc=expires).fields.get("time_to_live") == lives


SAME_ORIGINAL: dict[str, dict[str, Any]] = {
    "delivered again": {"DeliveryCount": 7},
    "with a longer delay": {"forward": later(20)},
    "in other letters": {"queue": QUEUE.upper(), "forward": Forward(QUEUE.upper(), seconds(10), {})},
}
ANOTHER: dict[str, dict[str, Any]] = {
    "another message": {"SequenceNumber": 43},
    "another queue": {"queue": "invoices"},
    "another namespace": {"namespace": "other.servicebus.windows.net"},
    "another destination": {"forward": TO_ERROR},
}


@pytest.mark.parametrize("parts", SAME_ORIGINAL.values(), ids=SAME_ORIGINAL)
def test_one_original_has_one_copy_per_destination(parts: dict[str, Any]) -> None:
    assert copied(**parts).fields["message_id"] == copied().fields["message_id"]


@pytest.mark.parametrize("parts", ANOTHER.values(), ids=ANOTHER)
def test_no_copy_is_taken_for_anothers(parts: dict[str, Any]) -> None:
    assert copied(**parts).fields["message_id"] != copied().fields["message_id"]


def faults(**headers: str) -> Forward:
    """Return a move to the error queue with these fault headers."""
    return Forward(ERROR_QUEUE, NO_DELAY, {FAILED_QUEUE: QUEUE, EXCEPTION_TYPE: "Boom", **headers})


def test_each_fault_header_is_trimmed_to_what_a_property_takes() -> None:
    copy = copied(faults(**{STACK_TRACE: "é" * 20_000, EXCEPTION_MESSAGE: "short"}))

    assert len(copy.properties[STACK_TRACE].encode()) == MAX_PROPERTY - 1  # no half character
    assert copy.properties[EXCEPTION_MESSAGE] == "short"


def test_all_properties_fit_together_and_the_stack_trace_gives_way_first() -> None:
    headers = {STACK_TRACE: "s" * 30_000, EXCEPTION_MESSAGE: "m" * 16_000}

    copy = copied(faults(**headers), properties={"mine": "u" * 30_000}, Subject="x" * 500)

    assert weight(copy.properties) + weight(copy.properties.values()) == MAX_PROPERTIES - 500
    assert [copy.properties[name] for name in ("mine", EXCEPTION_MESSAGE)] == ["u" * 30_000, "m" * 16_000]


def test_data_gives_way_entry_by_entry() -> None:
    headers = {f"{DATA}{number:04}": "d" * 100 for number in range(1_000)}

    copy = copied(faults(**headers))

    kept = sorted(name for name in copy.properties if name.startswith(DATA))
    an_entry = weight([f"{DATA}0000", "d" * 100])
    assert 0 <= MAX_PROPERTIES - weight(copy.properties) - weight(copy.properties.values()) < an_entry
    assert kept == sorted(headers)[-len(kept) :]
    assert [len(copy.properties[name]) for name in kept[1:]] == [100] * (len(kept) - 1)


def test_when_nothing_can_be_trimmed_the_users_properties_stay() -> None:
    copy = copied(faults(**{STACK_TRACE: "s" * 30_000}), properties={"a": "u" * 30_000, "b": "u" * 33_000})

    assert sorted(copy.properties) == [FAILED_QUEUE, ORIGIN, "a", "b"]


def test_a_smaller_copy_lacks_the_next_fault_header_until_none_is_left() -> None:
    copy: Copy | None = copied(faults(**{STACK_TRACE: "s", EXCEPTION_MESSAGE: "m"}))
    names = []

    while copy is not None:
        names.append(sorted(copy.properties))
        copy = smaller(copy)

    assert names == [
        sorted(names)
        for names in (
            {FAILED_QUEUE, ORIGIN, EXCEPTION_TYPE, EXCEPTION_MESSAGE, STACK_TRACE},
            {FAILED_QUEUE, ORIGIN, EXCEPTION_TYPE, EXCEPTION_MESSAGE},
            {FAILED_QUEUE, ORIGIN, EXCEPTION_TYPE},
            {FAILED_QUEUE, ORIGIN},
        )
    ]


def test_no_error_copy_goes_to_the_queue_it_came_from() -> None:
    with pytest.raises(ValueError, match=r"^the error queue 'Orders' is the queue that the message came from$"):
        copied(Forward(QUEUE.title(), NO_DELAY, {FAILED_QUEUE: QUEUE}))
