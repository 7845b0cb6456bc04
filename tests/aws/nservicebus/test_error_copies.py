"""ServiceControl reads each error copy of this package, and what it sends back is what failed."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from aws.nservicebus.dotnet import HEADERS, Sent, imported, retried
from aws.nservicebus.retries import SOURCE, as_record, error_copy
from aws.records import binary, delivered, received_attribute, record, text
from aws.shapes import ID, wrapped
from builders import platform, recoverability
from recoverable._ladder.settlement import Forward
from recoverable._sqs.wire import wire_of
from recoverable.aws._copies import copy_of


@pytest.mark.parametrize("shape", ["native", "unwrapped", "wrapped"])
@pytest.mark.parametrize("odd", ["half \ud800 of a pair", "\udc00", "a\x00b"])
def test_half_a_character_or_nul_in_a_header_hides_no_header(odd: str, shape: str) -> None:
    theirs = {ID: "7", "tenant": odd, odd: "name"}
    one = {
        "native": record("{}"),
        "unwrapped": record("{}", headers=theirs),
        "wrapped": record(wrapped(theirs, "e30=")),
    }[shape]

    read = imported(error_copy(one, **{"NServiceBus.ExceptionInfo.Message": odd})).read

    mended = odd.replace("\ud800", "\ufffd").replace("\udc00", "\ufffd").replace("\x00", "\ufffd")
    assert read.headers["NServiceBus.ExceptionInfo.Message"] == mended
    if shape != "native":
        assert (read.headers["tenant"], read.headers[mended]) == (mended, "name")
    assert read.body == b"{}"


def test_two_halves_that_are_a_character_stay_one() -> None:
    read = imported(error_copy(record("{}", headers={"smile": "\ud83d\ude42"}))).read

    assert read.headers["smile"] == "🙂"


def test_characters_that_sqs_does_not_take_are_escaped_and_the_others_are_not() -> None:
    copy = error_copy(record("{}", headers={"odd": "ü\uffff\ufffe\x07"}))

    assert "ü\\uffff\\ufffe\\u0007" in copy.attributes[HEADERS]["StringValue"]
    assert json.loads(copy.attributes[HEADERS]["StringValue"])["odd"] == "ü\uffff\ufffe\x07"


BODIES = [
    "deadbeef", "1234", "true", "null", "AAAA", " ", "\n\t ", "eyJhIjoxfQ==", "aA= =", "a G k=", "x" * 1024, "empty message",
    '{"a": 1}', "plain grüße", "<a>1</a>", "[1,2]", '"text"', "abc", "a===", "===", "aGk=\u00a0",
]  # fmt: skip
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "none": {},
    "plain": {"tenant": text("blue")},
    "each kind": {
        "raw": binary(b"\x00\xff"), "amount": text("1.50", "Number"), "count": text("7", "Number.int"),
        "label": text("x", "String.label"), "tenant": text("blue"),
    },
    "MessageTypeFullName": {"MessageTypeFullName": text("Shop.PlaceOrder")},
    "ten": {**{f"a{number}": text("v") for number in range(9)}, "raw": binary(b"\x00")},
}  # fmt: skip


def from_servicecontrol(sent: Sent, *, wraps: bool) -> dict[str, Any]:
    """Return the record that a retry of an error copy is."""
    return as_record(retried(imported(sent), wraps=wraps))


def sent_again(one: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return body and attributes of a record as its handler sees them, without the headers' own attribute."""
    native = delivered(one, SOURCE, recoverability(), platform()).message.native
    own = {name: value for name, value in native["messageAttributes"].items() if name not in (HEADERS, ID)}
    kinds = {
        name: (value["dataType"], value.get("stringValue") or value.get("binaryValue")) for name, value in own.items()
    }
    return native["body"], kinds


@pytest.mark.parametrize("wraps", [True, False])
@pytest.mark.parametrize("body", BODIES, ids=repr)
def test_a_body_comes_back_from_servicecontrol_as_it_was(body: str, *, wraps: bool) -> None:
    one = record(body)
    for _ in range(3):  # it fails, and is retried, again and again
        one = from_servicecontrol(error_copy(one), wraps=wraps)
        message = delivered(one, SOURCE, recoverability(), platform()).message

        assert (message.text, message.native["body"], message.id) == (body, body, "7")
        assert not {"Recoverable.Native", "Recoverable.Attributes"} & message.headers.keys()


