"""Test the arguments of `schedule`: what cannot be scheduled is refused at once."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builders import seconds
from recoverable.timeouts import Store, Timeouts
from recoverable.timeouts._store import Selection
from waiting.rows import NOW
from waiting.world import HOUR, Shop

WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({}, TypeError, "schedule(at, delay): write one of the two"),
    ({"at": NOW, "delay": HOUR}, TypeError, "schedule(at, delay): write one of the two"),
    ({"delay": -seconds(1)}, ValueError, "schedule(delay) is -1 day, 23:59:59; write a timedelta from 0"),
    ({"delay": 3600}, TypeError, "schedule(delay) is 3600; write a timedelta"),
    ({"delay": timedelta.max}, ValueError, "until the year 2286"),
    ({"at": datetime(2030, 1, 1)}, ValueError, "of no zone; write datetime(..., tzinfo=UTC)"),  # noqa: DTZ001  # the mistake
    ({"at": datetime(2287, 1, 1, tzinfo=UTC)}, ValueError, "write a time until 2286-11-20"),
    ({"at": "tomorrow"}, TypeError, "schedule(at) is 'tomorrow'; write a datetime"),
    ({"delay": HOUR, "key": "reminder-7"}, TypeError, "schedule(key) goes with at=, for a delay counts from"),
    ({"delay": HOUR, "to": ""}, ValueError, "schedule(to) is '', and '' is no queue's name; write 1 to 80"),
    ({"delay": HOUR, "to": "Shop.Orders"}, ValueError, "'Shop.Orders' is no queue's name"),
    ({"delay": HOUR, "to": "orders\n"}, ValueError, "'orders\\n' is no queue's name"),
    ({"delay": HOUR, "to": "o" * 81}, ValueError, f"'{'o' * 81}' is no queue's name"),
    ({"delay": HOUR, "to": f"{'o' * 76}.fifo"}, ValueError, "o.fifo' is no queue's name"),
    ({"delay": HOUR, "to": "arn:aws:sqs:::orders"}, ValueError, "is no ARN of an SQS queue"),
    (
        {"delay": HOUR, "to": "https://sqs.eu-west-1.amazonaws.com/123456789012/a b"},
        ValueError,
        "'a b' is no queue's name",
    ),
    ({"delay": HOUR, "to": None}, TypeError, "schedule(to) is None"),
    ({"delay": HOUR, "to": "arn:aws:sns:eu-west-1:123456789012:x"}, ValueError, "is no ARN of an SQS queue"),
    ({"delay": HOUR, "to": "https://"}, ValueError, "schedule(to) is 'https://', and '' is no queue's name; write"),
    ({"delay": HOUR, "correlation": "é" * 1_001}, ValueError, "the correlation is of 2,002 bytes; write at"),
    ({"delay": HOUR, "correlation": "\ud800"}, ValueError, "the correlation holds half a surrogate pair"),
    ({"delay": HOUR, "body": b"raw"}, TypeError, "schedule(body) is bytes; SQS takes text"),
    ({"delay": HOUR, "body": ""}, ValueError, "schedule(body) is empty"),
    ({"delay": HOUR, "body": object()}, TypeError, "not JSON serializable"),
    ({"delay": HOUR, "body": "a\x00b"}, ValueError, "holds '\\x00', which SQS does not take"),
    ({"delay": HOUR, "body": "a\ud800b"}, ValueError, "holds '\\ud800', which SQS does not take"),
    ({"delay": HOUR, "body": "x" * 1_048_576}, ValueError, "SQS takes 1,048,576"),
]


@pytest.mark.parametrize(("given", "kind", "what"), WRONG, ids=[what for _, _, what in WRONG])
def test_what_cannot_be_scheduled_is_refused_at_once(
    local_store: Store, given: dict[str, Any], kind: type[Exception], what: str
) -> None:
    shop = Shop(local_store, receiving=False)

    with pytest.raises(kind, match=re.escape(what)):
        shop.timeouts.schedule(**{"to": "orders", "body": "hello", **given})
    assert shop.bodies("orders") == []


@pytest.mark.parametrize(
    "to",
    [
        "o" * 80,
        "Shop-Orders_2",
        "orders.fifo",
        f"{'o' * 75}.fifo",
        "arn:aws:sqs:eu-west-1:123456789012:orders",
        "https://sqs.eu-west-1.amazonaws.com/123456789012/orders.fifo",
        "http://127.0.0.1:4566/000000000000/orders",
    ],
)
def test_what_sqs_can_call_a_queue_is_taken(local_store: Store, to: str) -> None:
    Shop(local_store, receiving=False).timeouts.schedule(to, "hello", delay=HOUR)

    assert [row.timeout.to for page in local_store.scan(Selection()) for row in page if row.timeout] == [to]


@pytest.mark.parametrize(
    ("longest", "kind"), [(timedelta(seconds=901), ValueError), (-seconds(1), ValueError), (900, TypeError)], ids=str
)
def test_a_limit_that_sqs_does_not_have_is_refused(local_store: Store, longest: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"Timeouts\(longest_native\)"):
        Timeouts(local_store, longest_native=longest)
