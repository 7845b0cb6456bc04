"""How a record is read: NServiceBus's two shapes, and a native one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aws.records import binary, record, text
from aws.shapes import CONTROL, FOLDED, ID, TYPES, read, wrapped
from recoverable import MessageDeserializationError
from recoverable._sqs.wire import wire_of


def test_a_native_record_has_its_body_its_attributes_and_no_headers() -> None:
    attributes = {"tenant": text("blue"), "raw": binary(b"\x00")}

    assert read(wire_of(record("hello", attributes=attributes))) == ("hello", {}, attributes)


def test_a_record_without_attributes_is_a_native_one() -> None:
    bare = {"messageId": "1", "receiptHandle": "handle", "body": "hello"}

    assert read(wire_of(bare)) == ("hello", {}, {})
    assert read(wire_of({**bare, "messageAttributes": None})) == ("hello", {}, {})


def test_an_unwrapped_record_has_its_headers_in_the_one_attribute() -> None:
    unwrapped = record("hello", headers={ID: "7", "tenant": "blue"}, attributes={"amount": text("1", "Number")})

    expected = ("hello", {ID: "7", "tenant": "blue"}, {"amount": text("1", "Number")})
    assert read(wire_of(unwrapped)) == expected


def test_a_wrapped_record_has_headers_and_body_in_its_body() -> None:
    wire = wire_of(record(wrapped({ID: "7"}), attributes={ID: text("another")}))

    assert read(wire) == (b"hello", {ID: "7"}, {ID: text("another")})
    assert wire.wrapper == {"Body": "aGVsbG8=", "S3BodyKey": None, "Headers": {ID: "7"}}


@pytest.mark.parametrize(
    ("inside", "body"),
    [
        ("aGVsbG8=", b"hello"),
        ("", b""),
        ("empty message", b""),
        ("no base64!", "no base64!"),
        ("aGVsbG8", "aGVsbG8"),
        ("ä", "ä"),
    ],
)
def test_the_body_in_a_wrapper_is_base64_or_else_stands_as_it_is(inside: str, body: str | bytes) -> None:
    assert wire_of(record(wrapped({ID: "7"}, inside))).body == body


def test_a_wrapper_without_a_body_has_an_empty_one() -> None:
    assert wire_of(record(json.dumps({"Headers": {CONTROL: "True"}}))).body == b""


@pytest.mark.parametrize("headers", [{ID: "7"}, {TYPES: "Order"}, {CONTROL: "True"}])
def test_headers_that_name_a_message_make_a_wrapper(headers: dict[str, str]) -> None:
    assert wire_of(record(wrapped(headers))).headers == headers


@pytest.mark.parametrize(
    "left_in_s3",
    [
        record("empty message", headers={ID: "7"}, attributes={"S3BodyKey": text("bodies/7")}),
        record(wrapped({ID: "7"}, "", S3BodyKey="bodies/7")),
    ],
)
def test_a_body_stored_in_s3_is_an_error_that_says_what_to_do(left_in_s3: dict[str, Any]) -> None:
    body = wire_of(left_in_s3).body

    assert callable(body)
    with pytest.raises(MessageDeserializationError) as refused:
        body()
    assert str(refused.value) == (
        "the body was left in S3, from where it is not read; name its bucket, as SqsEndpoint(large_bodies=S3Bodies(...)) has it, "
        "or have the sender send it with the message, SQS takes 1 MiB"
    )


def test_values_that_are_no_text_become_text_and_null_is_no_header() -> None:
    odd = {"number": 1.5, "yes": True, "list": [1, "two"], "nothing": None, "ä": "€"}

    assert wire_of(record(headers=odd)).headers == {"number": "1.5", "yes": "true", "list": '[1, "two"]', "ä": "€"}


def test_folded_attributes_are_attributes_again_and_no_header() -> None:
    folded = {"tenth": text("10", "Number"), "raw": binary(b"\x00", "Binary.gif")}
    headers = {ID: "7", FOLDED: json.dumps(folded)}

    assert read(wire_of(record(headers=headers))) == ("hello", {ID: "7"}, folded)
    assert read(wire_of(record(wrapped(headers)))) == (b"hello", {ID: "7"}, folded)


def test_a_handler_sees_text_attributes_as_headers_and_ours_win() -> None:
    attributes = {"tenant": text("old"), "amount": text("1.5", "Number"), "raw": binary(b"\x00")}
    wire = wire_of(record(headers={ID: "7", "tenant": "new"}, attributes=attributes))

    assert wire.promoted() == {ID: "7", "tenant": "new", "amount": "1.5"}


def test_a_body_that_is_here_is_read_whatever_attributes_its_sender_has() -> None:
    attributes = {"S3BodyKey": text("bodies/7")}

    assert wire_of(record("hello", attributes=attributes)).body == "hello"
    assert wire_of(record("hello", headers={ID: "7"}, attributes=attributes)).body == "hello"
