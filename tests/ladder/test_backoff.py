"""How long a delayed retry waits: linear, exponential, with jitter, and never out of bounds."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import seconds
from recoverable import Delayed, Exponential
from recoverable._ladder.backoff import chance
from recoverable._ladder.policy import delay_after

A_YEAR = timedelta(days=365)
MANY = st.integers(0, 100_000)


def test_the_time_increase_grows_linearly() -> None:
    assert [delay_after(Delayed(), made, "m-1") for made in range(4)] == [*map(seconds, (10, 20, 30, 40))]


def test_exponential_multiplies_up_to_its_maximum() -> None:
    backoff = Exponential(seconds(1), factor=3, maximum=seconds(20))

    assert [backoff(made) for made in range(5)] == [*map(seconds, (1, 3, 9, 20, 20))]


def test_exponential_doubles_by_default() -> None:
    assert [Exponential(seconds(1))(made) for made in range(4)] == [*map(seconds, (1, 2, 4, 8))]


def test_a_factor_of_one_keeps_the_delay() -> None:
    assert {Exponential(seconds(7), factor=1)(made) for made in range(9)} == {seconds(7)}


@pytest.mark.parametrize("factor", [2, 2.0, 1_000])
def test_exponential_never_overflows(factor: float) -> None:
    assert Exponential(seconds(1), factor)(5_000) == A_YEAR


@given(MANY, st.floats(1, 1_000), st.timedeltas(timedelta(0), A_YEAR))
def test_exponential_is_always_a_delay(made: int, factor: float, initial: timedelta) -> None:
    assert timedelta(0) <= Exponential(initial, factor)(made) <= A_YEAR


@pytest.mark.parametrize(
    ("given_delay", "expected"),
    [(seconds(-1), seconds(0)), (timedelta.min, seconds(0)), (timedelta.max, A_YEAR), (seconds(7), seconds(7))],
    ids=["negative", "the least", "gigantic", "good"],
)
def test_what_a_backoff_gives_is_kept_within_bounds(given_delay: timedelta, expected: timedelta) -> None:
    assert delay_after(Delayed(backoff=lambda made: given_delay), 0, "m-1") == expected


def test_a_backoff_gets_the_number_of_delayed_retries_made() -> None:
    assert delay_after(Delayed(backoff=seconds), 3, "m-1") == seconds(3)


@given(st.text(), MANY)
def test_chance_is_a_part_of_one_whatever_the_id(message_id: str, made: int) -> None:
    assert 0 <= chance(message_id, made) < 1


@given(st.text(), st.integers(0, 30_000), st.floats(0, 1))
def test_jitter_only_ever_shortens_and_by_no_more_than_its_part(message_id: str, made: int, jitter: float) -> None:
    whole = delay_after(Delayed(), made, message_id)
    rounding = timedelta(microseconds=1)

    assert whole * (1 - jitter) - rounding <= delay_after(Delayed(jitter=jitter), made, message_id) <= whole


def test_jitter_is_pure() -> None:
    delayed = Delayed(jitter=1.0)

    assert delay_after(delayed, 1, "m-1") == delay_after(delayed, 1, "m-1")


def test_jitter_spreads_messages_and_rounds_over_the_whole_delay() -> None:
    parts = sorted(chance(f"m-{number}", made) for number in range(100) for made in range(3))

    assert max(after - before for before, after in zip([0, *parts], [*parts, 1], strict=True)) < 0.05


def test_jitter_applies_to_a_backoff_too() -> None:
    jittered = delay_after(Delayed(backoff=Exponential(seconds(100)), jitter=0.5), 0, "m-1")

    assert jittered == seconds(100) - seconds(100) * (0.5 * chance("m-1", 0))


def test_an_id_that_is_no_unicode_gets_jitter_too() -> None:
    assert 0 <= chance("\ud800", 0) < 1
