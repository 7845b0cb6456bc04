"""How a copy is made: headers changed, attributes kept or folded, size trimmed, address and identity given; and how copies are put in batches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from aws.records import binary, delivered, record, text
from aws.shapes import FOLDED, ID, wrapped
from builders import platform, recoverability
from recoverable._ladder.settlement import Forward
from recoverable._sqs.batches import Entry
from recoverable._sqs.names import destination
from recoverable._sqs.queues import Queue
from recoverable.aws._copies import Copy, copy_of
from servers.queues import HEADERS

SOURCE = Queue("eu-west-1", "123456789012", "orders")
ORIGIN = {"Recoverable.Origin": "native-1"}
"""What the copy of a first original says of it."""


def copied(
    one: dict[str, Any],
    changes: Mapping[str, str | None] | None = None,
    *,
    to: str = "error",
    delay: float = 0,
    source: Queue = SOURCE,
) -> Copy | None:
    """Return the copy of a record."""
    delivery = delivered(one, source, recoverability(), platform())
    forward = Forward(to, timedelta(seconds=delay), changes or {})
    return copy_of(delivery, forward, source=source, to=destination(to, source))


def entry(one: dict[str, Any], changes: Mapping[str, str | None] | None = None, **more: Any) -> Entry:
    """Return the entry of a copy that can be made."""
    copy = copied(one, changes, **more)
    assert copy is not None
    return copy.entry


def headers_in(entry: Entry) -> dict[str, str]:
    """Return the headers in the one attribute of an entry."""
    read: dict[str, str] = json.loads(entry["MessageAttributes"][HEADERS]["StringValue"])
    return read


def test_a_native_copy_has_body_and_attributes_as_they_came_and_the_headers_in_one_attribute() -> None:
    attributes = {
        "tenant": text("blue"),
        "amount": text("1.50", "Number.int"),
        "raw": binary(b"\x00\xff", "Binary.gif"),
    }

    assert entry(record("hello", attributes=attributes), {ID: "7"}) == {
        "MessageBody": "hello",
        "MessageAttributes": {
            "tenant": {"DataType": "String", "StringValue": "blue"},
            "amount": {"DataType": "Number.int", "StringValue": "1.50"},
            "raw": {"DataType": "Binary.gif", "BinaryValue": b"\x00\xff"},
            HEADERS: {
                "DataType": "String",
                "StringValue": '{"NServiceBus.MessageId": "7", "Recoverable.Origin": "native-1"}',
            },
        },
        "DelaySeconds": 0,
    }


def test_a_wrapped_copy_has_its_headers_in_the_wrapper_and_else_stays_as_it_came() -> None:
    one = record(wrapped({ID: "7", "a": "1"}, ReplyToAddress={"Queue": "q"}), attributes={"b": text("2")})

    copy = entry(one, {"c": "3", "a": None})

    assert json.loads(copy["MessageBody"]) == {
        "Body": "aGVsbG8=",
        "S3BodyKey": None,
        "Headers": {ID: "7", "c": "3", **ORIGIN},
        "ReplyToAddress": {"Queue": "q"},
    }
    assert copy["MessageAttributes"] == {"b": {"DataType": "String", "StringValue": "2"}}


def test_a_changed_header_replaces_headers_and_attributes_of_that_name_and_none_removes_them() -> None:
    attributes = {name: text("old") for name in ("kept", "changed", "gone")}
    one = record(headers={f"h-{name}": "old" for name in attributes}, attributes=attributes)

    copy = entry(one, {"changed": "new", "gone": None, "h-changed": "new", "h-gone": None, "more": "new"})

    assert set(copy["MessageAttributes"]) == {"kept", HEADERS}
    assert headers_in(copy) == {"h-kept": "old", "h-changed": "new", "changed": "new", "more": "new", **ORIGIN}


def test_headers_that_could_not_be_read_are_kept_on_the_copy() -> None:
    one = record(attributes={HEADERS: text("no json")})

    assert headers_in(entry(one, {ID: "7"})) == {ID: "7", "Recoverable.UnreadableHeaders": "no json", **ORIGIN}


@pytest.mark.parametrize(("number", "overflow"), [(1, []), (9, []), (10, ["a9"])])
def test_the_attributes_that_have_no_room_are_folded_into_ours(number: int, overflow: list[str]) -> None:
    one = record(attributes={f"a{n}": text(str(n), "Number") for n in range(number)})

    copy = entry(one)

    folded = json.loads(headers_in(copy).get(FOLDED, "{}"))
    assert folded == {name: text(name[1:], "Number") for name in overflow}
    assert len(copy["MessageAttributes"]) == number - len(overflow) + 1


def test_in_the_wrapped_shape_ten_attributes_have_room_and_folded_ones_come_out_again() -> None:
    folded = {"a9": text("9"), "a10": text("10")}
    one = record(wrapped({ID: "7", FOLDED: json.dumps(folded)}), attributes={f"a{n}": text(str(n)) for n in range(9)})

    copy = entry(one)

    assert list(copy["MessageAttributes"]) == [f"a{n}" for n in range(10)]
    assert json.loads(json.loads(copy["MessageBody"])["Headers"][FOLDED]) == {"a10": text("10")}


@pytest.mark.parametrize(
    ("to", "delay", "group", "addressed"),
    [
        ("error", 0, None, {"DelaySeconds": 0}),
        ("error", 0.001, None, {"DelaySeconds": 1}),
        ("orders", 10, None, {"DelaySeconds": 10}),
        ("orders", 899.5, "blue", {"DelaySeconds": 900, "MessageGroupId": "blue"}),
    ],
)
def test_a_delay_is_sent_in_whole_seconds_and_never_too_short(
    to: str, delay: float, group: str | None, addressed: dict[str, object]
) -> None:
    copy = entry(record(group=group), to=to, delay=delay)

    assert {
        name: copy[name] for name in copy if not name.startswith("Message") or name == "MessageGroupId"
    } == addressed


FIFO = Queue("eu-west-1", "123456789012", "orders.fifo")


def identity(one: dict[str, Any], to: str = "error.fifo", source: Queue = FIFO) -> str:
    """Return the deduplication id of a record's copy."""
    found: str = entry(one, to=to, source=source)["MessageDeduplicationId"]
    return found


