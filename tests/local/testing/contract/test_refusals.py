"""Check what SQS refuses, and with which error code."""

from __future__ import annotations

from typing import Any

import pytest

from local.testing.contract.servers import Server


def text(value: str, kind: str = "String") -> dict[str, Any]:
    return {"DataType": kind, "StringValue": value}


MESSAGES: dict[str, tuple[dict[str, Any], str]] = {
    "eleven attributes": ({"MessageAttributes": {f"a{n}": text("1") for n in range(11)}}, "InvalidParameterValue"),
    "a delay of 901 s": ({"DelaySeconds": 901}, "InvalidParameterValue"),
    "a negative delay": ({"DelaySeconds": -1}, "InvalidParameterValue"),
    "no text": ({"MessageBody": ""}, "MissingParameter"),
    "a NUL in the text": ({"MessageBody": "a\x00b"}, "InvalidMessageContents"),
    "U+FFFE in the text": ({"MessageBody": "a\ufffe"}, "InvalidMessageContents"),
    "an attribute without a value": ({"MessageAttributes": {"a": text("")}}, "InvalidParameterValue"),
    "an attribute of an unknown type": ({"MessageAttributes": {"a": text("1", "Date")}}, "InvalidParameterValue"),
    "an attribute in Amazon's name": ({"MessageAttributes": {"AWS.a": text("1")}}, "InvalidParameterValue"),
    "an attribute with a space in its name": ({"MessageAttributes": {"a b": text("1")}}, "InvalidParameterValue"),
    "a number that is none": ({"MessageAttributes": {"a": text("x", "Number")}}, "InvalidParameterValue"),
    "a byte more than 1 MiB": ({"MessageBody": "x" * 1_048_577}, "InvalidParameterValue"),
    "text and attributes of more than 1 MiB": (
        {"MessageBody": "x" * 1_048_570, "MessageAttributes": {"a": text("1")}},
        "InvalidParameterValue",
    ),
    "a deduplication id on a standard queue": ({"MessageDeduplicationId": "1"}, "InvalidParameterValue"),
}

FIFO_MESSAGES: dict[str, tuple[dict[str, Any], str]] = {
    "no group": ({"MessageDeduplicationId": "1"}, "MissingParameter"),
    "no deduplication id": ({"MessageGroupId": "a"}, "InvalidParameterValue"),
    "a delay of its own": (
        {"MessageGroupId": "a", "MessageDeduplicationId": "1", "DelaySeconds": 5},
        "InvalidParameterValue",
    ),
}


def entries(*texts: str) -> list[dict[str, str]]:
    return [{"Id": str(n), "MessageBody": body} for n, body in enumerate(texts)]


BATCHES: dict[str, tuple[list[dict[str, str]], str]] = {
    "none": ([], "AWS.SimpleQueueService.EmptyBatchRequest"),
    "eleven": (entries(*"abcdefghijk"), "AWS.SimpleQueueService.TooManyEntriesInBatchRequest"),
    "two of one id": (entries("a") * 2, "AWS.SimpleQueueService.BatchEntryIdsNotDistinct"),
    "an id with a space": ([{"Id": "a b", "MessageBody": "x"}], "AWS.SimpleQueueService.InvalidBatchEntryId"),
    "more than 1 MiB together": (entries(*["x" * 600_000] * 2), "AWS.SimpleQueueService.BatchRequestTooLong"),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_a_message_is_refused_that_has(server: Server, case: str) -> None:
    request, code = MESSAGES[case]
    sent = {"QueueUrl": server.queue(), "MessageBody": "x"} | request
    assert server.refusal(server.client.send_message, **sent) == code


@pytest.mark.parametrize("case", FIFO_MESSAGES)
def test_a_fifo_message_is_refused_that_has(server: Server, case: str) -> None:
    request, code = FIFO_MESSAGES[case]
    sent = {"QueueUrl": server.queue(fifo=True), "MessageBody": "x"} | request
    assert server.refusal(server.client.send_message, **sent) == code


@pytest.mark.parametrize("case", BATCHES)
def test_a_batch_is_refused_that_has(server: Server, case: str) -> None:
    batch, code = BATCHES[case]
    assert server.refusal(server.client.send_message_batch, QueueUrl=server.queue(), Entries=batch) == code


def test_a_missing_queue_is_refused_by_name(server: Server) -> None:
    url = server.queue() + "-missing"
    code = server.refusal(server.client.send_message, QueueUrl=url, MessageBody="x")
    assert code == "AWS.SimpleQueueService.NonExistentQueue"


def test_a_missing_queue_can_be_caught_by_its_class(server: Server) -> None:
    with pytest.raises(server.client.exceptions.QueueDoesNotExist):
        server.client.get_queue_url(QueueName="contract-missing")


def test_a_receive_of_eleven_is_refused(server: Server) -> None:
    code = server.refusal(server.client.receive_message, QueueUrl=server.queue(), MaxNumberOfMessages=11)
    assert code == "InvalidParameterValue"


def test_a_receipt_handle_that_is_none_is_refused(server: Server) -> None:
    code = server.refusal(server.client.delete_message, QueueUrl=server.queue(), ReceiptHandle="none")
    assert code == "ReceiptHandleIsInvalid"


def test_a_visibility_timeout_of_more_than_12_hours_is_refused(server: Server) -> None:
    url = server.queue()
    server.client.send_message(QueueUrl=url, MessageBody="x")
    [message] = server.received(url)
    hide = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 43_201}
    assert server.refusal(server.client.change_message_visibility, **hide) == "InvalidParameterValue"


def test_12_hours_count_from_the_receive(server: Server) -> None:
    url = server.queue()
    server.client.send_message(QueueUrl=url, MessageBody="x")
    [message] = server.received(url)
    server.wait(1.1)
    hide = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 43_200}
    assert server.refusal(server.client.change_message_visibility, **hide) == "InvalidParameterValue"


def test_the_visibility_of_a_deleted_message_cannot_be_changed(server: Server) -> None:
    url = server.queue()
    server.client.send_message(QueueUrl=url, MessageBody="x")
    [message] = server.received(url)
    server.client.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    hide = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 5}
    assert server.refusal(server.client.change_message_visibility, **hide) == "InvalidParameterValue"
