"""When time ends the delayed retries: the 24 hours of NServiceBus, and `max_total_time`."""

from __future__ import annotations

from datetime import timedelta

import pytest

from builders import ERROR_QUEUE, NOW, error_context, recoverability, seconds, written
from recoverable import Action, DelayedRetry, ImmediateRetry, MoveToError, default_policy
from recoverable.headers import DELAYED_RETRY_AT, FIRST_DELAYED_RETRY_AT

ERROR = MoveToError(ERROR_QUEUE)
A_DAY, A_MICROSECOND = timedelta(days=1), timedelta(microseconds=1)

THE_24_HOURS = {
    "after a moment": (timedelta(0), DelayedRetry(seconds(4))),
    "just before": (A_DAY - A_MICROSECOND, DelayedRetry(seconds(4))),
    "exactly": (A_DAY, DelayedRetry(seconds(4))),
    "just after": (A_DAY + A_MICROSECOND, ERROR),
    "a clock that is behind": (-A_DAY, DelayedRetry(seconds(4))),
}


@pytest.mark.parametrize(("since", "expected"), THE_24_HOURS.values(), ids=THE_24_HOURS)
def test_the_24_hours_since_the_last_delayed_retry(since: timedelta, expected: Action) -> None:
    context = error_context(failures=3, retries=1, headers={DELAYED_RETRY_AT: written(NOW - since)})

    assert default_policy(recoverability(), context) == expected


def test_the_24_hours_do_not_stand_in_the_way_of_an_immediate_retry() -> None:
    context = error_context(failures=1, retries=1, headers={DELAYED_RETRY_AT: written(NOW - 2 * A_DAY)})

    assert default_policy(recoverability(), context) == ImmediateRetry()


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-14 15:09:26:535897 Z"])
def test_an_unreadable_timestamp_keeps_retrying(text: str) -> None:
    context = error_context(failures=3, headers={DELAYED_RETRY_AT: text})

    assert default_policy(recoverability(), context) == DelayedRetry(seconds(2))


TOTAL_TIME = {
    "no delayed retry yet": (None, DelayedRetry(seconds(4))),
    "exactly": (timedelta(hours=1), DelayedRetry(seconds(4))),
    "just after": (timedelta(hours=1) + A_MICROSECOND, ERROR),
}


@pytest.mark.parametrize(("since_first", "expected"), TOTAL_TIME.values(), ids=TOTAL_TIME)
def test_the_total_time_counts_from_the_first_delayed_retry(since_first: timedelta | None, expected: Action) -> None:
    settings = recoverability(max_total_time=timedelta(hours=1))
    headers = {DELAYED_RETRY_AT: written(NOW)}
    if since_first is not None:
        headers[FIRST_DELAYED_RETRY_AT] = written(NOW - since_first)

    assert default_policy(settings, error_context(failures=3, retries=1, headers=headers)) == expected


def test_without_a_total_time_the_first_delayed_retry_may_be_long_ago() -> None:
    context = error_context(failures=3, headers={FIRST_DELAYED_RETRY_AT: written(NOW - 300 * A_DAY)})

    assert default_policy(recoverability(), context) == DelayedRetry(seconds(2))
