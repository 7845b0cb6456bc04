"""Check that a FIFO queue keeps the order of each group, and accepts a message once."""

from __future__ import annotations

from typing import Any

from local.testing.contract.servers import Server


def send(server: Server, url: str, *bodies: str) -> list[str]:
    """Send each message to the group that its first letter names; return the ids."""
    return [
        server.client.send_message(QueueUrl=url, MessageBody=body, MessageGroupId=body[0], MessageDeduplicationId=body)[
            "MessageId"
        ]
        for body in bodies
    ]


def bodies(messages: list[Any]) -> list[str]:
    return [message["Body"] for message in messages]


def test_a_group_comes_in_its_order(server: Server) -> None:
    url = server.queue(fifo=True)
    send(server, url, "a1", "a2", "a3")
    assert bodies(server.received(url)) == ["a1", "a2", "a3"]


def test_a_group_waits_while_one_of_it_is_in_flight(server: Server) -> None:
    url = server.queue(fifo=True)
    send(server, url, "a1", "a2", "b1")
    [first] = server.received(url, MaxNumberOfMessages=1)
    others = bodies(server.received(url))
    server.client.delete_message(QueueUrl=url, ReceiptHandle=first["ReceiptHandle"])
    assert (others, bodies(server.received(url))) == (["b1"], ["a2"])


def test_a_message_shown_again_keeps_its_place(server: Server) -> None:
    url = server.queue(fifo=True)
    send(server, url, "a1", "a2")
    [first] = server.received(url, MaxNumberOfMessages=1)
    server.client.change_message_visibility(QueueUrl=url, ReceiptHandle=first["ReceiptHandle"], VisibilityTimeout=0)
    assert bodies(server.received(url)) == ["a1", "a2"]


def test_a_message_that_comes_back_after_its_visibility_timeout_keeps_its_place(server: Server) -> None:
    url = server.queue(fifo=True)
    send(server, url, "a1", "a2")
    server.received(url, MaxNumberOfMessages=1, VisibilityTimeout=1)
    server.wait(1)
    assert bodies(server.arriving(url)) == ["a1", "a2"]


def test_a_duplicate_is_taken_for_the_message_it_repeats(server: Server) -> None:
    url = server.queue(fifo=True)
    first, second = send(server, url, "a1", "a1")
    assert (first == second, bodies(server.received(url))) == (True, ["a1"])


def test_a_duplicate_is_known_after_the_deletion_of_the_message(server: Server) -> None:
    url = server.queue(fifo=True)
    send(server, url, "a1")
    [message] = server.received(url)
    server.client.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    send(server, url, "a1")
    assert server.received(url) == []


def test_equal_texts_are_duplicates_when_the_queue_says_so(server: Server) -> None:
    url = server.queue(fifo=True, ContentBasedDeduplication="true")
    for body in ("same", "same", "other"):
        server.client.send_message(QueueUrl=url, MessageBody=body, MessageGroupId="a")
    assert bodies(server.received(url)) == ["same", "other"]


def test_an_expired_receipt_handle_deletes_nothing(server: Server) -> None:
    url = server.queue(fifo=True)
    send(server, url, "a1")
    [message] = server.received(url, VisibilityTimeout=0)
    delete = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"]}
    assert server.refusal(server.client.delete_message, **delete) == "InvalidParameterValue"
