"""Check that a received message is hidden and counted, and comes back unless it is deleted."""

from __future__ import annotations

import time
from email.utils import format_datetime, parsedate_to_datetime

from local.testing.contract.servers import Server


def test_a_received_message_is_hidden_until_its_visibility_timeout_ends(server: Server) -> None:
    url = server.queue()
    server.client.send_message(QueueUrl=url, MessageBody="long")
    hidden = [server.received(url, VisibilityTimeout=60), server.received(url)]
    server.client.send_message(QueueUrl=url, MessageBody="short")
    server.received(url, VisibilityTimeout=1)
    server.wait(1)
    again = [message["Body"] for message in server.arriving(url)]
    assert ([len(messages) for messages in hidden], again) == ([1, 0], ["short"])


def test_a_visibility_timeout_of_0_shows_a_message_at_once(server: Server) -> None:
    url = server.queue()
    server.client.send_message(QueueUrl=url, MessageBody="x")
    [message] = server.received(url)
    server.client.change_message_visibility(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0)
    assert len(server.received(url)) == 1


def test_a_visibility_timeout_can_be_made_longer(server: Server) -> None:
    in_time = False
    while not in_time:  # else the machine stood still, and what was to stay hidden had become visible
        url, before = server.queue(), time.monotonic()
        server.client.send_message(QueueUrl=url, MessageBody="x")
        [message] = server.received(url, VisibilityTimeout=1)
        hide = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 60}
        server.refusal(server.client.change_message_visibility, **hide)
        in_time = time.monotonic() < before + 1
    server.wait(1.5)
    assert server.received(url) == []


def test_an_old_receipt_handle_changes_what_another_has_received_since(server: Server) -> None:
    url = server.queue()
    server.client.send_message(QueueUrl=url, MessageBody="x")
    [old] = server.received(url, VisibilityTimeout=0)
    newer = server.received(url, VisibilityTimeout=60)
    server.client.change_message_visibility(QueueUrl=url, ReceiptHandle=old["ReceiptHandle"], VisibilityTimeout=0)
    assert [len(newer), len(server.received(url))] == [1, 1]


def test_an_old_receipt_handle_of_a_visible_message_is_taken(server: Server) -> None:
    url = server.queue()
    server.client.send_message(QueueUrl=url, MessageBody="x")
    [message] = server.received(url, VisibilityTimeout=0)
    hide = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 60}
    assert server.refusal(server.client.change_message_visibility, **hide) == "accepted"


def test_an_expired_receipt_handle_of_a_fifo_queue_hides_nothing(server: Server) -> None:
    url = server.queue(fifo=True)
    server.client.send_message(QueueUrl=url, MessageBody="x", MessageGroupId="g", MessageDeduplicationId="1")
    [message] = server.received(url, VisibilityTimeout=0)
    hide = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 60}
    answer = server.refusal(server.client.change_message_visibility, **hide)
    assert (answer, len(server.received(url))) == ("InvalidParameterValue", 1)


def test_each_receive_is_counted_and_the_send_stays_dated(server: Server) -> None:
    url = server.queue()
    server.client.send_message(QueueUrl=url, MessageBody="x")
    seen = [message["Attributes"] for _ in range(3) for message in server.received(url, VisibilityTimeout=0)]
    assert [attributes["ApproximateReceiveCount"] for attributes in seen] == ["1", "2", "3"]
    dates = ("SentTimestamp", "ApproximateFirstReceiveTimestamp")
    assert len({tuple(attributes[date] for date in dates) for attributes in seen}) == 1


def test_a_deleted_message_does_not_come_back(server: Server) -> None:
    url = server.queue()
    server.client.send_message(QueueUrl=url, MessageBody="x")
    [message] = server.received(url, VisibilityTimeout=1)
    server.client.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    server.wait(1.2)
    assert server.received(url) == []


def test_a_message_can_be_deleted_after_its_visibility_timeout(server: Server) -> None:
    url = server.queue()
    server.client.send_message(QueueUrl=url, MessageBody="x")
    [message] = server.received(url, VisibilityTimeout=0)
    server.client.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    assert server.received(url) == []


def test_a_long_poll_ends_when_a_message_comes(server: Server) -> None:
    url = server.queue()
    server.client.send_message(QueueUrl=url, MessageBody="x", DelaySeconds=1)
    assert len(server.received(url, WaitTimeSeconds=20)) == 1


def test_a_purged_queue_is_empty(server: Server) -> None:
    url = server.queue()
    server.client.send_message(QueueUrl=url, MessageBody="x")
    server.client.purge_queue(QueueUrl=url)
    assert server.received(url) == []


def test_an_answer_is_dated(server: Server) -> None:
    answer = server.client.get_queue_attributes(QueueUrl=server.queue(), AttributeNames=["VisibilityTimeout"])
    date = answer["ResponseMetadata"]["HTTPHeaders"]["date"]
    assert date == format_datetime(parsedate_to_datetime(date), usegmt=True)
