"""Test that the local SQS hands out messages of a deep queue about as quickly as those of a short one."""

from __future__ import annotations

import pytest
from moto.sqs.models import Message

from recoverable_local.lambda_host.services.broker import embedded_broker
from recoverable_local.lambda_host.services.sqs import Sqs

DEPTH = 200


def test_a_receive_of_ten_looks_at_each_message_of_the_queue_twice_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    visible = Message.visible

    def counted(message: Message) -> bool:
        looks.append(message)
        return bool(visible.__get__(message))

    with embedded_broker() as url:
        sqs = Sqs(url, region="us-east-1")
        queue, _ = sqs.create("deep", fifo=False, attributes={})
        for _ in range(DEPTH // 10):
            entries = [{"Id": str(number), "MessageBody": "x"} for number in range(10)]
            sqs.client.send_message_batch(QueueUrl=queue, Entries=entries)  # type: ignore[arg-type]
        monkeypatch.setattr(Message, "visible", property(counted))

        received = sqs.receive(queue, max_messages=10, wait=0)

        monkeypatch.undo()
        sqs.delete_queue(queue)
        sqs.close()
    assert (len(received), len(looks) <= 2 * DEPTH) == (10, True)
