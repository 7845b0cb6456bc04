"""What gives way when a copy is too large, and how copies are put into batches that SQS takes."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aws.records import binary, delivered, record, text
from builders import platform, recoverability
from recoverable._ladder.settlement import Forward
from recoverable._sqs.batches import Entry, batches, size
from recoverable._sqs.queues import Queue
from recoverable._sqs.wire import TEXT, wire_of
from recoverable.aws._copies import Copy, copy_of
from servers.queues import HEADERS

SOURCE = Queue("eu-west-1", "123456789012", "orders")
ERROR = Queue("eu-west-1", "123456789012", "error")
LIMIT = 1_048_576
INFO = "NServiceBus.ExceptionInfo."
FAULTS = {
    "Recoverable.Origin": "native-1",
    "NServiceBus.FailedQ": "orders",
    "Recoverable.FailedQueue": record()["eventSourceARN"],
    "NServiceBus.TimeOfFailure": "2026-03-04 05:06:07:000089 Z",
    INFO + "ExceptionType": "t" * 1_000,
    INFO + "InnerExceptionType": "i" * 1_000,
    INFO + "HelpLink": "h" * 1_000,
    INFO + "Source": "s" * 1_000,
    INFO + "Message": "m" * 1_000,
    INFO + "Data.a": "a" * 1_000,
    INFO + "Data.b": "b" * 1_000,
    INFO + "StackTrace": "x" * 1_000,
}


def copied(one: dict[str, Any], changes: dict[str, str | None]) -> Copy | None:
    """Return the copy of a record for the error queue."""
    delivery = delivered(one, SOURCE, recoverability(), platform())
    return copy_of(delivery, Forward("error", timedelta(0), changes), source=SOURCE, to=ERROR)


def kept(room: int) -> dict[str, int]:
    """Return how much of each fault header is kept, when so much room is left beside the body."""
    copy = copied(record("x" * (LIMIT - room)), dict(FAULTS))
    assert copy is not None
    assert size(copy.entry) <= LIMIT
    headers = json.loads(copy.entry["MessageAttributes"][HEADERS]["StringValue"])
    return {name.removeprefix(INFO): len(value) for name, value in headers.items() if name.startswith(INFO)}


TRIMMED_FIRST = (
    "StackTrace",
    "Data.a",
    "Data.b",
    "Message",
    "Source",
    "HelpLink",
    "InnerExceptionType",
    "ExceptionType",
)


@pytest.mark.parametrize("gone", range(1, len(TRIMMED_FIRST)))
def test_fault_headers_give_way_one_after_the_other(gone: int) -> None:
    whole = len(json.dumps(FAULTS)) + len(HEADERS) + len("String")
    excess = gone * 1_050 - 500  # about half of the last header that gives way

    headers = kept(whole - excess)

    assert [name for name in TRIMMED_FIRST if headers.get(name) == 1_000] == list(TRIMMED_FIRST[gone:])
    assert 0 < headers[TRIMMED_FIRST[gone - 1]] < 1_000


WHERE = {"Recoverable.RequestId": "r" * 36, "Recoverable.LogStream": "l" * 60}


@pytest.mark.parametrize(("excess", "left"), [(0, set(WHERE)), (1, {"Recoverable.RequestId"}), (100, set())])
def test_request_id_and_log_stream_give_way_whole_and_before_the_type_of_the_failure(
    excess: int, left: set[str]
) -> None:
    faults = {"NServiceBus.FailedQ": "orders", INFO + "ExceptionType": "t" * 1_350, **WHERE}
    untrimmed = copied(record("x"), dict(faults))
    assert untrimmed is not None

    copy = copied(record("x" * (LIMIT - size(untrimmed.entry) + 1 + excess)), dict(faults))

    assert copy is not None
    assert copy.wire.headers[INFO + "ExceptionType"] == "t" * 1_350
    assert {name for name in WHERE if copy.wire.headers.get(name) == WHERE[name]} == left
    assert WHERE.keys() & copy.wire.headers.keys() == left


def test_a_copy_that_fits_to_the_byte_is_not_trimmed() -> None:
    whole = len(json.dumps(FAULTS)) + len(HEADERS) + len("String")

    assert set(kept(whole).values()) == {1_000}
    assert kept(whole - 1)["StackTrace"] == 999


def test_a_copy_that_is_too_large_without_any_fault_cannot_be_made() -> None:
    assert copied(record("x" * (LIMIT - 100)), dict(FAULTS)) is None


def test_the_user_s_own_headers_and_attributes_never_give_way() -> None:
    one = record("x" * (LIMIT - 3_000), headers={"mine": "m" * 1_000}, attributes={"own": text("o" * 1_000)})

    copy = copied(one, dict(FAULTS))

    assert copy is not None
    headers = json.loads(copy.entry["MessageAttributes"][HEADERS]["StringValue"])
    assert (headers["mine"], headers["NServiceBus.FailedQ"]) == ("m" * 1_000, "orders")
    assert copy.entry["MessageAttributes"]["own"]["StringValue"] == "o" * 1_000


def wrapped(body: str) -> str:
    """Return a body in NServiceBus's wrapper, as a sender writes it who does not escape."""
    wrapper = {"Headers": {"NServiceBus.MessageId": "m-1"}, "Body": body}
    return json.dumps(wrapper, ensure_ascii=False)


