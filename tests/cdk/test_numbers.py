"""The numbers of a queue follow from the retries of its function."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from recoverable_cdk.numbers import Numbers, visibility_timeout


class Time(timedelta):
    """CDK's Duration, as far as the numbers use it."""

    def to_seconds(self) -> float:
        return self.total_seconds()

    @classmethod
    def seconds(cls, seconds: float) -> Any:  # type: ignore[override]
        return cls(0, seconds)


@pytest.mark.parametrize(
    ("immediate", "delayed", "fifo", "receives"),
    [(5, 3, False, 50), (60, 3, False, 66), (994, 0, False, 1000), (5, 3, True, 34), (0, 0, True, 11)],
)
def test_receives_have_room_for_the_ladder(immediate: int, delayed: int, fifo: bool, receives: int) -> None:  # noqa: FBT001
    assert Numbers(immediate, delayed, fifo=fifo).max_receive_count == receives


@pytest.mark.parametrize(
    ("immediate", "delayed", "fifo", "said"),
    [
        (995, 0, False, r"RecoverableQueue\(immediate_retries\) is 995; write 0 to 994"),
        (-1, 0, False, r"RecoverableQueue\(immediate_retries\) is -1; write 0 to 994"),
        (5, 1001, False, r"RecoverableQueue\(delayed_retries\) is 1001; write 0 to 1000"),
        (99, 9, True, "1000 attempts need a maxReceiveCount of 1010, and SQS takes 1000 at most; write fewer retries"),
    ],
)
def test_retries_that_no_queue_can_count_are_refused(immediate: int, delayed: int, fifo: bool, said: str) -> None:  # noqa: FBT001
    with pytest.raises(ValueError, match=said):
        Numbers(immediate, delayed, fifo=fifo)


def test_a_message_is_hidden_for_six_time_outs_and_the_window() -> None:
    assert visibility_timeout(Time(0, 30), Time(0, 5)) == Time(0, 185)
    assert visibility_timeout(Time(0, 30), None) == Time(0, 180)


@pytest.mark.parametrize(("immediate", "timeout", "days"), [(5, 3, 4), (5, 900, 4), (100, 900, 7)])
def test_a_queue_keeps_messages_for_longer_than_its_receives_take(immediate: int, timeout: int, days: int) -> None:
    assert Numbers(immediate, 3, fifo=False).retention_days(visibility_timeout(Time(0, timeout), None)) == days


def test_receives_that_take_longer_than_messages_are_kept_are_refused() -> None:
    with pytest.raises(ValueError, match="1000 receives of 5400 s may take 63 days"):
        Numbers(994, 0, fifo=False).retention_days(visibility_timeout(Time(0, 900), None))
