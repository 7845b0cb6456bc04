"""What a rate limit can be made of."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from builders import seconds
from recoverable import RateLimit
from recoverable._rate_limit.store import MemoryCircuit


def started() -> None:
    """Do nothing."""


async def started_later() -> None:
    """Do nothing, as a coroutine."""


def test_the_defaults_are_those_of_nservicebus_and_a_day_of_holding() -> None:
    limit = RateLimit(10)

    assert (limit.wait, limit.max_hold) == (timedelta(seconds=1), timedelta(hours=24))
    assert limit.longest_wait == timedelta(minutes=5)
    assert (limit.on_started, limit.on_ended, limit.counts, limit.store) == (None, None, None, None)


def test_equal_settings_are_equal() -> None:
    store = MemoryCircuit()
    one, other = (RateLimit(3, seconds(2), on_started=started, store=store) for _ in range(2))

    assert one == other


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"consecutive_failures": 0}, ValueError, "write a whole number from 1 to 10,000"),
    ({"consecutive_failures": -1}, ValueError, "consecutive_failures"),
    ({"consecutive_failures": 10_001}, ValueError, "consecutive_failures"),
    ({"consecutive_failures": True}, TypeError, "consecutive_failures"),
    ({"consecutive_failures": 2.0}, TypeError, "consecutive_failures"),
    ({"wait": seconds(-1)}, ValueError, "RateLimit\\(wait\\) is -0:00:01"),
    ({"wait": seconds(901)}, ValueError, "write a timedelta from 0 to 0:15:00"),
    ({"wait": 1}, TypeError, "such as timedelta"),
    ({"max_hold": seconds(-1)}, ValueError, "max_hold"),
    ({"max_hold": timedelta(days=366)}, ValueError, "max_hold"),
    ({"longest_wait": seconds(4)}, ValueError, "RateLimit\\(longest_wait\\) is 0:00:04; write 0:00:05 to 0:15:00"),
    ({"longest_wait": seconds(901)}, ValueError, "longest_wait"),
    ({"longest_wait": 300}, TypeError, "longest_wait"),
    ({"on_started": "page"}, TypeError, "write a function without arguments"),
    ({"on_started": started_later}, TypeError, "by a plain def"),
    ({"on_ended": started_later}, TypeError, "on_ended"),
    ({"counts": ValueError}, TypeError, "write a function from exception to bool"),
    ({"store": "circuits"}, TypeError, "write DynamoDbCircuit"),
]


@pytest.mark.parametrize(("settings", "error", "says"), REFUSED, ids=[says for *_, says in REFUSED])
def test_what_cannot_work_is_refused_when_it_is_written(
    settings: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        RateLimit(**{"consecutive_failures": 3, **settings})


@pytest.mark.parametrize("settings", [{"wait": seconds(0)}, {"wait": seconds(900)}, {"max_hold": seconds(0)}])
def test_the_bounds_themselves_are_allowed(settings: dict[str, Any]) -> None:
    assert isinstance(RateLimit(1, **settings), RateLimit)
