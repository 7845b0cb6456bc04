"""Whatever a sender wrote into our headers, and however often a broker delivered: a decision is made, and it can be carried out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import Boom, decision, delivery, platform, recoverability, seconds
from recoverable import RetryAfter, UnreportedFailure
from recoverable._ladder.delivery import Deferral
from recoverable._ladder.settlement import Complete, Forward, Redeliver
from recoverable.headers import RETRY_HEADERS, read_count, read_date

SHAPED = st.tuples(*[st.integers(0, most) for most in (9999, 13, 32, 24, 60, 60, 999_999)]).map(
    lambda parts: "{:04}-{:02}-{:02} {:02}:{:02}:{:02}:{:06} Z".format(*parts)
)
HEADERS = st.dictionaries(st.sampled_from(RETRY_HEADERS), st.one_of(st.text(), SHAPED, st.integers().map(str)))
MOMENTS = st.none() | st.datetimes(timezones=st.just(UTC))
EVENTS = st.sampled_from([
    Boom(),
    RetryAfter(timedelta(days=365)),
    UnreportedFailure(),
    Deferral(seconds(5), "rate limited"),
    Deferral(timedelta(days=365), "not yet due", hop=True),
])  # fmt: skip
COUNTS = st.integers(0, 10_000)


@pytest.mark.parametrize(
    "on", [platform(), platform("header"), platform(redelivers_only=True)], ids=["native", "header", "in place"]
)
@given(
    event=EVENTS,
    headers=HEADERS,
    deliveries=st.integers(1, 10_000),
    prior_attempts=COUNTS,
    round_=COUNTS,
    moment=MOMENTS,
)
def test_a_decision_is_made_that_can_be_carried_out(
    on: Any,
    event: Any,
    headers: dict[str, str],
    deliveries: int,
    prior_attempts: int,
    round_: int,
    moment: datetime | None,
) -> None:
    received = delivery(
        deliveries=deliveries, prior_attempts=prior_attempts, due_at=moment, held_since=moment,
        headers=headers, round=round_, sent_at=moment,
    )  # fmt: skip

    made = decision(event, of=received, settings=recoverability(max_total_time=timedelta(days=30)), on=on)

    match made.settlement:
        case Forward(delay=delay, changes=changes):
            assert seconds(0) <= delay <= timedelta(minutes=15)
            assert all(readable(name, text) for name, text in changes.items() if name in RETRY_HEADERS)
        case Redeliver(after=after):
            assert after is None or seconds(0) <= after <= timedelta(days=365)
        case Complete():
            pytest.fail("nothing was handled")


def readable(name: str, text: str | None) -> bool:
    """True if what we write can be read again; a header that is taken away need not be."""
    if text is None:
        return True
    return read_date({name: text}, name) is not None or read_count({name: text}, name) > 0
