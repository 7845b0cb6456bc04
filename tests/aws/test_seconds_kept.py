"""How much of an invocation's time is kept for settling, of 30 s with 3 s at least and calls of up to 1.5 s."""

from __future__ import annotations

from datetime import timedelta
from math import inf
from types import SimpleNamespace

import pytest

from recoverable.aws._time_budget import TimeBudget, seconds_to_keep

KEPT = [
    # remaining, finished, messages, slowest call: seconds kept
    (30.0, 0, 10, 0.0, 3.0),  # a small batch: what is kept in any case
    (30.0, 0, 1_000, 0.0, 11.49),  # 999 others need 199.8 calls of 0.05 s
    (30.0, 0, 10_000, 0.0, 15.0),  # never more than half of the invocation
    (4.0, 0, 10_000, 0.0, 3.0),  # the first handler has half of what remains, or all but the least
    (2.0, 0, 10, 0.0, 1.0),  # it runs in any case, though settling others has taken nearly all of the time
    (20.0, 100, 200, 0.0, 3.0),  # at 0.1 s each all of them fit
    (20.0, 10, 1_000, 0.0, 11.39),  # at 1 s each they do not
    (12.0, 18, 1_000, 0.0, inf),  # what is left beside that is less than the mean run of 1 s
    (20.0, 10, 200, 0.2, 9.06),  # calls as slow as measured: 37.8 of 0.2 s
    (5.0, 5, 6, 0.0, inf),  # the last one would take 5 s again, and there are 2 s
    (9.0, 3, 4, 0.0, inf),
]


@pytest.mark.parametrize(("remaining", "finished", "messages", "slowest", "kept"), KEPT)
def test_what_is_kept_grows_with_what_must_be_handed_back(
    remaining: float, finished: int, messages: int, slowest: float, kept: float
) -> None:
    lambda_context = SimpleNamespace(get_remaining_time_in_millis=lambda: 30_000)
    time = TimeBudget(lambda_context, timedelta(seconds=3), messages)
    time.slowest_call = slowest

    found = seconds_to_keep(remaining, finished, time)

    assert found == pytest.approx(kept)
