"""The circuit as tables: what each outcome makes of it, and whom it admits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import NOW, seconds
from recoverable.rate_limit.settings import RateLimit
from recoverable.rate_limit.state import (
    CLOSED,
    Circuit,
    Closed,
    Open,
    Snapshot,
    claim_probe,
    delay_of_probe,
    delay_while_open,
    from_item,
    may_defer,
    to_item,
    transition,
)

if TYPE_CHECKING:
    from recoverable.rate_limit.state import Outcome

EARLIER = NOW - seconds(600)
LIMIT = RateLimit(3, seconds(2))
WAITING = Open(EARLIER, NOW + seconds(1))
DAYS = st.timedeltas(timedelta(days=-2000), timedelta(days=2000)).map(lambda off: NOW + off)

AFTER: list[tuple[Circuit, Outcome, Circuit]] = [
    (CLOSED, "succeeded", CLOSED),
    (CLOSED, "failed", Closed(1)),
    (Closed(1), "failed", Closed(2)),
    (Closed(2), "failed", Open(NOW, NOW + seconds(2))),
    (Closed(2), "succeeded", CLOSED),
    (WAITING, "failed", WAITING),
    (WAITING, "probe failed", Open(EARLIER, NOW + seconds(2))),
    (WAITING, "probe released", Open(EARLIER, NOW)),
    (WAITING, "succeeded", CLOSED),
]


@pytest.mark.parametrize(("circuit", "outcome", "then"), AFTER)
def test_what_an_outcome_makes_of_the_circuit(circuit: Circuit, outcome: Outcome, then: Circuit) -> None:
    assert transition(circuit, outcome, LIMIT, NOW) == then


TURNS: list[tuple[datetime, timedelta | None]] = [
    (NOW + seconds(1), None),
    (NOW, seconds(30)),
    (NOW - seconds(9), seconds(30)),
    (NOW + seconds(30), None),
    (NOW + seconds(31), seconds(30)),
]


@pytest.mark.parametrize(("next_at", "lasts"), TURNS)
def test_when_an_attempt_may_start_and_how_long_its_turn_lasts(next_at: datetime, lasts: timedelta | None) -> None:
    turn = claim_probe(Open(EARLIER, next_at), LIMIT, NOW)

    assert turn == (Open(EARLIER, NOW + lasts) if lasts else None)


def test_a_turn_lasts_as_long_as_a_wait_that_is_longer() -> None:
    turn = claim_probe(Open(EARLIER, NOW), RateLimit(3, seconds(120)), NOW)

    assert turn == Open(EARLIER, NOW + seconds(120))


HOLDS = [
    (None, True),
    (NOW, True),
    (NOW - timedelta(hours=23, minutes=59), True),
    (NOW - timedelta(hours=24), False),
    (NOW + seconds(2), True),  # the clock of another instance
    (datetime(9999, 1, 1, tzinfo=UTC), False),
]


def test_a_message_is_held_for_a_day_and_no_longer() -> None:
    assert [(since, may_defer(since, LIMIT, NOW)) for since, _ in HOLDS] == HOLDS


def test_with_no_time_to_hold_nothing_is_held() -> None:
    assert may_defer(None, RateLimit(3, max_hold=seconds(0)), NOW) is False


@given(DAYS, DAYS, st.text(), st.timedeltas(timedelta(0), timedelta(minutes=15)))
def test_no_message_waits_longer_than_a_broker_can_or_shorter_than_a_second(
    since: datetime, now: datetime, message_id: str, wait: timedelta
) -> None:
    circuit, limit = Open(since, now), RateLimit(3, wait)
    waits = [delay_while_open(circuit, limit, message_id, now), delay_of_probe(circuit, limit, message_id, now)]

    assert all(timedelta(seconds=1) <= each <= timedelta(minutes=15) for each in waits)


@pytest.mark.parametrize(("age", "least", "most"), [(0, 2.5, 5), (10, 5, 10), (600, 300, 600), (90_000, 450, 900)])
def test_the_waits_grow_with_the_outage_and_are_spread(age: int, least: float, most: float) -> None:
    circuit = Open(NOW - seconds(age), NOW)
    waits = sorted(delay_while_open(circuit, LIMIT, f"m-{number}", NOW).total_seconds() for number in range(500))

    assert least <= waits[0] < least * 1.02
    assert most * 0.98 < waits[-1] <= most


@pytest.mark.parametrize(("age", "least", "most"), [(0, 2, 3), (300, 30, 45), (90_000, 60, 90)])
def test_the_probe_comes_back_after_a_tenth_of_the_outage_and_about_a_minute_at_most(
    age: int, least: float, most: float
) -> None:
    circuit = Open(NOW - seconds(age), NOW)
    waits = [delay_of_probe(circuit, LIMIT, f"m-{number}", NOW).total_seconds() for number in range(500)]

    assert least <= min(waits) < least * 1.02
    assert most * 0.98 < max(waits) <= most


def test_the_same_message_waits_as_long_wherever_it_is_asked() -> None:
    circuit = Open(EARLIER, NOW)

    assert delay_while_open(circuit, LIMIT, "m-1", NOW) == delay_while_open(circuit, LIMIT, "m-1", NOW)


@pytest.mark.parametrize(("circuit", "kept"), [(CLOSED, CLOSED), (Closed(2), CLOSED), (WAITING, WAITING)])
def test_what_stores_keep_is_who_is_limited_and_not_who_counts(circuit: Circuit, kept: Circuit) -> None:
    assert from_item(to_item(circuit, "a switch"), 7) == Snapshot(kept, 7, "a switch")


@given(st.dictionaries(st.sampled_from(["limited_since", "next_attempt_at", "switch"]), st.text() | st.integers()))
def test_whatever_a_store_holds_is_a_circuit(kept: dict[str, object]) -> None:
    assert isinstance(from_item(kept, 7).circuit, Closed | Open)