def test_a_copy_for_a_fifo_queue_has_a_group_and_an_identity_and_no_delay() -> None:
    copy = entry(record(group="blue"), to="error.fifo", source=FIFO)

    assert "DelaySeconds" not in copy
    assert (copy["MessageGroupId"], len(copy["MessageDeduplicationId"])) == ("blue", 64)


def test_a_copy_of_a_message_without_a_group_is_a_group_of_its_own() -> None:
    assert entry(record(message_id="broker-7"), to="error.fifo")["MessageGroupId"] == "broker-7"


def test_one_original_has_the_same_identity_at_one_destination_whatever_its_counts() -> None:
    counted = record(deliveries=9, headers={"NServiceBus.Retries": "2", ID: "7"}, group="blue")

    assert identity(record(group="blue")) == identity(counted)
    assert identity(record()) == identity(record(), to="arn:aws:sqs:eu-west-1:123456789012:error.fifo")


def test_another_original_or_destination_or_source_is_another_identity() -> None:
    other_region, other_account = (Queue("eu-west-2", FIFO.account, FIFO.name), Queue(FIFO.region, "42", FIFO.name))
    identities = [
        identity(record()),
        identity(record(message_id="native-2")),
        identity(record(), to="another.fifo"),
        identity(record(), to="arn:aws:sqs:eu-west-1:42:error.fifo"),
        identity(record(), source=Queue(FIFO.region, FIFO.account, "other.fifo")),
        identity(record(), source=other_region, to="arn:aws:sqs:eu-west-1:123456789012:error.fifo"),
        identity(record(), source=other_account, to="arn:aws:sqs:eu-west-1:123456789012:error.fifo"),
    ]

    assert len(set(identities)) == len(identities)
