"""What a record's counters and dates say about where its message is on the ladder, whatever a sender wrote there."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from aws.records import delivered, record
from aws.shapes import ID, wrapped
from builders import platform, recoverability
from recoverable._ladder.delivery import Delivery
from recoverable._sqs.queues import queue_from_arn

A_DATE = "2026-03-04 05:06:07:000089 Z"
THAT_DATE = datetime(2026, 3, 4, 5, 6, 7, 89, tzinfo=UTC)
OURS = {"Recoverable.Origin": "native-0"}


def read(one: dict[str, Any], *, counter: Any = "native", redelivers_only: bool = False) -> Delivery:
    """Return the delivery, with two immediate and two delayed retries."""
    queue = queue_from_arn(one["eventSourceARN"])
    return delivered(one, queue, recoverability(2, 2), platform(counter, redelivers_only=redelivers_only))


@pytest.mark.parametrize("system", [None, {}, {"ApproximateReceiveCount": ""}, {"ApproximateReceiveCount": "many"}])
def test_a_missing_count_of_deliveries_reads_as_one(system: dict[str, str] | None) -> None:
    assert read({**record(), "attributes": system}).deliveries == 1


@pytest.mark.parametrize("count", ["10001", "2000000000", "9" * 5000], ids=["one more", "two billion", "endless"])
def test_a_count_of_deliveries_beyond_all_counting_is_no_first_delivery(count: str) -> None:
    """As one it would be retried at once, come back with the next such count, and go on so without a pause."""
    delivery = read({**record(), "attributes": {"ApproximateReceiveCount": count}})

    assert (delivery.deliveries, delivery.unreported) == (10_000, True)


COUNTS = [  # written, read
    ("0", 0),
    ("3", 3),
    (" 3 ", 3),
    ("10000", 10_000),
    ("10001", 0),
    ("-1", 0),
    ("+1", 0),
    ("1.5", 0),
    ("1e3", 0),
    ("", 0),
    ("three", 0),
    ("٣", 0),
    ("³", 0),
    ("9" * 5000, 0),
    (3, 3),
    (-3, 0),
    (True, 0),
    ([3], 0),
    (None, 0),
]


@pytest.mark.parametrize(("written", "count"), COUNTS)
@pytest.mark.parametrize("shape", ["attribute", "wrapper"])
def test_a_counter_that_is_no_count_reads_as_0(written: object, count: int, shape: str) -> None:
    headers = {ID: "7", **OURS, "NServiceBus.Retries": written, "NServiceBus.FLRetries": written}
    delivery = read(record(headers=headers) if shape == "attribute" else record(wrapped(headers)))

    assert (delivery.message.round, delivery.prior_attempts) == (count, count)


DATES = [  # written, read
    (A_DATE, THAT_DATE),
    ("9999-12-31 23:59:59:999999 Z", datetime.max.replace(tzinfo=UTC)),
    ("0001-01-01 00:00:00:000000 Z", datetime.min.replace(tzinfo=UTC)),
    ("0000-01-01 00:00:00:000000 Z", None),
    ("2026-13-01 00:00:00:000000 Z", None),
    ("2026-02-30 00:00:00:000000 Z", None),
    ("2026-03-04T05:06:07Z", None),
    ("tomorrow", None),
    ("", None),
    (17, None),
]


@pytest.mark.parametrize(("written", "moment"), DATES)
def test_a_malformed_date_is_absent(written: object, moment: datetime | None) -> None:
    delivery = read(record(headers={"Recoverable.DueAt": written, "Recoverable.HeldSince": written}))

    assert (delivery.due_at, delivery.held_since) == (moment, moment)


PLACES = [  # counter, carried, deliveries: attempt, unreported; of three attempts a round
    ("native", 0, 1, 1, False),
    ("native", 0, 3, 3, False),
    ("native", 0, 5, 5, False),
    ("native", 0, 6, 6, True),
    ("native", 2, 1, 3, False),
    ("native", 2, 3, 5, False),
    ("native", 2, 4, 6, True),
    ("native", 10_000, 1, 10_001, False),
    ("header", 0, 1, 1, False),
    ("header", 0, 3, 1, False),
    ("header", 0, 4, 1, True),
    ("header", 2, 1, 3, False),
    ("header", 2, 4, 3, True),
]


@pytest.mark.parametrize(("counter", "carried", "deliveries", "attempt", "unreported"), PLACES)
def test_the_counts_give_the_attempt_and_whether_too_many_deliveries_had_no_recorded_outcome(
    *, counter: str, carried: int, deliveries: int, attempt: int, unreported: bool
) -> None:
    headers = {**OURS, "NServiceBus.FLRetries": str(carried)}
    delivery = read(record(deliveries=deliveries, headers=headers), counter=counter)

    assert (delivery.message.attempt, delivery.unreported) == (attempt, unreported)


FIFO = [  # deliveries: round, attempt, unreported; of nine attempts in all
    (1, 0, 1, False),
    (3, 0, 3, False),
    (4, 1, 1, False),
    (9, 2, 3, False),
    (11, 2, 3, False),
    (12, 2, 3, True),
    (10_000, 2, 3, True),
]


@pytest.mark.parametrize(("deliveries", "round_", "attempt", "unreported"), FIFO)
def test_on_a_fifo_queue_the_broker_s_count_gives_round_and_attempt(
    *, deliveries: int, round_: int, attempt: int, unreported: bool
) -> None:
    claims = {"NServiceBus.Retries": "1", "NServiceBus.FLRetries": "1", "Recoverable.DueAt": A_DATE}
    delivery = read(record(deliveries=deliveries, headers=claims), redelivers_only=True)

    assert (delivery.message.round, delivery.message.attempt, delivery.unreported) == (round_, attempt, unreported)
    assert (delivery.prior_attempts, delivery.due_at) == (0, None)
