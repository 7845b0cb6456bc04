"""`Message`: the body in all its forms, headers that cannot be changed, and parts that are read when they are asked for."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import struct
import zlib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any
from urllib.request import urlopen
from xml.etree import ElementTree as ET

import pytest
from botocore.exceptions import ClientError
from jsonschema import validate
from pydantic import BaseModel
from urllib3 import PoolManager
from yaml import safe_load

from builders import NOW, Boom, message
from recoverable import Message, MessageDeserializationError, RetryAfter
from recoverable.extensions import BodyNotFetched

REGISTRY = "http://127.0.0.1:1/schemas"
"""Where nothing listens."""
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


class Named(Exception):
    """The base of a library's errors."""


class ClassValidationError(ExceptionGroup[Exception]):
    """As `cattrs` raises it: a group of what is wrong with each field."""


class DecodeError(Named):
    """As `google.protobuf`, `marshmallow`, `voluptuous` and `dacite` raise it: an `Exception` of their own."""


class CBORDecodeEOF(Named, EOFError):
    """As `cbor2` raises it."""


def raising(error: Exception) -> Callable[[bytes], object]:
    """Return a parser that raises this for each body."""

    def parse(_body: bytes) -> object:
        raise error

    return parse


def decoded(body: bytes) -> object:
    """Read the body as Avro's binary form is read: a length, and so many bytes."""
    (length,) = struct.unpack(">i", body[:4])
    return struct.unpack(f"{length}s", body[4:])


PARSERS: dict[str, tuple[bytes, Callable[[bytes], object], str]] = {
    "pydantic": (b"{}", Order.model_validate_json, "ValidationError"),
    "jsonschema": (b"{}", lambda body: validate(json.loads(body), {"required": ["number"]}), "ValidationError"),
    "yaml": (b"{", safe_load, "ParserError"),
    "xml.etree": (b"<order>", ET.fromstring, "ParseError"),
    "zlib": (b"order", zlib.decompress, "error"),
    "gzip": (b"order", gzip.decompress, "BadGzipFile"),
    "gzip, cut off": (gzip.compress(b"order")[:-9], gzip.decompress, "EOFError"),
    "bz2": (b"order", bz2.decompress, "OSError"),
    "lzma": (b"order", lzma.decompress, "LZMAError"),
    "struct": (b"\0\0", decoded, "error"),
    "struct, cut off": (b"\0\0\0\7order", decoded, "error"),
    "decimal": (b"1,5", lambda body: Decimal(body.decode()), "InvalidOperation"),
    "a missing attribute": (b"7", lambda body: json.loads(body).items(), "AttributeError"),
    "a missing item": (b"[]", lambda body: json.loads(body)[0], "IndexError"),
    "nested too deep": (b"[" * 100_000, json.loads, "RecursionError"),
    "as cattrs": (b"", raising(ClassValidationError("order", [KeyError("number")])), "ClassValidationError"),
    "as protobuf, marshmallow, voluptuous and dacite": (b"", raising(DecodeError()), "DecodeError"),
    "as fastavro": (b"", raising(EOFError()), "EOFError"),
    "as cbor2": (b"", raising(CBORDecodeEOF()), "CBORDecodeEOF"),
    "an assertion": (b"", raising(AssertionError()), "AssertionError"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "parser", "why"), PARSERS.values(), ids=PARSERS)
def test_whatever_a_parser_raises_because_of_the_body_is_final(
    body: bytes, parser: Callable[[bytes], object], why: str
) -> None:
    with pytest.raises(MessageDeserializationError, match=rf"^message 'm-1' cannot be read: {why}\b"):
        message(body).parse(parser)


@pytest.mark.parametrize("body", [b"[" * 100_000, "[" * 100_000], ids=["bytes", "text"])
def test_json_that_is_nested_too_deep_is_final(body: str | bytes) -> None:
    with pytest.raises(MessageDeserializationError, match=r"^message 'm-1' cannot be read: RecursionError$"):
        message(body).json()


