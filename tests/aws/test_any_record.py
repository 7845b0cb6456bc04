"""Whatever a sender wrote, and whatever a handler does: no invocation breaks, no message is lost, and no count is negative."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aws.harness import ladder
from aws.recording_client import RecordingClient
from aws.records import ARN, Record, binary, delivered, event, received_attribute, record, text
from aws.shapes import CONTROL, FOLDED, ID, TYPES
from builders import platform, recoverability
from recoverable import Message
from recoverable._sqs.queues import queue_from_arn
from recoverable._sqs.wire import POINTER_CLASSES, POINTER_SIZES, wire_of
from recoverable.aws import SqsEndpoint
from recoverable.extensions import S3Bodies
from servers.queues import HEADERS

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

OURS = ("NServiceBus.", "Recoverable.", "$.diagnostics.")
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
ANY_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
COUNTS = st.sampled_from(["0", "1", "2", "7", "9999", "10000", "10001", "-1", "٣", "1e3", "9" * 400])
DATES = st.sampled_from(
    [
        "9999-12-31 23:59:59:999999 Z",
        "0001-01-01 00:00:00:000000 Z",
        "2099-01-01 00:00:00:000000 Z",
        "2026-13-41 25:61:61:000000 Z",
        "0000-00-00 00:00:00:000000 Z",
    ]
)
NAMES = st.sampled_from(
    [
        ID,
        TYPES,
        CONTROL,
        FOLDED,
        "NServiceBus.Retries",
        "NServiceBus.FLRetries",
        "NServiceBus.Retries.Timestamp",
        "NServiceBus.TimeSent",
        "NServiceBus.ExceptionInfo.StackTrace",
        "Recoverable.DueAt",
        "Recoverable.HeldSince",
        "Recoverable.FirstDelayedRetry",
        "S3BodyKey",
        *POINTER_SIZES,
    ]
)
HEADER_VALUES = COUNTS | DATES | ANY_TEXT | ANY_VALUE | ANY_VALUE.map(json.dumps)
HOSTILE = st.dictionaries(NAMES | ANY_TEXT, HEADER_VALUES, max_size=8)
WRAPPED = st.builds(
    lambda headers, rest: json.dumps({**rest, "Headers": headers}),
    HOSTILE,
    st.dictionaries(st.sampled_from(["Body", "S3BodyKey", "TimeToBeReceived"]), ANY_VALUE | ANY_TEXT),
)
ATTRIBUTE_NAMES = st.from_regex(r"[A-Za-z0-9_-]{1,20}", fullmatch=True)  # SQS takes no others
ATTRIBUTE_TEXT = ANY_TEXT.filter(lambda text: not {"\ufffe", "\uffff"} & set(text))
ATTRIBUTES = st.dictionaries(
    NAMES | ATTRIBUTE_NAMES,
    st.builds(text, ATTRIBUTE_TEXT) | st.builds(binary, st.binary(min_size=1, max_size=9)),
    max_size=10,
)
SYSTEM = st.none() | st.fixed_dictionaries(
    {}, optional={"ApproximateReceiveCount": COUNTS, "SentTimestamp": COUNTS, "MessageGroupId": ANY_TEXT}
)


POINTERS = st.builds(
    lambda name, place: json.dumps([name, place]),
    st.sampled_from(POINTER_CLASSES) | ANY_TEXT,
    st.dictionaries(st.sampled_from(["s3BucketName", "s3Key"]), st.just("b") | ANY_VALUE),
)


@st.composite
def records(draw: st.DrawFn) -> list[Record]:
    """Return a batch, each record with an id and a handle of its own."""
    arn = ARN + draw(st.sampled_from(["", ".fifo"]))
    return [draw(one_record(f"native-{number}", arn)) for number in range(draw(st.integers(1, 4)))]


@st.composite
def one_record(draw: st.DrawFn, message_id: str, arn: str) -> Record:
    """Return a record in which all that a sender can write is hostile."""
    one = record(draw(ANY_TEXT | WRAPPED | POINTERS), message_id=message_id, attributes=draw(ATTRIBUTES), arn=arn)
    carried = draw(st.none() | ANY_TEXT | ANY_VALUE.map(json.dumps) | HOSTILE.map(json.dumps))
    if carried is not None:
        one["messageAttributes"][HEADERS] = text(carried)
    return {**one, "attributes": draw(SYSTEM)}


class RefusingS3:
    """An S3 client whose calls are all refused."""

    def get_object(self, **call: object) -> None:
        raise ConnectionError

    def delete_objects(self, **call: object) -> None:
        raise ConnectionError


class Runs:
    """A handler that fails for some, reads what it can, and remembers what it was given."""

    def __init__(self, fails: Callable[[], bool]) -> None:
        self._fails = fails
        self.counts: list[tuple[int, int]] = []
        self.succeeded: list[str] = []

    def __call__(self, message: Message) -> None:
        self.counts.append((message.attempt, message.round))
        if self._fails():
            raise ValueError(message.text, message.headers, message.sent_at)
        self.succeeded.append(message.native["receiptHandle"])


def as_record(entry: dict[str, Any], arn: str) -> Record:
    """Return a copy as it comes in again."""
    attributes = {name: received_attribute(value) for name, value in entry["MessageAttributes"].items()}
    return {**record(entry["MessageBody"], arn=arn), "messageAttributes": attributes}


def identity(one: Record) -> tuple[str, str, str]:
    """Return a record's message id, its body, and the user's own attributes and headers."""
    queue = queue_from_arn(one["eventSourceARN"])
    delivery = delivered(one, queue, recoverability(), platform())
    wire = wire_of(one)
    said = {**wire.attributes, **wire.headers}
    users = {name: said[name] for name in sorted(said) if not name.startswith(OURS)}
    return delivery.message.id, repr(wire.body), repr(users)


@pytest.mark.slow
@settings(max_examples=100)
@given(records(), st.data(), st.sampled_from(["native", "header"]), st.integers(0, 2), st.integers(0, 2))
def test_each_record_is_done_with_or_copied_or_reported(
    batch: list[Record], data: st.DataObject, counter: Any, immediate: int, delayed: int
) -> None:
    fails, takes = (lambda: data.draw(st.booleans())), (lambda: data.draw(st.booleans()))
    client, handler = RecordingClient(takes), Runs(fails)
    settings = ladder("error", immediate=immediate, delayed=delayed)
    bodies = S3Bodies(("b",), delete=True, client=cast("S3Client", RefusingS3()))
    endpoint = SqsEndpoint(handler, settings, client=client.as_client(), counter=counter, extensions=(bodies,))

    answer = endpoint(event(*batch), None)

    reported = [f"handle-of-{failure['itemIdentifier']}" for failure in answer["batchItemFailures"]]
    copied = [handle for handle in client.deleted if handle not in handler.succeeded]
    everything = sorted(one["receiptHandle"] for one in batch)
    assert sorted([*handler.succeeded, *copied, *reported]) == everything

    sources = [one for one in batch if one["receiptHandle"] in copied]
    copies = [as_record(entry, batch[0]["eventSourceARN"]) for entry in client.sent]
    assert Counter(map(identity, copies)) == Counter(map(identity, sources))
    assert all(attempt >= 1 and round_ >= 0 for attempt, round_ in handler.counts)
