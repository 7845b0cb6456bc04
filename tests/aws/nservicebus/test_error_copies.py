"""ServiceControl reads each error copy of this package."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from aws.nservicebus.dotnet import HEADERS, Sent, imported
from aws.records import delivered, record
from aws.shapes import ID, wrapped
from builders import platform, recoverability
from recoverable._ladder.settlement import Forward
from recoverable._sqs.queues import Queue
from recoverable.aws._copies import copy_of

SOURCE, ERROR = Queue("eu-west-1", "123456789012", "orders"), Queue("eu-west-1", "123456789012", "error")
FAULTS: dict[str, str | None] = {
    "NServiceBus.FailedQ": "orders",
    "NServiceBus.MessageId": "7",
    "NServiceBus.ExceptionInfo.Message": "no",
    "NServiceBus.TimeOfFailure": "2026-03-04 05:06:07:000089 Z",
}


def error_copy(one: dict[str, Any], **more: str | None) -> Sent:
    """Return the error copy of a record."""
    delivery = delivered(one, SOURCE, recoverability(), platform())
    copy = copy_of(delivery, Forward("error", timedelta(0), {**FAULTS, **more}), source=SOURCE, to=ERROR)
    assert copy is not None
    return Sent(copy.entry["MessageBody"], copy.entry["MessageAttributes"])


@pytest.mark.parametrize("shape", ["native", "unwrapped", "wrapped"])
@pytest.mark.parametrize("text", ["half \ud800 of a pair", "\udc00", "a\x00b"])
def test_half_a_character_or_nul_in_a_header_hides_no_header(text: str, shape: str) -> None:
    theirs = {ID: "7", "tenant": text, text: "name"}
    one = {
        "native": record("{}"),
        "unwrapped": record("{}", headers=theirs),
        "wrapped": record(wrapped(theirs, "e30=")),
    }[shape]

    read = imported(error_copy(one, **{"NServiceBus.ExceptionInfo.Message": text})).read

    mended = text.replace("\ud800", "\ufffd").replace("\udc00", "\ufffd").replace("\x00", "\ufffd")
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
