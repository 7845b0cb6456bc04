"""Check that each entry of a batch is done or refused alone."""

from __future__ import annotations

from typing import Any

from local.testing.contract.servers import Server


def outcome(answer: Any) -> tuple[list[str], list[tuple[str, str, bool]]]:
    """Return the ids of what was done, and the errors of the rest."""
    failed = [(entry["Id"], entry["Code"], entry["SenderFault"]) for entry in answer.get("Failed", [])]
    return [entry["Id"] for entry in answer.get("Successful", [])], failed


def test_one_bad_message_of_a_batch_is_refused_alone(server: Server) -> None:
    entries: Any = [{"Id": "good", "MessageBody": "x"}, {"Id": "bad", "MessageBody": "x", "DelaySeconds": 901}]
    answer = server.client.send_message_batch(QueueUrl=server.queue(), Entries=entries)
    assert outcome(answer) == (["good"], [("bad", "InvalidParameterValue", True)])


def test_a_delayed_message_of_a_fifo_batch_is_refused_alone(server: Server) -> None:
    good = {"Id": "good", "MessageBody": "x", "MessageGroupId": "a", "MessageDeduplicationId": "1"}
    entries: Any = [good, good | {"Id": "bad", "MessageDeduplicationId": "2", "DelaySeconds": 5}]
    answer = server.client.send_message_batch(QueueUrl=server.queue(fifo=True), Entries=entries)
    assert outcome(answer) == (["good"], [("bad", "InvalidParameterValue", True)])


def test_one_bad_receipt_handle_of_a_deletion_is_refused_alone(server: Server) -> None:
    url = server.queue()
    server.client.send_message(QueueUrl=url, MessageBody="x")
    [message] = server.received(url)
    entries: Any = [{"Id": "good", "ReceiptHandle": message["ReceiptHandle"]}, {"Id": "bad", "ReceiptHandle": "none"}]
    answer = server.client.delete_message_batch(QueueUrl=url, Entries=entries)
    assert outcome(answer) == (["good"], [("bad", "ReceiptHandleIsInvalid", True)])


def test_one_bad_visibility_timeout_of_a_batch_is_refused_alone(server: Server) -> None:
    url = server.queue()
    for _ in range(2):
        server.client.send_message(QueueUrl=url, MessageBody="x")
    handles = [message["ReceiptHandle"] for message in server.received(url)]
    entries: Any = [
        {"Id": "good", "ReceiptHandle": handles[0], "VisibilityTimeout": 0},
        {"Id": "bad", "ReceiptHandle": handles[1], "VisibilityTimeout": 43_201},
    ]
    answer = server.client.change_message_visibility_batch(QueueUrl=url, Entries=entries)
    assert outcome(answer) == (["good"], [("bad", "InvalidParameterValue", True)])
