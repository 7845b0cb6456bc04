"""The circuit as tables: what each outcome makes of it, and whom it admits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import NOW, seconds
from recoverable import RateLimit
from recoverable._rate_limit.state import (
    CLOSED,
    EPOCH,
    Circuit,
    Closed,
    Open,
    Snapshot,
    claim_probe,
    delay_of_probe,
    delay_while_open,
    from_item,
    may_defer,
    on_grid,
    to_item,
    transition,
)

if TYPE_CHECKING:
    from recoverable._rate_limit.state import Outcome

EARLIER, DAY_AGO = NOW - seconds(600), NOW - timedelta(days=1)
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


@pytest.mark.parametrize(("age", "least", "most"), [(0, 2.5, 5), (10, 5, 10), (600, 150, 300), (90_000, 150, 300)])
def test_the_waits_grow_with_the_outage_and_are_spread(age: int, least: float, most: float) -> None:
    circuit = Open(NOW - seconds(age), NOW)
    waits = sorted(delay_while_open(circuit, LIMIT, f"m-{number}", NOW).total_seconds() for number in range(500))

    assert least <= waits[0] < least * 1.02
    assert most * 0.98 < waits[-1] <= most


LONGEST: list[tuple[timedelta, timedelta, float]] = [
    # the longest wait, the time between two attempts: the most seconds that a message waits in a long outage
    (seconds(5), seconds(1), 5),
    (timedelta(minutes=15), seconds(1), 900),
    (seconds(60), seconds(120), 120),
]


@pytest.mark.parametrize(("longest_wait", "wait", "most"), LONGEST)
def test_the_longest_wait_is_a_setting(longest_wait: timedelta, wait: timedelta, most: float) -> None:
    limit = RateLimit(3, wait, longest_wait=longest_wait)
    waits = [delay_while_open(Open(DAY_AGO, NOW), limit, f"m-{number}", NOW).total_seconds() for number in range(500)]

    assert most * 0.98 < max(waits) <= most


STEPS: list[tuple[float, float]] = [
    # a delay, and the step of the grid on which it is over
    (2.5, 1),
    (7.9, 1),
    (8, 2),
    (39, 9),
    (40, 10),
    (300, 10),
    (899, 10),
]


@pytest.mark.parametrize(("delay", "step"), STEPS)
@pytest.mark.parametrize("number", range(7))
def test_a_delay_in_batches_is_over_on_a_grid(delay: float, step: float, number: int) -> None:
    now = NOW + seconds(1.37 * number)
    waits = on_grid(seconds(delay), now)

    assert (now + waits - EPOCH) % seconds(step) == timedelta(0)
    assert abs(waits - seconds(delay)) < seconds(step)
    assert waits <= timedelta(minutes=15)


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
