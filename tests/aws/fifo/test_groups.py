"""In which order the message groups of a batch run: as they came, and those last in which a record may have ended its process."""

from __future__ import annotations

import pytest

from builders import NOW, delivery
from recoverable.aws._fifo import MessageGroup, suspects_last

TIMEOUT = 30.0
"""Seconds of an invocation."""


def came(name: str, receives: int = 1, *, since: float = 0, round_: int = 0) -> MessageGroup:
    """Return a group of one record that was received so often, for the first time so many seconds ago."""
    first = str(round((NOW.timestamp() - since) * 1000))
    attributes = {"ApproximateReceiveCount": str(receives), "ApproximateFirstReceiveTimestamp": first}
    return [delivery(deliveries=receives, round=round_, native={"attributes": attributes}, group_id=name)]


def order(*groups: MessageGroup) -> str:
    """Return the names of the groups in the order in which they run."""
    return "".join(group[0].message.group_id or "" for group in suspects_last(list(groups), NOW, TIMEOUT))


def test_groups_that_come_for_the_first_time_run_as_they_came() -> None:
    assert order(came("b"), came("a"), came("c")) == "bac"


def test_what_may_have_ended_its_process_runs_last_and_what_came_less_often_before_what_came_more_often() -> None:
    assert order(came("a", 3, since=360), came("b", 2, since=180), came("c")) == "cba"


def test_what_came_back_sooner_than_after_the_end_of_a_process_was_handed_back_and_keeps_its_place() -> None:
    assert order(came("a", 3, since=50), came("b"), came("c", 3, since=60)) == "abc"


def test_a_record_that_does_not_tell_when_it_first_came_may_have_ended_its_process() -> None:
    group = came("a", 2)
    del group[0].native["attributes"]["ApproximateFirstReceiveTimestamp"]

    assert order(group, came("b")) == "ba"


@pytest.mark.parametrize(
    ("receives", "round_", "found"),
    [
        (2, 0, "abcd"),  # its first attempt as a suspect
        (3, 0, "bcda"),  # each attempt starts one place further
        (4, 0, "cdab"),
        (6, 0, "abcd"),
        (2, 1, "abcd"),
        (3, 1, "abcd"),  # it waited for round 1, which is no attempt
        (5, 2, "bcda"),
    ],
)
def test_suspects_that_came_equally_often_run_in_rotation(receives: int, round_: int, found: str) -> None:
    suspects = [came(name, receives, since=200 * receives, round_=round_) for name in "dbca"]

    assert order(*suspects) == found
