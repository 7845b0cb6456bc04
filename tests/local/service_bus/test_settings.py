"""Test that settings which Service Bus refuses are refused."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from recoverable_local.service_bus import Queue, Subscription, Topic

DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"duplicate_detection_window": timedelta(seconds=19)},
            "duplicate_detection_window is 0:00:19; write 0:00:20 to 7 days",
        ),
        ({"duplicate_detection_window": 8 * DAY}, "duplicate_detection_window is 8 days"),
        (
            {"default_message_time_to_live": -DAY},
            "default_message_time_to_live is -1 day, 0:00:00; write more than nothing",
        ),
        ({"max_delivery_count": 2_001}, "max_delivery_count is 2001; write 1 or more, up to 2000"),
        (
            {"requires_session": True, "forward_to": "a"},
            "'orders' requires sessions and forwards to 'a'; leave out one of the two",
        ),
    ],
)
def test_a_queue_is_refused_that_service_bus_refuses(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Queue("orders", **settings)


def test_a_topic_detects_duplicates_as_long_as_service_bus_takes() -> None:
    with pytest.raises(ValueError, match="duplicate_detection_window is 0:00:01"):
        Topic("events", duplicate_detection_window=timedelta(seconds=1))


@pytest.mark.parametrize("name", ["a b", "-a", "a?", "a" * 51, ""])
def test_a_subscriptions_name_is_one_of_service_bus(name: str) -> None:
    with pytest.raises(ValueError, match="the subscription's name is"):
        Subscription(name)


def test_a_name_has_its_length() -> None:
    with pytest.raises(ValueError, match="at most 260"):
        Queue("a" * 261)