def test_a_wrapped_body_in_any_alphabet_is_as_large_in_its_copy_as_it_came() -> None:
    one = record(wrapped("注文" * 150_000))

    copy = copied(one, {"NServiceBus.FailedQ": "orders"})

    assert copy is not None
    assert size(copy.entry) - len(one["body"].encode()) < 100
    assert json.loads(copy.entry["MessageBody"])["Body"] == "注文" * 150_000


@pytest.mark.parametrize(
    ("letter", "in_header", "in_body"),
    [("\ud800", "\ufffd", "\ufffd"), ("\uffff", "\uffff", "\uffff"), ("\x00", "\ufffd", "\x00")],
)
def test_what_sqs_does_not_take_as_it_stands_is_escaped_or_replaced(letter: str, in_header: str, in_body: str) -> None:
    one = record(json.dumps({"Headers": {"NServiceBus.MessageId": "m-1"}, "Body": f"é{letter}!"}))

    copy = copied(one, {"NServiceBus.FailedQ": f"é{letter}!"})

    assert copy is not None
    assert re.fullmatch(TEXT, copy.entry["MessageBody"])
    assert json.loads(copy.entry["MessageBody"]) == {
        "Headers": {
            "NServiceBus.MessageId": "m-1",
            "NServiceBus.FailedQ": f"é{in_header}!",
            "Recoverable.Origin": "native-1",
        },
        "Body": f"é{in_body}!",
    }


def test_a_size_counts_the_bytes_of_body_and_of_names_types_and_values_of_attributes() -> None:
    one = record("ä€😀", attributes={"name": text("ä"), "raw": binary(b"\x00" * 7, "Binary.x")})
    copy = copied(one, {})

    assert copy is not None
    ours = len(HEADERS) + len("String") + len('{"Recoverable.Origin": "native-1"}')
    assert size(copy.entry) == (2 + 3 + 4) + (4 + 6 + 2) + (3 + 8 + 7) + ours


def of_size(weight: int, to: Queue = ERROR) -> Copy:
    """Return a copy of so many bytes."""
    entry: Entry = {"MessageBody": "x" * weight, "MessageAttributes": {}}
    delivery, forward = delivered(record(), SOURCE, recoverability(), platform()), Forward("", timedelta(0), {})
    return Copy(delivery, forward, to, wire_of(record()), entry, weight)


@pytest.mark.parametrize(
    ("weights", "batched"),
    [
        ([], []),
        ([1] * 10, [10]),
        ([1] * 11, [10, 1]),
        ([1] * 25, [10, 10, 5]),
        ([LIMIT], [1]),
        ([LIMIT, 1], [1, 1]),
        ([LIMIT - 1, 1], [2]),
        ([LIMIT // 2] * 4, [2, 2]),
        ([LIMIT // 2 + 1] * 3, [1, 1, 1]),
        ([200_000] * 10, [5, 5]),
    ],
)
def test_a_batch_is_ten_entries_and_one_mebibyte_at_most(weights: list[int], batched: list[int]) -> None:
    assert [len(batch) for batch in batches([of_size(weight) for weight in weights])] == batched


def test_a_batch_goes_to_one_queue() -> None:
    elsewhere = Queue("us-east-2", "123456789012", "error")
    copies = [of_size(1, to) for to in (ERROR, SOURCE, elsewhere, ERROR, SOURCE)]

    assert [[copy.to for copy in batch] for batch in batches(copies)] == [[ERROR, ERROR], [SOURCE, SOURCE], [elsewhere]]


@given(st.lists(st.tuples(st.integers(1, LIMIT), st.sampled_from([SOURCE, ERROR])), max_size=30))
def test_each_copy_is_in_exactly_one_batch(drawn: list[tuple[int, Queue]]) -> None:
    copies = [of_size(weight, to) for weight, to in drawn]

    made = batches(copies)

    assert sorted(map(id, copies)) == sorted(id(copy) for batch in made for copy in batch)
    for batch in made:
        assert len({copy.to for copy in batch}) == 1
        assert len(batch) <= 10
        assert sum(size(copy.entry) for copy in batch) <= LIMIT
