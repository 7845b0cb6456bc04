"""In which order the records of one invocation run: fresh ones together, the others alone and in rotation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from builders import NOW, delivery
from recoverable.aws.order import groups
from recoverable.recovery.delivery import Delivery


def came(
    name: str,
    deliveries: int = 1,
    *,
    native: str = "",
    held: int | None = None,
    prior_attempts: int = 0,
    round_: int = 0,
) -> Delivery:
    """Return a delivery of the message with that id, which is `held` for so many minutes."""
    return delivery(
        id=name,
        deliveries=deliveries,
        prior_attempts=prior_attempts,
        round=round_,
        native={"messageId": native or name},
        held_since=None if held is None else NOW - timedelta(minutes=held),
    )


def order(*deliveries: Delivery, fifo: bool = False) -> list[list[str]]:
    """Return the groups, by message id."""
    return [[delivery.message.id for delivery in batch] for batch in groups(list(deliveries), fifo=fifo)]


def test_fresh_records_run_together_as_they_came() -> None:
    assert order(came("c"), came("a"), came("b")) == [["c", "a", "b"]]


def test_the_fresh_record_that_is_held_longest_runs_first_and_what_was_never_held_last() -> None:
    fresh = [came("d"), came("c", held=1), came("b", held=9), came("a"), came("e", held=5)]

    assert order(*fresh) == [["b", "e", "c", "d", "a"]]


def test_a_record_delivered_earlier_runs_alone_after_the_fresh_ones() -> None:
    assert order(came("a", 2), came("c"), came("b", held=1)) == [["b", "c"], ["a"]]


def test_records_delivered_earlier_run_alone_however_long_they_are_held() -> None:
    assert order(came("b", 2, held=9), came("a", 2)) == [["a"], ["b"]]


@pytest.mark.parametrize(
    ("deliveries", "rotation"), [(2, "cdab"), (3, "dabc"), (4, "abcd"), (5, "bcda"), (6, "cdab"), (101, "bcda")]
)
def test_each_delivery_starts_one_place_further(deliveries: int, rotation: str) -> None:
    batch = [came(name, deliveries) for name in "dbca"]

    assert order(*batch) == [[name] for name in rotation]


@pytest.mark.parametrize(
    ("furthest", "rotation"),
    [
        (came("b", 5), "cab"),
        (came("b", 2, prior_attempts=3), "cab"),
        (came("b", 2, round_=3), "cab"),
        (came("b", 2, prior_attempts=1, round_=2), "cab"),
        (came("b", 2, prior_attempts=1, round_=3), "abc"),
        (came("b", 2), "cab"),
        (came("b", 3), "abc"),
    ],
)
def test_the_start_of_the_rotation_is_the_highest_of_deliveries_and_prior_attempts(
    furthest: Delivery, rotation: str
) -> None:
    assert order(came("a", 2), furthest, came("c", 2)) == [[name] for name in rotation]


def test_records_of_one_message_take_the_order_of_the_broker_s_ids() -> None:
    batch = groups([came("a", 2, native="2"), came("a", 2, native="1")], fifo=False)

    assert [delivery.message.native["messageId"] for (delivery,) in batch] == ["1", "2"]


def test_the_order_does_not_depend_on_how_the_batch_was_put_together() -> None:
    batch = [came("a", 3), came("b", 2), came("c", 4)]

    assert order(*batch) == order(*reversed(batch)) == order(batch[1], batch[2], batch[0])


@pytest.mark.parametrize("number", [2, 3, 5, 10])
def test_each_record_runs_first_once_in_as_many_deliveries_as_there_are_records(number: int) -> None:
    names = "abcdefghij"[:number]

    first = [order(*(came(name, deliveries) for name in names))[0] for deliveries in range(2, 2 + number)]

    assert sorted(first) == [[name] for name in names]


def test_the_records_of_a_fifo_queue_run_alone_in_the_queue_s_order() -> None:
    batch: Sequence[Delivery] = [came("c", 2), came("a"), came("b", 3, held=1)]

    assert order(*batch, fifo=True) == [["c"], ["a"], ["b"]]
