"""The group of a message without fault headers: who moved it to the error queue, as far as its broker says."""

from __future__ import annotations

import pytest

from recoverable_operate.errors import FailedMessage, group_of
from recoverable_operate.errors._aws.messages import failed_message

ORDERS = "arn:aws:sqs:eu-central-1:123456789012:orders"
UNKNOWN = "no reason recorded: dead-lettered by the broker, or sent here by something else"


def test_sqs_names_the_queue_of_what_it_dead_lettered() -> None:
    attributes = {"DeadLetterQueueSourceArn": ORDERS}
    record = {"messageId": "1", "body": "hello", "attributes": attributes, "messageAttributes": {}}

    assert group_of(failed_message(record)).title == "dead-lettered by the broker"


@pytest.mark.parametrize(
    ("source", "reason", "title"),
    [
        (ORDERS, None, "dead-lettered by the broker"),
        (None, "MaxDeliveryCountExceeded", "dead-lettered by the broker: MaxDeliveryCountExceeded"),
        (None, None, UNKNOWN),
    ],
)
def test_a_message_counts_as_dead_lettered_where_the_broker_says_so(
    source: str | None, reason: str | None, title: str
) -> None:
    message = FailedMessage("1", "1", {}, b"hello", source=source, reason=reason)

    assert (group_of(message).title, message.died) == (title, title != UNKNOWN)
