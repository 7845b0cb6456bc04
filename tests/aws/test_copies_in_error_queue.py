"""What an operator finds in the error queue: body, attributes, group, and where and why the message failed."""

from __future__ import annotations

import json
from base64 import b64decode
from datetime import UTC, datetime
from typing import Any

import pytest

from aws.harness import Context, Mapping, ladder, sqs_endpoint
from aws.placeholders import A_DATE, Matching
from recoverable import Delayed, Immediate, Message, Recoverability
from servers.fixtures import NewQueue
from servers.queues import Queue

NOW = datetime(2026, 3, 4, 5, 6, 7, 89, tzinfo=UTC)
ATTRIBUTES: dict[str, Any] = {
    "tenant": {"DataType": "String", "StringValue": "blue"},
    "amount": {"DataType": "Number", "StringValue": "1.50"},
    "count": {"DataType": "Number.int", "StringValue": "7"},
    "raw": {"DataType": "Binary", "BinaryValue": b"\x00\xff"},
    "picture": {"DataType": "Binary.gif", "BinaryValue": b"GIF89a"},
}
TEN: dict[str, Any] = {
    **ATTRIBUTES,
    **{f"more-{number}": {"DataType": "String", "StringValue": str(number)} for number in range(5)},
}
FAULTS = {
    "NServiceBus.ProcessingMachine": "2026/03/04/[$LATEST]abc",
    "NServiceBus.ProcessingEndpoint": Matching("orders-.*"),
    "$.diagnostics.hostid": "7679ff5100ae4f55df4292825f16a42a",  # MD5 of the name below
    "$.diagnostics.hostdisplayname": "orders-function",
    "NServiceBus.FailedQ": Matching("orders-.*"),
    "NServiceBus.ExceptionInfo.ExceptionType": f"{__name__}.OutOfStock",
    "NServiceBus.ExceptionInfo.InnerExceptionType": "KeyError",
    "NServiceBus.ExceptionInfo.Message": "none of 'apple' left",
    "NServiceBus.ExceptionInfo.Source": __name__.partition(".")[0],
    "NServiceBus.ExceptionInfo.HelpLink": "https://example.org/stock",
    "NServiceBus.ExceptionInfo.Data.sku": "apple",
    "NServiceBus.ExceptionInfo.Data.Notes": "asked twice",
    "NServiceBus.ExceptionInfo.Data.Handler start time": Matching(r"2026-03-04 05:06:0[67]:\d{6} Z"),
    "NServiceBus.ExceptionInfo.Data.Handler failure time": "2026-03-04 05:06:07:000089 Z",
    "NServiceBus.ExceptionInfo.StackTrace": Matching(
        rf"{__name__}\.OutOfStock: none of 'apple' left ---> KeyError: 'apple'\n"
        rf"   at {__name__}\.out_of_stock\(\) in /.*test_copies_in_error_queue\.py:line \d+\n"
        r"   --- End of inner exception stack trace ---\n"
        rf"   at {__name__}\.out_of_stock\(\) in /.*test_copies_in_error_queue\.py:line \d+"
    ),
    "NServiceBus.TimeOfFailure": "2026-03-04 05:06:07:000089 Z",
    "NServiceBus.ContentType": "text/plain",
}


class Request(Context):
    """Lambda's context of a request."""

    aws_request_id = "8f5c6e1a-request"
    log_group_name = "/aws/lambda/orders-function"
    log_stream_name = "2026/03/04/[$LATEST]abc"
    function_version = "7"


class OutOfStock(Exception):
    """A failure that has all that an exception can have."""

    help_link = "https://example.org/stock"

    def __init__(self, sku: str) -> None:
        self.data = {"sku": sku}
        super().__init__(f"none of {sku!r} left")


def out_of_stock(message: Message) -> None:
    stock: dict[str, int] = {}
    try:
        stock["apple"]
    except KeyError as cause:
        failure = OutOfStock("apple")
        failure.add_note("asked twice")
        raise failure from cause


def test_the_error_copy_has_the_body_the_attributes_and_every_fault_header(
    orders: Queue, error: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "orders-function")
    monkeypatch.setenv("AWS_LAMBDA_LOG_STREAM_NAME", "2026/03/04/[$LATEST]abc")
    message_id = orders.send("an order: ä€😀", attributes=ATTRIBUTES)

    endpoint = sqs_endpoint(out_of_stock, ladder(error, immediate=1, delayed=1), clock=lambda: NOW)
    Mapping(orders, endpoint, contexts=Request).run_dry()

    (copy,) = error.arrived()
    ours = {
        "NServiceBus.MessageId": message_id,
        "NServiceBus.TimeSent": A_DATE,
        "Recoverable.Origin": message_id,
        "Recoverable.FailedQueue": orders.arn,
        "Recoverable.RequestId": Request.aws_request_id,
        "Recoverable.LogGroup": Request.log_group_name,
        "Recoverable.LogStream": Request.log_stream_name,
        "Recoverable.Version": Request.function_version,
        "Recoverable.Attempts": "4",
        "Recoverable.FirstFailedAt": A_DATE,
    }
    headers = dict(copy.headers)
    folded = json.loads(headers.pop("Recoverable.Attributes"))
    assert headers == {**ours, **FAULTS, "Recoverable.Native": "1"}
    assert (copy.body, copy.attributes) == ("an order: ä€😀", ATTRIBUTES)
    assert {name: as_sent(value) for name, value in folded.items()} == {
        name: value for name, value in ATTRIBUTES.items() if name != "tenant"
    }


