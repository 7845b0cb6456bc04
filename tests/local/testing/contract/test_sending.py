"""Check that a message arrives unchanged, and when it should."""

from __future__ import annotations

from typing import Any

from local.testing.contract.servers import Server


def test_a_message_arrives_with_its_text_and_attributes(server: Server) -> None:
    url = server.queue()
    attributes: Any = {
        "text": {"DataType": "String", "StringValue": "ü"},
        "number": {"DataType": "Number", "StringValue": "1.5"},
        "bytes": {"DataType": "Binary", "BinaryValue": b"\x00\xff"},
        "labelled": {"DataType": "String.custom", "StringValue": "1"},
    }
    sent = server.client.send_message(QueueUrl=url, MessageBody="é😀", MessageAttributes=attributes)
    [message] = server.received(url)
    assert message["MessageId"] == sent["MessageId"]
    assert (message["Body"], message["MessageAttributes"]) == ("é😀", attributes)


def test_digests_are_told_with_which_a_client_can_check_what_arrived(server: Server) -> None:
    url = server.queue()
    attributes: Any = {
        "b": {"DataType": "String.x", "StringValue": "ü"},
        "a": {"DataType": "Binary", "BinaryValue": b"\x00\xff"},
    }
    sent = server.client.send_message(QueueUrl=url, MessageBody="é", MessageAttributes=attributes)
    [message] = server.received(url)
    digests = "66ddcd97cfdeabb2f6fb8a999b4bc76f", "6133b9e634cdeb5cf2401eca537e0f7a"
    assert (sent["MD5OfMessageBody"], sent["MD5OfMessageAttributes"]) == digests
    assert (message["MD5OfBody"], message["MD5OfMessageAttributes"]) == digests


def test_attributes_come_only_when_asked_for(server: Server) -> None:
    url = server.queue()
    texts: Any = {name: {"DataType": "String", "StringValue": "1"} for name in ("a.x", "a.y", "b")}
    server.client.send_message(QueueUrl=url, MessageBody="x", MessageAttributes=texts)
    [message] = server.received(url, MessageAttributeNames=["a.*"], MessageSystemAttributeNames=["SenderId"])
    assert (set(message["MessageAttributes"]), set(message["Attributes"])) == ({"a.x", "a.y"}, {"SenderId"})


def test_a_delayed_message_is_hidden_until_its_time(server: Server) -> None:
    url = server.queue()
    server.client.send_message(QueueUrl=url, MessageBody="later", DelaySeconds=60)
    hidden = server.received(url) == []
    server.client.send_message(QueueUrl=url, MessageBody="soon", DelaySeconds=1)
    server.wait(1)
    assert (hidden, [message["Body"] for message in server.arriving(url)]) == (True, ["soon"])


def test_each_entry_of_a_batch_has_its_own_delay(server: Server) -> None:
    url = server.queue()
    entries: Any = [
        {"Id": "now", "MessageBody": "now"},
        {"Id": "soon", "MessageBody": "soon", "DelaySeconds": 1},
        {"Id": "later", "MessageBody": "later", "DelaySeconds": 60},
    ]
    server.client.send_message_batch(QueueUrl=url, Entries=entries)
    first = server.arriving(url, MaxNumberOfMessages=1)
    server.wait(1)
    both = [*first, *server.arriving(url, MaxNumberOfMessages=1)]
    assert sorted(message["Body"] for message in both) == ["now", "soon"]


def test_a_queue_delays_what_does_not_say_otherwise(server: Server) -> None:
    url = server.queue(DelaySeconds="60")
    server.client.send_message(QueueUrl=url, MessageBody="hidden")
    server.client.send_message(QueueUrl=url, MessageBody="shown", DelaySeconds=0)
    assert [message["Body"] for message in server.received(url)] == ["shown"]


def test_a_standard_queue_keeps_the_group_of_a_message(server: Server) -> None:
    url = server.queue()
    server.client.send_message(QueueUrl=url, MessageBody="x", MessageGroupId="tenant")
    assert [message["Attributes"].get("MessageGroupId") for message in server.received(url)] == ["tenant"]


def test_the_trace_header_travels_with_a_message(server: Server) -> None:
    url, trace = server.queue(), "Root=1-5759e988-bd862e3fe1be46a994272793"
    header: Any = {"AWSTraceHeader": {"DataType": "String", "StringValue": trace}}
    server.client.send_message(QueueUrl=url, MessageBody="x", MessageSystemAttributes=header)
    assert [message["Attributes"].get("AWSTraceHeader") for message in server.received(url)] == [trace]


def test_a_queue_tells_how_much_is_visible_in_flight_and_delayed(server: Server) -> None:
    url = server.queue()
    for delay in (0, 0, 0, 60):
        server.client.send_message(QueueUrl=url, MessageBody="x", DelaySeconds=delay)
    server.received(url, MaxNumberOfMessages=1)
    found = server.attributes(url)
    names = ("", "NotVisible", "Delayed")
    assert [found[f"ApproximateNumberOfMessages{name}"] for name in names] == ["2", "1", "1"]
