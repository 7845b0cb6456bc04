"""The arithmetic of attempts as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import delivery, recoverability
from recoverable._ladder import delivery as counting
from recoverable._ladder.delivery import carried_in
from recoverable.headers import GRANTED, PRIOR_ATTEMPTS

if TYPE_CHECKING:
    from recoverable._ladder.settlement import Counter

NATIVE: Literal["native"] = "native"
HEADER: Literal["header"] = "header"
COUNTS, DELIVERIES = st.integers(0, 10_000), st.integers(1, 10_000)
COUNTERS = st.sampled_from((NATIVE, HEADER))

FAILURES = [
    # counter, deliveries, prior_attempts: failures, unreported
    (NATIVE, 1, 0, 1, 0),
    (NATIVE, 2, 0, 2, 1),
    (NATIVE, 6, 0, 6, 5),
    (NATIVE, 1, 4, 5, 4),
    (NATIVE, 3, 4, 7, 6),
    (HEADER, 1, 0, 1, 1),
    (HEADER, 2, 0, 1, 1),
    (HEADER, 6, 0, 1, 1),
    (HEADER, 1, 4, 5, 5),
    (HEADER, 3, 4, 5, 5),
]


@pytest.mark.parametrize(("counter", "deliveries", "prior_attempts", "failures", "unreported"), FAILURES)
def test_failures_of_this_round(
    counter: Counter, deliveries: int, prior_attempts: int, failures: int, unreported: int
) -> None:
    counted = delivery(deliveries=deliveries, prior_attempts=prior_attempts)

    assert counting.failures(counted, counter) == failures
    assert counting.unreported_failures(counted, counter) == unreported


LAST_THAT_RUNS = [
    # counter, immediate, prior_attempts: deliveries up to which the handler runs unasked
    (NATIVE, 5, 0, 8),
    (NATIVE, 5, 2, 6),
    (NATIVE, 5, 6, 2),
    (NATIVE, 5, 8, 1),  # a setting was lowered: the first delivery runs in any case
    (NATIVE, 0, 0, 3),
    (NATIVE, 0, 1, 2),
    (HEADER, 5, 0, 3),
    (HEADER, 5, 5, 3),
    (HEADER, 5, 6, 2),
    (HEADER, 0, 0, 3),
    (HEADER, 0, 1, 2),
]


@pytest.mark.parametrize(("counter", "immediate", "prior_attempts", "last"), LAST_THAT_RUNS)
def test_two_deliveries_without_a_recorded_outcome_are_allowed(
    counter: Counter, immediate: int, prior_attempts: int, last: int
) -> None:
    asked = [
        deliveries > counting.last_delivery_that_runs(delivery(prior_attempts=prior_attempts), counter, immediate)
        for deliveries in range(1, 12)
    ]

    assert asked == [deliveries > last for deliveries in range(1, 12)]


@pytest.mark.parametrize(
    ("counter", "immediate", "prior_attempts", "granted", "last"),
    [
        (NATIVE, 2, 7, 7, 3),
        (NATIVE, 2, 8, 7, 2),  # a deferral has added to the count
        (NATIVE, 9, 7, 7, 5),  # a setting was raised
        (HEADER, 2, 7, 7, 3),
    ],
)
def test_a_copy_that_a_policy_granted_is_allowed_two_as_well(
    counter: Counter, immediate: int, prior_attempts: int, granted: int, last: int
) -> None:
    carried = {PRIOR_ATTEMPTS: str(prior_attempts), GRANTED: str(granted)}

    assert counting.last_delivery_that_runs(delivery(headers=carried), counter, immediate) == last


@pytest.mark.parametrize(
    ("prior_attempts", "granted", "believed"),
    [("7", "7", 7), ("8", "7", 7), ("6", "7", 0), ("10001", "7", 0), ("7", "-7", 0), ("7", "many", 0), ("", "7", 0)],
)
def test_what_a_header_says_was_granted_is_believed_within_the_attempts_beside_it(
    prior_attempts: str, granted: str, believed: int
) -> None:
    assert carried_in({PRIOR_ATTEMPTS: prior_attempts, GRANTED: granted}).granted == believed


@pytest.mark.parametrize(("deliveries", "prior_attempts", "carries"), [(1, 0, 0), (2, 0, 1), (1, 3, 3), (4, 3, 6)])
def test_a_deferral_carries_the_attempts_made_so_far(deliveries: int, prior_attempts: int, carries: int) -> None:
    assert (
        counting.prior_attempts_of_deferral(delivery(deliveries=deliveries, prior_attempts=prior_attempts)) == carries
    )


FIFO_PLACES = [
    # immediate, delayed, (round, failures) for the deliveries 1, 2, 3, ...
    (1, 1, [(0, 1), (0, 2), (1, 1), (1, 2), (1, 2), (1, 2)]),
    (0, 2, [(0, 1), (1, 1), (2, 1), (2, 1)]),
    (2, 0, [(0, 1), (0, 2), (0, 3), (0, 3)]),
    (0, 0, [(0, 1), (0, 1)]),
]


@pytest.mark.parametrize(("immediate", "delayed", "places"), FIFO_PLACES)
def test_where_retries_are_redeliveries_the_broker_count_alone_gives_round_and_failures(
    immediate: int, delayed: int, places: list[tuple[int, int]]
) -> None:
    settings = recoverability(immediate, delayed)
    found = [counting.place_on_ladder(deliveries, settings) for deliveries in range(1, len(places) + 1)]

    assert found == places


@pytest.mark.parametrize(("immediate", "delayed", "attempts"), [(0, 0, 1), (1, 1, 4), (5, 3, 24)])
def test_in_place_a_message_is_past_its_ladder_two_deliveries_after_the_last_attempt(
    immediate: int, delayed: int, attempts: int
) -> None:
    def past(deliveries: int) -> bool:
        return counting.runs_left(deliveries, recoverability(immediate, delayed)) < 0

    assert [past(attempts), past(attempts + 2), past(attempts + 3)] == [False, False, True]


@given(DELIVERIES, COUNTS, COUNTERS)
def test_no_count_is_ever_negative(deliveries: int, prior_attempts: int, counter: Counter) -> None:
    counted = delivery(deliveries=deliveries, prior_attempts=prior_attempts)

    assert counting.failures(counted, counter) >= 1
    assert counting.unreported_failures(counted, counter) >= 0
    assert counting.prior_attempts_of_deferral(counted) >= 0


@given(DELIVERIES, st.integers(0, 994), st.integers(0, 1_000))
def test_every_delivery_in_place_has_a_place_on_the_ladder(deliveries: int, immediate: int, delayed: int) -> None:
    round_, failures = counting.place_on_ladder(deliveries, recoverability(immediate, delayed))

    assert 0 <= round_ <= delayed
    assert 1 <= failures <= immediate + 1


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 400))
def test_places_in_place_go_up_one_by_one(immediate: int, delayed: int, before: int) -> None:
    attempts = (immediate + 1) * (delayed + 1)

    def number(deliveries: int) -> int:
        round_, failures = counting.place_on_ladder(deliveries, recoverability(immediate, delayed))
        return round_ * (immediate + 1) + failures

    assert number(before + 1) == min(before + 1, attempts)
