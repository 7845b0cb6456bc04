"""`Message`: the body in all its forms, headers that cannot be changed, and parts that are read when they are asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import pytest
from pydantic import BaseModel

from builders import NOW, Boom, message
from recoverable import Message, MessageDeserializationError

SNOWMAN = '{"name": "☃"}'


@pytest.mark.parametrize("body", [SNOWMAN, SNOWMAN.encode()], ids=["text", "bytes"])
def test_a_body_is_bytes_text_and_json_however_it_came(body: str | bytes) -> None:
    read = message(body)

    assert (read.body, read.text, read.json()) == (SNOWMAN.encode(), SNOWMAN, {"name": "☃"})


class Order(BaseModel):
    """An order, as pydantic reads it."""

    number: int


def number_in(body: bytes) -> int:
    """Return the number of the order."""
    number: int = json.loads(body)["number"]
    return number


def test_a_model_reads_the_body() -> None:
    assert message('{"number": 42}').parse(Order) == Order(number=42)


def test_a_function_reads_the_body() -> None:
    assert message('{"number": 42}').parse(number_in) == 42


UNREADABLE: dict[str, tuple[str | bytes, Callable[[Message], object], str]] = {
    "text that is no UTF-8": (b"\xff", lambda message: message.text, "UnicodeDecodeError"),
    "bytes of a text that has none": ("\ud800", lambda message: message.body, "UnicodeEncodeError"),
    "JSON that is none": ("{", Message.json, "JSONDecodeError"),
    "JSON that is no UTF-8": (b'"\xff"', Message.json, "UnicodeDecodeError"),
    "an empty body as JSON": ("", Message.json, "JSONDecodeError"),
    "a model that does not fit": ('{"number": "x"}', lambda message: message.parse(Order), "ValidationError"),
    "a function that misses a key": ("{}", lambda message: message.parse(number_in), "KeyError"),
    "a function that misses a type": ("[]", lambda message: message.parse(number_in), "TypeError"),
}


@pytest.mark.parametrize(("body", "read", "why"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_says_so_without_quoting_the_body(
    body: str | bytes, read: Callable[[Message], object], why: str
) -> None:
    with pytest.raises(MessageDeserializationError) as unreadable:
        read(message(body, id="m-7"))

    assert str(unreadable.value).startswith(f"message 'm-7' cannot be read: {why}")
    assert type(unreadable.value.__cause__).__name__ == why


def test_other_errors_of_a_model_pass_as_they_are() -> None:
    def failing(body: bytes) -> object:
        raise Boom("the schema registry is away")

    with pytest.raises(Boom):
        message().parse(failing)


def test_a_model_may_itself_say_that_it_cannot_read() -> None:
    said = MessageDeserializationError("version 9 is not ours")

    def refusing(body: bytes) -> object:
        raise said

    with pytest.raises(MessageDeserializationError) as unreadable:
        message().parse(refusing)

    assert unreadable.value is said


@pytest.mark.parametrize(
    "read",
    [lambda read: read.body, lambda read: read.text, Message.json, lambda read: read.parse(bytes)],
    ids=["body", "text", "json", "parse"],
)
def test_a_body_that_is_not_here_is_missed_when_it_is_read_and_not_before(read: Callable[[Message], object]) -> None:
    def refuse() -> bytes:
        raise MessageDeserializationError("the body was left in S3")

    away = message(refuse)

    with pytest.raises(MessageDeserializationError, match=r"^the body was left in S3$"):
        read(away)


def test_a_body_that_is_elsewhere_is_fetched_when_it_is_first_read_and_once() -> None:
    fetch = Counted(SNOWMAN.encode())
    away = message(fetch)
    before = fetch.calls

    assert [away.json(), away.text, away.body] == [{"name": "☃"}, SNOWMAN, SNOWMAN.encode()]
    assert (before, fetch.calls) == (0, 1)


def test_headers_cannot_be_changed() -> None:
    headers: Any = message(headers={"tenant": "north"}).headers

    with pytest.raises(TypeError):
        headers["tenant"] = "south"

    assert headers == {"tenant": "north"}


class Counted:
    """A function that counts its calls.

    Args:
        gives: what it gives.
    """

    def __init__(self, gives: Any) -> None:
        self.gives, self.calls = gives, 0

    def __call__(self, *_: object) -> Any:
        """Count and give."""
        self.calls += 1
        return self.gives


def test_headers_are_made_when_they_are_first_asked_for_and_once() -> None:
    headers: Callable[[Message], Mapping[str, str]] = Counted({"tenant": "north"})
    lazy = message(headers=headers)
    assert isinstance(headers, Counted)
    before = headers.calls

    assert [lazy.headers["tenant"], lazy.headers["tenant"]] == ["north", "north"]
    assert (before, headers.calls) == (0, 1)


@pytest.mark.parametrize("sent_at", [NOW, None], ids=["known", "unknown"])
def test_the_time_it_was_sent_is_parsed_once_when_first_read(sent_at: datetime | None) -> None:
    asked = Counted(sent_at)
    lazy = message(sent_at=asked)
    before = asked.calls

    assert [lazy.sent_at, lazy.sent_at] == [sent_at, sent_at]
    assert (before, asked.calls) == (0, 1)


def test_what_it_prints_holds_no_body_and_no_headers() -> None:
    printed = repr(message("secret", headers={"token": "secret"}, attempt=2, round=1))

    assert printed == "Message(id='m-1', attempt=2, round=1, queue='orders')"


def test_it_can_be_made_from_a_body_alone() -> None:
    made = Message("hello")

    assert (
        made.id, made.text, made.headers, made.attempt, made.round, made.queue, made.sent_at, made.group_id, made.native,
        made.context,
    ) == ("", "hello", {}, 1, 0, "", None, None, None, None)  # fmt: skip


@pytest.mark.parametrize("name", ["id", "attempt", "round", "queue", "group_id"])
def test_what_is_taken_at_receipt_cannot_be_set(name: str) -> None:
    with pytest.raises(AttributeError) as raised:
        setattr(message(), name, "another")

    assert str(raised.value) == f"Message.{name} cannot be set to 'another': a retry starts from what was received"


def test_the_native_record_is_a_copy_that_stays_the_same() -> None:
    record = {"body": "hello", "attributes": {"SentTimestamp": "0"}, "list": [{"name": "value"}]}
    received = message(native=record)

    received.native["attributes"]["SentTimestamp"] = "1"
    received.native["list"][0]["name"] = "another"

    assert received.native == {"body": "hello", "attributes": {"SentTimestamp": "1"}, "list": [{"name": "another"}]}
    assert record == {"body": "hello", "attributes": {"SentTimestamp": "0"}, "list": [{"name": "value"}]}


class Item(BaseModel):
    """A part of a basket."""

    sku: str
    amount: int


class Basket(BaseModel):
    """What a body may hold."""

    number: int
    items: list[Item] = []
    by_mail: dict[str, int] = {}


@pytest.mark.parametrize(
    ("body", "read", "where"),
    [
        ('{"order": ', Message.json, "JSONDecodeError at line 1, column 11"),
        ('{\n  "card": 4111111111111111,\n  secret\n}', Message.json, "JSONDecodeError at line 3, column 3"),
        (b"\xff", lambda read: read.text, "UnicodeDecodeError at byte 0"),
        ('{"number": "secret"}', lambda read: read.parse(Basket), "ValidationError at number (int_parsing)"),
        (
            '{"number": 1, "items": [{"sku": "a", "amount": 1}, {"amount": "secret"}]}',
            lambda read: read.parse(Basket),
            "ValidationError at items.1.sku (missing), items.1.amount (int_parsing)",
        ),
        (
            '{"number": 1, "by_mail": {"ann@example.com": "secret"}}',
            lambda read: read.parse(Basket),
            "ValidationError at by_mail.* (int_parsing)",
        ),
        (
            '{"items": [{}, {}]}',
            lambda read: read.parse(Basket),
            "ValidationError at number (missing), items.0.sku (missing), items.0.amount (missing) and 2 more",
        ),
        ("secret", lambda read: read.parse(Basket), "ValidationError at the whole (json_invalid)"),
        ("{}", lambda read: read.parse(number_in), "KeyError"),
    ],
)
def test_what_cannot_be_read_says_where_and_no_value(
    body: str | bytes, read: Callable[[Message], object], where: str
) -> None:
    with pytest.raises(MessageDeserializationError) as unreadable:
        read(message(body))

    assert str(unreadable.value) == f"message 'm-1' cannot be read: {where}"