def because_of(cause: BaseException, error: Exception) -> Exception:
    """Return the error with this cause."""
    error.__cause__ = cause
    return error


def while_handling(context: BaseException, error: Exception) -> Exception:
    """Return the error, raised while another was handled."""
    error.__context__ = context
    return error


class Answered(Exception):
    """As clients raise it for what a service answered."""

    def __init__(self, **has: object) -> None:
        super().__init__("429 Too Many Requests")
        vars(self).update(has)


REFUSED = ConnectionRefusedError(111, "Connection refused")

ELSEWHERE: dict[str, Exception] = {
    "the handler's own wish to wait": RetryAfter(timedelta(minutes=5)),
    "lack of memory": MemoryError(),
    "a missing module": ModuleNotFoundError("No module named 'schemas'"),
    "a time-out": TimeoutError(),
    "a connection that was refused": REFUSED,
    "a file that is not there": FileNotFoundError(2, "No such file or directory"),
    "an error of the system": OSError(28, "No space left on device"),
    "a client's error of its own kind": type("ClientError", (OSError,), {})("away"),
    "an error because of a connection": because_of(because_of(REFUSED, ValueError("no schema")), KeyError("Order")),
    "an error while a connection failed": while_handling(REFUSED, ValueError("no schema")),
    "an error that has a connection's among its arguments": ValueError("no schema", REFUSED),
    "a client's 429, as requests and httpx have it": Answered(response=SimpleNamespace(status_code=429)),
    "a client's 429, as others have it": Answered(status_code=429),
    "boto3's": ClientError({"Error": {"Code": "ThrottlingException"}}, "GetSchemaVersion"),
    "a group with one of these": ExceptionGroup("order", [KeyError("a"), ExceptionGroup("more", [REFUSED])]),
    "a group with another": ExceptionGroup("order", [KeyError("a"), MemoryError()]),
}  # fmt: skip


@pytest.mark.parametrize("error", ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_says_nothing_of_the_body_passes_as_it_is(error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        message().parse(raising(error))

    assert raised.value is error


CLIENTS: dict[str, Callable[[], object]] = {
    "urllib": lambda: urlopen(REGISTRY),
    "urllib3": lambda: PoolManager().request("GET", REGISTRY, retries=0),
    "requests": lambda: pytest.importorskip("requests").get(REGISTRY, timeout=60),
}


@pytest.mark.parametrize("ask", CLIENTS.values(), ids=CLIENTS)
def test_a_registry_that_cannot_be_reached_is_no_failure_of_the_body(ask: Callable[[], object]) -> None:
    def parse(_body: bytes) -> object:
        return ask()

    with pytest.raises(Exception, match="Connection refused"):
        message().parse(parse)


def test_causes_that_form_a_circle_are_looked_at_once() -> None:
    first = KeyError("a")
    first.__cause__ = because_of(first, ValueError("b"))

    with pytest.raises(MessageDeserializationError):
        message().parse(raising(first))


@pytest.mark.parametrize("error", [Boom("away"), ExceptionGroup("order", [Boom("away")])], ids=["alone", "in a group"])
@pytest.mark.parametrize("retried", [Boom, (KeyError, Boom)], ids=["one type", "several"])
def test_what_the_call_names_passes_as_it_is(error: Exception, retried: Any) -> None:
    with pytest.raises(type(error)) as raised:
        message().parse(raising(error), retried=retried)

    assert raised.value is error


@pytest.mark.parametrize(
    "read",
    [lambda read: read.body, lambda read: read.text, Message.json, lambda read: read.parse(json.loads)],
    ids=["body", "text", "json", "parse"],
)
def test_a_body_that_cannot_be_fetched_fails_as_its_fetching_does(read: Callable[[Message], object]) -> None:
    not_fetched = BodyNotFetched("the object is gone")

    def fetch() -> bytes:
        raise not_fetched

    with pytest.raises(BodyNotFetched) as raised:
        read(message(fetch))

    assert raised.value is not_fetched


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
