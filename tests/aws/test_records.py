"""Lambda's event as deliveries: what is an event of SQS, and which message each record is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from aws.records import ARN, delivered, event, record, text
from aws.shapes import ID, wrapped
from builders import platform, recoverability
from recoverable import Message
from recoverable._sqs.queues import Queue
from recoverable.aws._records import messages_of, records_of

QUEUE = Queue("eu-west-1", "123456789012", "orders")
SENT = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)  # 1700000000000 ms
A_DATE = "2026-03-04 05:06:07:000089 Z"
THAT_DATE = datetime(2026, 3, 4, 5, 6, 7, 89, tzinfo=UTC)


def read(one: dict[str, Any]) -> Message:
    """Return the message of a record."""
    return delivered(one, QUEUE, recoverability(), platform()).message


def messages_in(what: object) -> list[Message]:
    """Return the messages of an event."""
    queue, records = records_of(what)
    return messages_of(records, queue, recoverability(), platform())[0]


def test_an_event_is_the_queue_of_its_records_and_the_records() -> None:
    first, second = record(message_id="1"), record(message_id="2")

    assert records_of(event(first, second)) == (QUEUE, [first, second])


NO_ARRAY = "wanted is what an event source mapping sends, {'Records': [...]} with at least one"
NO_QUEUE = "its records name no queue, or several, in eventSourceARN; wanted is one and the same"
FROM_SNS = "these records come from aws:sns, and this function serves SQS only; let them be sent to a queue, and let the function read the queue"
NO_TEXT = "lacks a messageId, receiptHandle or body that is text"
DYNAMO = "arn:aws:dynamodb:eu-west-1:1:table/orders/stream/2026"


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (None, f"a NoneType; {NO_ARRAY}"),
        ([record()], f"a list; {NO_ARRAY}"),
        ("secret", f"a str; {NO_ARRAY}"),
        ({"key1": "secret"}, f"a dict with the keys ['key1']; {NO_ARRAY}"),
        ({"Records": []}, f"a dict with the keys ['Records']; {NO_ARRAY}"),
        ({"Records": {}}, f"a dict with the keys ['Records']; {NO_ARRAY}"),
        ({"Records": [None]}, NO_QUEUE),
        ({"Records": [{"s3": {}}]}, NO_QUEUE),
        ({"Records": [{"EventSource": "aws:sns", "Sns": {}}]}, FROM_SNS),
        (event(record(), record(arn=ARN + "-2")), NO_QUEUE),
        (event(record(), {}), NO_QUEUE),
        ({"Records": [{"eventSourceARN": DYNAMO, "dynamodb": {}}]}, f"record 0 {NO_TEXT}"),
        (event(record(), {"eventSourceARN": ARN}), f"record 1 {NO_TEXT}"),
        (event({**record(), "body": None}), f"record 0 {NO_TEXT}"),
        (event({**record(), "messageId": 7}), f"record 0 {NO_TEXT}"),
    ],
)
def test_an_event_that_is_not_from_one_sqs_queue_is_refused_and_its_contents_are_not_logged(
    what: object, said: str
) -> None:
    with pytest.raises(ValueError, match="no SQS event: ") as raised:
        messages_in(what)

    assert str(raised.value) == f"no SQS event: {said}"


def test_records_of_something_else_than_sqs_are_refused_by_their_arn() -> None:
    with pytest.raises(ValueError, match="is no ARN of an SQS queue"):
        records_of(event(record(arn="arn:aws:sns:eu-west-1:1:orders")))


def test_a_native_record_is_a_first_attempt_at_a_message_of_the_broker_s_id() -> None:
    native = record("hello", attributes={"tenant": text("blue")}, group="blue")
    message = read(native)

    assert (message.id, message.text, message.queue, message.group_id) == ("native-1", "hello", "orders", "blue")
    assert (message.attempt, message.round, message.sent_at) == (1, 0, SENT)
    assert (message.native, dict(message.headers)) == (native, {"tenant": "blue"})


@pytest.mark.parametrize(
    "one",
    [
        record(headers={ID: "7", "NServiceBus.TimeSent": A_DATE}),
        record(wrapped({ID: "7", "NServiceBus.TimeSent": A_DATE})),
        record(headers={ID: "7", "NServiceBus.TimeSent": A_DATE}, attributes={ID: text("8")}),
    ],
)
def test_a_message_s_own_id_and_time_of_sending_win_over_the_broker_s(one: dict[str, Any]) -> None:
    message = read(one)

    assert (message.id, message.sent_at) == ("7", THAT_DATE)


@pytest.mark.parametrize("its_id", ["", None])
def test_a_message_without_an_id_of_its_own_has_the_broker_s(its_id: str | None) -> None:
    assert read(record(headers={ID: its_id, "a": "b"})).id == "native-1"


@pytest.mark.parametrize("sent", [None, "", "soon", "9" * 30, "-" + "9" * 30, "nan"])
def test_a_time_of_sending_that_cannot_be_read_is_unknown(sent: str | None) -> None:
    one = record()
    one["attributes"] = {} if sent is None else {"SentTimestamp": sent}

    assert read(one).sent_at is None
