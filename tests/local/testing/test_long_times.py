"""Check in virtual time what takes real brokers minutes or days: retention, deduplication, the longest delays."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local.testing.ladders import happened, seconds
from recoverable_local.testing import SqsWorld


def test_a_message_is_deleted_after_its_retention(sqs_world: SqsWorld) -> None:
    sqs_world.create_queue("orders", retention=timedelta(days=4))
    sqs_world.send("orders", "x")
    sqs_world.run(for_=timedelta(days=4) - seconds(1))
    before = len(sqs_world.queue("orders"))
    sqs_world.run(for_=1)
    assert (before, sqs_world.queue("orders")) == (1, [])


def test_a_dead_letter_keeps_the_age_that_it_had(sqs_world: SqsWorld) -> None:
    sqs_world.create_queue("dead", retention=timedelta(days=2))
    sqs_world.create_queue(
        "orders", visibility_timeout=timedelta(hours=12), dead_letter_queue="dead", max_receive_count=2
    )
    sqs_world.serve("orders", lambda _event, _context: 1 / 0)
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert [at for at, _, _ in happened(sqs_world, "dead-lettered")] == [timedelta(days=1)]
    sqs_world.run(for_=timedelta(days=1))
    assert sqs_world.queue("dead") == []


def test_a_duplicate_is_a_message_of_its_own_after_five_minutes(sqs_world: SqsWorld) -> None:
    for _ in range(3):
        sqs_world.send("orders.fifo", "x", group_id="a", deduplication_id="1")
        sqs_world.run(for_=299)
    assert len(sqs_world.queue("orders.fifo")) == 2


def test_a_message_that_nobody_can_handle_is_redelivered_until_its_retention(sqs_world: SqsWorld) -> None:
    sqs_world.create_queue("orders", visibility_timeout=timedelta(hours=12), retention=timedelta(days=4))
    sqs_world.serve("orders", lambda _event, _context: 1 / 0)
    sqs_world.send("orders", "x")
    sqs_world.run()
    assert len(happened(sqs_world, "received")) == 8
    assert happened(sqs_world, "expired") == [(timedelta(days=4), "expired", "kept for 345600 s")]


def test_the_longest_visibility_counts_from_the_receive(sqs_world: SqsWorld) -> None:
    sqs_world.create_queue("orders")
    sqs_world.send("orders", "x")
    [message] = sqs_world.client.receive_message(QueueUrl="orders")["Messages"]
    hide: Any = {"QueueUrl": "orders", "ReceiptHandle": message["ReceiptHandle"]}
    sqs_world.client.change_message_visibility(**hide, VisibilityTimeout=43_200)
    sqs_world.run(for_=3_600)
    with pytest.raises(ClientError, match="43200 seconds"):
        sqs_world.client.change_message_visibility(**hide, VisibilityTimeout=43_200 - 3_599)


def test_a_fifo_dead_letter_queue_counts_the_age_anew(sqs_world: SqsWorld) -> None:
    sqs_world.create_queue("orders.fifo", dead_letter_queue="dead.fifo", max_receive_count=1)
    sqs_world.serve("orders.fifo", lambda _event, _context: 1 / 0, batch_size=1)
    sqs_world.send("orders.fifo", "x", group_id="a", deduplication_id="1")
    began = sqs_world.now
    sqs_world.run()
    [message] = sqs_world.queue("dead.fifo")
    assert message.sent_at - began == seconds(30)


def test_the_attributes_of_a_queue_can_be_read_and_set(sqs_world: SqsWorld) -> None:
    sqs_world.create_queue("dead")
    policy = {"deadLetterTargetArn": "arn:aws:sqs:eu-central-1:123456789012:dead", "maxReceiveCount": 3}
    given = {"VisibilityTimeout": "90", "RedrivePolicy": json.dumps(policy)}
    url = sqs_world.client.create_queue(QueueName="orders", Attributes=given)["QueueUrl"]  # type: ignore[arg-type]  # as users write it
    sqs_world.client.set_queue_attributes(QueueUrl=url, Attributes={"DelaySeconds": "5"})
    found: Any = sqs_world.client.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert {name: found[name] for name in (*given, "DelaySeconds")} == given | {"DelaySeconds": "5"}
