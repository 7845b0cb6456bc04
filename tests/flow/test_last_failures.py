"""The memory that an instance has of the last failure of each message: what it keeps, and what gives way."""

from __future__ import annotations

from collections.abc import Mapping

from recoverable._flow.last_failures import MOST_MESSAGES, LastFailures
from recoverable._ladder.last_failure import LastFailure


def failure(at: int = 1, headers: Mapping[str, str] | None = None) -> LastFailure:
    return LastFailure(headers or {}, at, at)


def test_each_delivery_that_is_settled_without_a_run_is_noted_in_its_turn() -> None:
    memory = LastFailures()
    memory.keep("m", failure(at=3))

    found = [memory.find("m", receives, ran=False) for receives in (4, 5, 7)]

    assert [each and each.settled for each in found] == [4, 5, 5]


def test_a_delivery_whose_handler_ran_is_none_of_these() -> None:
    memory = LastFailures()
    memory.keep("m", failure(at=3))
    memory.find("m", 4, ran=True)

    assert memory.find("m", 5, ran=False) == failure(at=3)


def test_a_message_that_has_come_less_often_than_it_failed_is_another_one() -> None:
    memory = LastFailures()
    memory.keep("m", failure(at=3))

    assert memory.find("m", 2, ran=False) is None


def test_the_oldest_gives_way_to_the_thousand_and_first_message() -> None:
    memory = LastFailures()
    memory.keep("first", failure())
    memory.keep("second", failure())
    memory.keep("first", failure(at=2))

    for number in range(MOST_MESSAGES - 1):
        memory.keep(number, failure())

    assert (memory.find("second", 1, ran=False), memory.find("first", 2, ran=False)) == (None, failure(at=2))


def test_the_oldest_gives_way_where_all_are_more_than_1_mb() -> None:
    memory = LastFailures()
    for number in range(4):
        memory.keep(number, failure(headers={"trace": "ä" * 200_000}))  # 400,000 bytes

    assert [memory.find(number, 1, ran=False) is not None for number in range(4)] == [False, False, True, True]
