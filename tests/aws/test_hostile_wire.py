"""What a hostile or mistaken sender writes where headers, wrappers and folded attributes are expected: read as something, never an error."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from aws.nservicebus.dotnet import imported
from aws.nservicebus.retries import SOURCE, error_copy, retry_problem
from aws.records import binary, delivered, record, text
from aws.shapes import CONTROL, FOLDED, ID, read, wrapped
from builders import platform, recoverability
from recoverable._sqs.wire import UNREADABLE_HEADERS, wire_of
from servers.queues import HEADERS

NO_WRAPPERS = [
    "",
    '"Headers"',
    '{"Headers"',
    '["Headers", "NServiceBus.MessageId"]',
    '{"Headers": null}',
    '{"Headers": ["NServiceBus.MessageId"]}',
    wrapped({}),
    wrapped({"tenant": "blue"}),
    wrapped({CONTROL: "False"}),
    wrapped({ID: "7"}, body=None),
    wrapped({ID: "7"}, body={"order": 1}),
    wrapped({ID: "7"}, body=5),
    '{"Headers": {"NServiceBus.MessageId": 1' + "0" * 5000 + "}}",
    '{"Headers": {"NServiceBus.MessageId": "7"}, "deep": ' + "[" * 100_000 + "]" * 100_000 + "}",
]


@pytest.mark.parametrize("body", NO_WRAPPERS)
def test_a_body_that_only_looks_like_a_wrapper_is_the_user_s_own(body: str) -> None:
    assert read(wire_of(record(body))) == (body, {}, {})


UNREADABLE = [
    "no json",
    "",
    "[]",
    "[1, 2]",
    "7",
    "null",
    "true",
    '"text"',
    '{"half": ',
    "1" * 5000,
    "[" * 100_000 + "]" * 100_000,
    '{"deep": ' + "[" * 100_000 + "]" * 100_000 + "}",
]


@pytest.mark.parametrize("written", UNREADABLE)
def test_headers_that_cannot_be_read_are_kept_under_a_name_of_their_own(written: str) -> None:
    wire = wire_of(record("hello", attributes={HEADERS: text(written), "tenant": text("blue")}))

    assert read(wire) == ("hello", {UNREADABLE_HEADERS: written}, {"tenant": text("blue")})


def test_headers_in_a_binary_attribute_are_kept_as_base64() -> None:
    wire = wire_of(record("hello", attributes={HEADERS: binary(b"\x00\xff")}))

    assert wire.headers == {UNREADABLE_HEADERS: b64encode(b"\x00\xff").decode()}


@pytest.mark.parametrize("form", ["attribute", "wrapper"])
def test_headers_nested_to_any_depth_can_be_read_as_something(form: str) -> None:
    for depth in range(800, 1010):  # around Python's limit, where what was read may be too deep to be written
        deep = "[" * depth + "]" * depth
        headers = '{"NServiceBus.MessageId": "7", "deep": ' + deep + "}"
        unwrapped, in_wrapper = (record(attributes={HEADERS: text(headers)}), record(f'{{"Headers": {headers}}}'))

        wire = wire_of(unwrapped if form == "attribute" else in_wrapper)

        assert wire.headers in ({ID: "7", "deep": deep}, {UNREADABLE_HEADERS: headers}, {})


NOT_FOLDED = [
    "no json",
    "[]",
    "5",
    '{"a": 5}',
    '{"a": null}',
    '{"a": {}}',
    '{"a": {"dataType": 5, "stringValue": "x"}}',
    '{"a": {"dataType": "Text", "stringValue": "x"}}',
    '{"a": {"dataType": "String", "stringValue": 5}}',
    '{"a": {"dataType": "String", "stringValue": ""}}',
    '{"a": {"dataType": "String"}}',
    '{"a": {"dataType": "Binary", "binaryValue": "a"}}',
    '{"a": {"dataType": "Binary", "binaryValue": "ä"}}',
    '{"a": {"dataType": "Binary", "binaryValue": 5}}',
    '{"good": {"dataType": "String", "stringValue": "x"}, "bad": {"dataType": "Binary"}}',
    "[" * 100_000,
]


@pytest.mark.parametrize("written", NOT_FOLDED)
def test_what_is_not_written_by_folding_stays_a_header(written: str) -> None:
    assert read(wire_of(record(headers={FOLDED: written}))) == ("hello", {FOLDED: written}, {})


@pytest.mark.parametrize(
    "one",
    [
        *(record(body) for body in NO_WRAPPERS if body),
        *(record(attributes={HEADERS: text(written), "tenant": text("blue")}) for written in UNREADABLE if written),
        *(record(headers={FOLDED: written}) for written in NOT_FOLDED),
    ],
    ids=lambda one: f"{one['body']:.40} {list(one['messageAttributes'])}",
)
def test_servicecontrol_imports_its_error_copy_and_sends_it_back_as_it_was(one: dict[str, Any]) -> None:
    assert retry_problem(error_copy(one)) == ""


def test_a_header_of_folded_attributes_that_is_none_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    message = delivered(record(headers={ID: "7", FOLDED: "5"}), SOURCE, recoverability(), platform()).message

    assert message.headers[FOLDED] == "5"
    assert caplog.messages == [
        f"Reading the header {FOLDED} of message '7' from 'orders' failed (nothing here writes it so). The message is handled, and keeps "
        "the header. Check its sender."
    ]


@pytest.mark.parametrize(("inside", "body"), [("aG k=\n", b"hi"), ("aGk", "aGk"), ("a=b=", "a=b=")])
def test_a_body_in_the_wrapper_is_decoded_as_dotnet_does(inside: str, body: object) -> None:
    assert wire_of(record(wrapped({ID: "7"}, inside))).body == body


def test_an_error_copy_in_a_wrapper_without_a_body_gets_an_empty_one_because_dotnet_refuses_it_else() -> None:
    copy = error_copy(record('{"Headers": {"NServiceBus.MessageId": "7"}}'))

    assert (imported(copy).read.body, imported(copy).failing_address) == (b"", "orders")
