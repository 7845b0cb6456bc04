"""The demo's story: what was seen and heard in, trails out."""

from __future__ import annotations

import pytest

from local.demo.scene import DEADLY, FLAKY, GOOD, story, trail
from recoverable_local.demo.story import FAILED, GIVEN_UP, PLACED, WORDLESS, Given, Happening, Heard, Over, Trail

RETRY = "recoverable.delayed_retry"


@pytest.mark.parametrize(
    ("heard", "expected"),
    [
        (Heard(FLAKY, "shop"), Trail((PLACED,), placed=True)),
        (Heard(FLAKY, "recoverable.immediate_retry"), Trail((FAILED,))),
        (Heard(FLAKY, RETRY, delay=1.0), Trail((FAILED, "⏱ 1s"))),
        (Heard(FLAKY, RETRY, delay=4.0, stored=True), Trail((FAILED, "⏱ 4s stored"))),
        (Heard(FLAKY, RETRY, delay=1.5, attempted=False), Trail(("⏱ 1.5s",))),
        (Heard(FLAKY, "recoverable.move_to_error"), Trail((FAILED, GIVEN_UP), given_up=True)),
        (Heard(FLAKY, "recoverable.move_to_error", attempted=False), Trail((GIVEN_UP,), given_up=True)),
        (Heard(FLAKY, "recoverable.policy"), Trail()),
    ],
)
def test_what_is_heard_is_a_step(heard: Heard, expected: Trail) -> None:
    assert trail(FLAKY, [heard]) == expected


def test_a_death_is_a_step_of_those_of_which_nothing_was_heard() -> None:
    given = Given("i1", frozenset({GOOD, DEADLY}))
    happened: list[Happening] = [given, Heard(GOOD, "shop"), Over("i1", died=True)]

    assert (trail(GOOD, happened), trail(DEADLY, happened)) == (Trail((PLACED,), placed=True), Trail((WORDLESS,)))


def test_a_death_is_a_step_in_each_invocation_that_it_ends() -> None:
    given: list[Happening] = [Given("i1", frozenset({GOOD})), Given("i2", frozenset({DEADLY}))]
    happened = [*given, Over("i1", died=True), Over("i2", died=True)]

    assert (trail(GOOD, happened), trail(DEADLY, happened)) == (Trail((WORDLESS,)), Trail((WORDLESS,)))


def test_an_invocation_that_returns_is_no_death() -> None:
    assert trail(DEADLY, [Given("i1", frozenset({DEADLY})), Over("i1", died=False)]) == Trail()


def test_what_is_over_is_forgotten() -> None:
    assert story(Given("i1", frozenset({GOOD})), Over("i1", died=False)).silent == {}