@pytest.mark.parametrize("wraps", [True, False])
@pytest.mark.parametrize("body", ["{}", "1234"])
@pytest.mark.parametrize("attributes", ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_attributes_that_a_retry_would_lose_come_back_with_their_types(
    attributes: dict[str, Any], body: str, *, wraps: bool
) -> None:
    before = sent_again(record(body, attributes=attributes))
    lost = {} if body == "1234" else {name: kind for name, kind in before[1].items() if kind[0] == "String"}

    one = from_servicecontrol(error_copy(record(body, attributes=attributes)), wraps=wraps)

    headers = delivered(one, SOURCE, recoverability(), platform()).message.headers
    back = sent_again(one)
    assert (back[0], before[1].items() - back[1].items() <= lost.items()) == (body, True)
    assert {name: headers[name] for name in lost} == {name: value for name, (_, value) in lost.items()}


def test_a_text_that_was_edited_in_servicecontrol_stays_edited() -> None:
    back = retried(imported(error_copy(record("{}", attributes={"amount": text("1", "Number")}))), wraps=True)
    wrapper = json.loads(back.body)
    wrapper["Headers"]["amount"] = "2"

    message = delivered(record(json.dumps(wrapper)), SOURCE, recoverability(), platform()).message

    assert (message.headers["amount"], "amount" in message.native["messageAttributes"]) == ("2", False)


def test_an_attribute_that_is_there_wins_over_a_folded_one() -> None:
    folded = json.dumps({"amount": text("1", "Number")})
    wire = wire_of(record(headers={"Recoverable.Attributes": folded}, attributes={"amount": text("2", "Number")}))

    assert wire.attributes["amount"]["stringValue"] == "2"


def test_a_copy_in_the_wrapper_is_native_again_where_it_is_retried() -> None:
    failed = error_copy(record("true", attributes={"tenant": text("blue")}))
    one = record(failed.body)  # as the console moves it back

    delivery = delivered(one, SOURCE, recoverability(), platform())
    again = copy_of(
        delivery, Forward("orders", timedelta(0), {"Recoverable.FailedQueue": None}), source=SOURCE, to=SOURCE
    )

    assert again is not None
    assert (again.entry["MessageBody"], again.entry["MessageAttributes"]["tenant"]) == (
        "true", {"DataType": "String", "StringValue": "blue"},
    )  # fmt: skip


@pytest.mark.parametrize("inside", ["", "empty message", "/w==", "no base64!"])
def test_a_mark_without_a_text_is_ignored(inside: str) -> None:
    unmarked = wire_of(record(wrapped({ID: "7"}, inside)))

    wire = wire_of(record(wrapped({ID: "7", "Recoverable.Native": "1"}, inside)))

    assert (wire.body, wire.wrapper is not None) == (unmarked.body, True)


@pytest.mark.parametrize(("room", "shape"), [(300_000, "wrapped"), (200_000, "native")])
def test_a_body_too_large_for_the_wrapper_stays_native(room: int, shape: str) -> None:
    body = "AAAA" * ((1_048_576 - room) // 4)

    copy = error_copy(record(body))

    assert copy.body == body if shape == "native" else json.loads(copy.body)["Headers"]["Recoverable.Native"] == "1"


def test_only_an_error_copy_is_put_into_the_wrapper() -> None:
    delivery = delivered(record("1234"), SOURCE, recoverability(), platform())

    copy = copy_of(delivery, Forward("orders", timedelta(0), {ID: "7"}), source=SOURCE, to=SOURCE)

    assert copy is not None
    assert copy.entry["MessageBody"] == "1234"


def test_no_body_of_nservicebus_is_no_text() -> None:
    unwrapped, native = record("empty message", headers={ID: "7"}), record("empty message")

    assert wire_of(unwrapped).body == b""
    assert wire_of(native).body == "empty message"
    retry = copy_of(
        delivered(unwrapped, SOURCE, recoverability(), platform()),
        Forward("orders", timedelta(0), {}), source=SOURCE, to=SOURCE,
    )  # fmt: skip
    assert retry is not None
    assert retry.entry["MessageBody"] == "empty message"
    assert "Recoverable.Native" not in retry.entry["MessageAttributes"][HEADERS]["StringValue"]


def test_the_text_empty_message_stays_a_text_over_copies() -> None:
    delivery = delivered(record("empty message"), SOURCE, recoverability(), platform())

    retry = copy_of(delivery, Forward("orders", timedelta(0), {ID: "7"}), source=SOURCE, to=SOURCE)

    assert retry is not None
    attributes = {name: received_attribute(value) for name, value in retry.entry["MessageAttributes"].items()}
    assert wire_of({**record(retry.entry["MessageBody"]), "messageAttributes": attributes}).body == "empty message"