def test_a_delayed_retry_carries_its_round_and_no_fault(orders: Queue, error: Queue) -> None:
    message_id = orders.send("an order", attributes=ATTRIBUTES)
    endpoint = sqs_endpoint(out_of_stock, ladder(error, delayed=1), clock=lambda: NOW)

    Mapping(orders, endpoint).poll()

    (copy,) = orders.arrived()
    now = "2026-03-04 05:06:07:000089 Z"
    assert (copy.body, copy.attributes) == ("an order", ATTRIBUTES)
    assert copy.headers == {
        "NServiceBus.MessageId": message_id,
        "NServiceBus.TimeSent": A_DATE,
        "Recoverable.Origin": message_id,
        "NServiceBus.Retries": "1",
        "NServiceBus.Retries.Timestamp": now,
        "Recoverable.FirstDelayedRetry": now,
        "Recoverable.Attempts": "1",
        "Recoverable.FirstFailedAt": now,
    }


def test_ten_attributes_of_the_sender_live_through_delayed_retries_into_the_error_queue(
    orders: Queue, error: Queue
) -> None:
    seen: list[dict[str, str]] = []

    def fail(message: Message) -> None:
        seen.append({name: value for name, value in message.headers.items() if name in TEN})
        raise ValueError(message.id)

    orders.send("hello", attributes=TEN)
    Mapping(orders, sqs_endpoint(fail, ladder(error, delayed=2))).run_dry()

    (copy,) = error.arrived()
    folded = json.loads(copy.headers["Recoverable.Attributes"])
    texts = {name: value["StringValue"] for name, value in TEN.items() if "StringValue" in value}
    assert seen == [texts] * 3
    assert len(copy.attributes) == 9
    assert {**copy.attributes, **{name: as_sent(value) for name, value in folded.items()}} == TEN


def as_sent(folded: dict[str, Any]) -> dict[str, Any]:
    if "binaryValue" in folded:
        return {"DataType": folded["dataType"], "BinaryValue": b64decode(folded["binaryValue"])}
    return {"DataType": folded["dataType"], "StringValue": folded["stringValue"]}


def test_a_redriven_message_gives_the_handler_all_ten_attributes_again(orders: Queue, error: Queue) -> None:
    orders.send("hello", attributes=TEN)
    Mapping(orders, sqs_endpoint(out_of_stock, ladder(error))).run_dry()
    seen: list[set[str]] = []

    again = sqs_endpoint(lambda message: seen.append(set(message.headers) & set(TEN)), ladder("nowhere"))
    Mapping(error, again).run_dry()

    assert seen == [{name for name, value in TEN.items() if "StringValue" in value}]


def test_the_native_record_has_all_ten_attributes_again_too(orders: Queue, error: Queue) -> None:
    binary = {"photo": {"DataType": "Binary.jpeg", "BinaryValue": b"\x00\xff"}}
    sent = dict(list(TEN.items())[:9]) | binary  # the last one is that for which there is no room
    seen: list[dict[str, Any]] = []

    def fail(message: Message) -> None:
        attributes = message.native["messageAttributes"]
        seen.append({name: value for name, value in attributes.items() if name in sent})
        raise ValueError(message.id)

    orders.send("hello", attributes=sent)
    Mapping(orders, sqs_endpoint(fail, ladder(error, delayed=2))).run_dry()

    first, *later = seen
    assert len(first) == 10
    assert later == [first, first]


def test_the_group_of_a_fair_queue_is_kept_over_delayed_retries_into_the_error_queue(
    orders: Queue, error: Queue
) -> None:
    seen: list[str | None] = []

    def fail(message: Message) -> None:
        seen.append(message.group_id)
        raise ValueError(message.id)

    orders.send("hello", MessageGroupId="tenant-7")
    Mapping(orders, sqs_endpoint(fail, ladder(error, delayed=1))).run_dry()

    assert (seen, [copy.group for copy in error.arrived()]) == (["tenant-7", "tenant-7"], ["tenant-7"])


def test_the_id_and_the_time_of_sending_never_change(orders: Queue, error: Queue) -> None:
    seen: list[tuple[str, datetime | None]] = []

    def fail(message: Message) -> None:
        seen.append((message.id, message.sent_at))
        raise ValueError(message.id)

    message_id = orders.send()
    Mapping(orders, sqs_endpoint(fail, ladder(error, immediate=1, delayed=2))).run_dry()

    assert len(seen) == 6
    assert set(seen) == {(message_id, seen[0][1])}
    assert seen[0][1] is not None


def test_the_error_queue_has_its_own_name_from_the_environment(
    orders: Queue, new_queue: NewQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside = new_queue("set-aside")
    monkeypatch.setenv("RECOVERABLE_ERROR_QUEUE", aside.name)
    orders.send("hello")

    Mapping(orders, sqs_endpoint(out_of_stock, Recoverability(Immediate(0), Delayed(0)))).run_dry()

    assert [copy.body for copy in aside.arrived()] == ["hello"]
