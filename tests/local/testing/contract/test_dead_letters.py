"""Check that a message received too often goes to the dead-letter queue unchanged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local.testing.contract.servers import Server


def dead_letter(server: Server) -> tuple[Any, Any, str]:
    """Return a message at its only receive, the same message in the dead-letter queue, and the source's ARN."""
    graves = server.queue()
    policy = json.dumps({"deadLetterTargetArn": server.arn(graves), "maxReceiveCount": 1})
    url = server.queue(RedrivePolicy=policy)
    attributes: Any = {"a": {"DataType": "String", "StringValue": "1"}}
    server.client.send_message(QueueUrl=url, MessageBody="x", MessageAttributes=attributes)
    [alive] = server.received(url, VisibilityTimeout=0)
    assert server.received(url, VisibilityTimeout=0) == []
    [dead] = server.arriving(graves)
    return alive, dead, server.arn(url)


def test_a_message_received_too_often_keeps_id_text_and_attributes(server: Server) -> None:
    alive, dead, _ = dead_letter(server)
    fields = ("MessageId", "Body", "MessageAttributes")
    assert [dead.get(field) for field in fields] == [alive[field] for field in fields]


def test_a_message_received_too_often_keeps_the_time_of_its_send(server: Server) -> None:
    alive, dead, _ = dead_letter(server)
    assert dead["Attributes"]["SentTimestamp"] == alive["Attributes"]["SentTimestamp"]


def test_a_dead_letter_tells_where_it_came_from(server: Server) -> None:
    _, dead, source = dead_letter(server)
    assert dead["Attributes"].get("DeadLetterQueueSourceArn") == source


def test_a_dead_letter_queue_tells_whose_it_is(server: Server) -> None:
    graves = server.queue()
    policy = json.dumps({"deadLetterTargetArn": server.arn(graves), "maxReceiveCount": 3})
    url = server.queue(RedrivePolicy=policy)
    assert server.client.list_dead_letter_source_queues(QueueUrl=graves)["queueUrls"] == [url]


@pytest.mark.parametrize("fifo", [False, True], ids=["standard", "fifo"])
def test_a_dead_letter_queue_of_the_other_kind_is_refused_for_one_that_is(server: Server, fifo: bool) -> None:  # noqa: FBT001
    policy = json.dumps({"deadLetterTargetArn": server.arn(server.queue(fifo=not fifo)), "maxReceiveCount": 3})

    with pytest.raises(ClientError) as refused:
        server.queue(fifo=fifo, RedrivePolicy=policy)

    assert refused.value.response["Error"]["Code"] == "InvalidParameterValue"
