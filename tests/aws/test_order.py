"""In which order the records of one invocation run: fresh ones together, the others alone and in rotation."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from builders import NOW, delivery
from flow.invocations import invocation
from recoverable import Message, Recoverability
from recoverable._flow.invocation import Invocation
from recoverable._ladder.delivery import Delivery
from recoverable._sqs.queues import Queue
from recoverable.aws._batch import Batch
from recoverable.aws._groups import groups_of
from recoverable.aws._order import delay_of_hand_back, groups
from recoverable.aws._settings import SqsSettings
from recoverable.aws._time_budget import TimeBudget
from recoverable.hosting import Deadline, Environment


def came(
    name: str,
    deliveries: int = 1,
    *,
    native: str = "",
    held: int | None = None,
    stopped: bool = False,
    prior_attempts: int = 0,
    round_: int = 0,
) -> Delivery:
    """Return a delivery of the message with that id, which is `held` for so many minutes."""
    one = delivery(
        id=name,
        deliveries=deliveries,
        prior_attempts=prior_attempts,
        round=round_,
        native={"messageId": native or name},
        held_since=None if held is None else NOW - timedelta(minutes=held),
        stopped=stopped,
    )
    one.suspect = deliveries > 1 or prior_attempts > 0
    return one


def at_limit(one: Delivery) -> Delivery:
    """Return a delivery whose next unreported one would be its failure."""
    one.at_limit = True
    return one


def batch(messages: list[Message], restored: list[Delivery], running: Invocation) -> Batch:
    """Return the records of one invocation without a time limit."""
    time, environment = TimeBudget(None, timedelta(seconds=3)), Environment(None, lambda: NOW, Deadline)
    queue = Queue(region="eu-central-1", account="123456789012", name="orders")
    return Batch(
        messages,
        restored,
        queue,
        running,
        time,
        environment,
        settings=SqsSettings("SqsEndpoint", Recoverability()),
        partial=True,
        hosted=None,
    )


def order(*deliveries: Delivery) -> list[list[str]]:
    """Return the groups that run, by message id."""
    return [ids for ids, runs in planned(*deliveries) if runs]


def planned(*deliveries: Delivery, is_time_over: Callable[[], bool] = lambda: False) -> list[tuple[list[str], bool]]:
    """Return all groups by message id, and whether they run."""
    found = groups(list(deliveries), is_time_over)
    return [([delivery.message.id for delivery in group], runs) for group, runs in found]


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
    batch = groups([came("a", 2, native="2"), came("a", 2, native="1")], lambda: False)

    assert [delivery.message.native["messageId"] for (delivery,), _ in batch] == ["1", "2"]


def test_the_order_does_not_depend_on_how_the_batch_was_put_together() -> None:
    batch = [came("a", 3), came("b", 2), came("c", 4)]

    assert order(*batch) == order(*reversed(batch)) == order(batch[1], batch[2], batch[0])


@pytest.mark.parametrize("number", [2, 3, 5, 10])
def test_each_record_runs_first_once_in_as_many_deliveries_as_there_are_records(number: int) -> None:
    names = "abcdefghij"[:number]

    first = [order(*(came(name, deliveries) for name in names))[0] for deliveries in range(2, 2 + number)]

    assert sorted(first) == [[name] for name in names]


def test_a_copy_that_carries_attempts_is_a_suspect_though_it_comes_for_the_first_time() -> None:
    assert order(came("a", prior_attempts=1), came("b"), came("c")) == [["b", "c"], ["a"]]


def test_what_needs_no_handler_is_settled_before_any_handler_runs() -> None:
    not_due, past_its_limit, running = came("a"), came("c", 4), invocation()
    not_due.due_at, past_its_limit.unreported = NOW + timedelta(minutes=1), True
    restored = [not_due, came("d", 2), past_its_limit]
    messages = [came("b").message, *(each.message for each in restored)]
    found = groups_of(batch(messages, restored, running), [])

    assert [([each.id for each in group], runs) for group, runs in found] == [
        (["a", "c"], False),
        (["b"], True),
        (["d"], True),
    ]


def test_one_at_its_limit_is_tried_first_and_alone_and_the_others_of_its_kind_are_handed_back_before() -> None:
    endangered = [at_limit(came(name, 3)) for name in "cab"]

    assert planned(came("fresh"), *endangered, came("z", 2)) == [
        (["c", "b"], False),
        (["a"], True),
        (["fresh"], True),
        (["z"], True),
    ]


def test_of_those_at_their_limit_the_one_that_is_held_longest_is_tried() -> None:
    endangered = [at_limit(came("a", 3, held=1)), at_limit(came("b", 3, held=9)), at_limit(came("c", 3))]

    assert order(*endangered) == [["b"]]


def test_one_that_was_stopped_is_tried_first_where_none_is_at_its_limit() -> None:
    assert planned(came("b"), came("d", stopped=True), came("c", stopped=True)) == [
        (["d"], False),
        (["c"], True),
        (["b"], True),
    ]


def test_one_at_its_limit_is_tried_before_one_that_was_stopped() -> None:
    assert planned(came("a", stopped=True), at_limit(came("b", 3))) == [(["a"], False), (["b"], True)]


def test_suspects_for_which_no_time_is_left_are_handed_back_together() -> None:
    answers = iter([False, True])

    assert planned(*(came(name, 2) for name in "abc"), is_time_over=lambda: next(answers)) == [
        (["c"], True),
        (["a", "b"], False),
    ]


def test_those_at_their_limit_come_back_apart_and_others_at_once() -> None:
    assert [delay_of_hand_back(at_limit(came("a", 3)), place) for place in (0, 1, 2, 2_000)] == [
        timedelta(0), timedelta(seconds=1), timedelta(seconds=2), timedelta(minutes=15),
    ]  # fmt: skip
    assert delay_of_hand_back(came("a", stopped=True), 2) == timedelta(0)
