"""Check what a function is given: the event and the context."""

from __future__ import annotations

import json
import re
from typing import Any

from local.testing.hosts.aws.hosts import AT_EASE, Serve

ATTRIBUTES: Any = {
    "tenant": {"DataType": "String", "StringValue": "ä€"},
    "amount": {"DataType": "Number", "StringValue": "12.50"},
    "picture": {"DataType": "Binary", "BinaryValue": b"\x00\xff"},
    "code": {"DataType": "String.code", "StringValue": "x"},
}
LISTS: dict[str, list[str]] = {"stringListValues": [], "binaryListValues": []}

SHAPES = {
    "an id": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "milliseconds": r"1\d{12}",
    "a number of 20 digits": r"\d{20}",
    "a digest": r"[0-9a-f]{32}",
}


def shape(value: str) -> str:
    """Return the pattern of a value that differs from run to run."""
    return next((name for name, pattern in SHAPES.items() if re.fullmatch(pattern, value)), "a text")


def comparable(record: dict[str, Any], *, arn: str) -> dict[str, Any]:
    """Return a record, with patterns for what differs, and whether its ARN is the queue's."""
    differing = ("messageId", "receiptHandle", "md5OfBody")
    shapes: dict[str, Any] = {name: shape(record[name]) for name in differing}
    where = "arn" if re.fullmatch(arn, record["eventSourceARN"]) else record["eventSourceARN"]
    system = {name: value if name in KEPT else shape(value) for name, value in record["attributes"].items()}
    return {**record, **shapes, "eventSourceARN": where, "attributes": system}


KEPT = ("ApproximateReceiveCount", "MessageGroupId")

STANDARD: dict[str, Any] = {
    "messageId": "an id",
    "receiptHandle": "a text",
    "body": json.dumps({"name": "a"}),
    "attributes": {
        "ApproximateReceiveCount": "1",
        "SentTimestamp": "milliseconds",
        "SenderId": "a text",
        "ApproximateFirstReceiveTimestamp": "milliseconds",
    },
    "messageAttributes": {},
    "md5OfBody": "a digest",
    "eventSource": "aws:sqs",
    "eventSourceARN": "arn",
    "awsRegion": "eu-central-1",
}


def test_a_message_is_told_in_a_record(serve: Serve) -> None:
    orders = serve()
    orders.send("a")
    orders.run()
    [given] = orders.given()
    assert [comparable(record, arn=r"arn:aws:sqs:eu-central-1:\d{12}:[\w-]*orders") for record in given["records"]] == [
        STANDARD
    ]


def test_attributes_are_told_with_their_types(serve: Serve) -> None:
    orders = serve()
    orders.send("a", MessageAttributes=ATTRIBUTES)
    orders.run()
    [record] = orders.given()[0]["records"]
    assert record["messageAttributes"] == {
        "tenant": {"stringValue": "ä€", **LISTS, "dataType": "String"},
        "amount": {"stringValue": "12.50", **LISTS, "dataType": "Number"},
        "picture": {"binaryValue": "AP8=", **LISTS, "dataType": "Binary"},
        "code": {"stringValue": "x", **LISTS, "dataType": "String.code"},
    }
    assert record["md5OfMessageAttributes"] == "79ee91cf970ea0dc5af97235eb2fff30"


def test_a_message_of_a_group_is_told_with_its_group(serve: Serve) -> None:
    orders = serve(fifo=True)
    orders.send("a", group="g")
    orders.run()
    [record] = orders.given()[0]["records"]
    assert comparable(record, arn=r"arn:aws:sqs:eu-central-1:\d{12}:[\w-]*orders\.fifo") == {
        **STANDARD,
        "attributes": {
            **STANDARD["attributes"],
            "MessageGroupId": "g",
            "MessageDeduplicationId": "an id",
            "SequenceNumber": "a number of 20 digits",
        },
    }


def test_a_message_that_comes_back_is_the_same_but_for_count_and_handle(serve: Serve) -> None:
    orders = serve()
    orders.send({"name": "a", "does": "fail"}, MessageAttributes=ATTRIBUTES)
    orders.run()
    first, second = (given["records"][0] for given in orders.given())
    handles = {record.pop("receiptHandle") for record in (first, second)}
    counts = [record["attributes"].pop("ApproximateReceiveCount") for record in (first, second)]
    assert (len(handles), counts, first) == (2, ["1", "2"], second)


def test_the_context_names_the_function_and_the_invocation(serve: Serve) -> None:
    orders = serve()
    orders.send("a")
    orders.run()
    [given] = orders.given()
    context = given["context"]
    name, left = context["function_name"], context.pop("get_remaining_time_in_millis")
    arn = rf"arn:aws:lambda:eu-central-1:\d{{12}}:function:{name}"
    assert re.fullmatch(arn, context.pop("invoked_function_arn"))
    assert (type(left), 0 < left <= AT_EASE * 1000) == (int, True)
    assert (shape(context.pop("aws_request_id")), shape(context.pop("log_stream_name"))) == ("an id", "a text")
    assert context == {
        "function_name": name,
        "function_version": "$LATEST",
        "memory_limit_in_mb": "128",
        "log_group_name": f"/aws/lambda/{name}",
        "client_context": None,
        "identity": {"cognito_identity_id": None, "cognito_identity_pool_id": None},
        "tenant_id": None,
        "log": None,
        "w3c": {},
    }


def test_the_remaining_time_is_what_the_function_has_not_spent(serve: Serve) -> None:
    orders = serve()
    orders.send({"name": "a", "does": "spend", "seconds": 0.1})
    orders.run()
    [given], [after] = orders.given(), orders.notes.all("remaining")
    before = given["context"]["get_remaining_time_in_millis"]
    assert AT_EASE * 1000 >= before >= after + 100
