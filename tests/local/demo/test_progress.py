"""Test the history of each order after the demo's events."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from local.demo.examples import DEADLY, FLAKY, GOOD, facts, history, progress
from recoverable_local.demo.progress import (
    FAILED,
    MOVED_TO_ERROR,
    PLACED,
    UNREPORTED,
    Event,
    InvocationEnded,
    InvocationStarted,
    OrderDecided,
    OrderHistory,
)

TWO_SECONDS = timedelta(seconds=2.04)
RETRY = OrderDecided(FLAKY, facts("delayed_retry", FLAKY, delay=TWO_SECONDS))
MOVE = OrderDecided(FLAKY, facts("move_to_error", FLAKY))
UNREPORTED_MOVE = OrderDecided(FLAKY, facts("move_to_error", FLAKY, unreported=True))


@pytest.mark.parametrize(
    ("decided", "expected"),
    [
        (OrderDecided(FLAKY, facts("complete", FLAKY)), OrderHistory((PLACED,), placed=True)),
        (OrderDecided(FLAKY, facts("immediate_retry", FLAKY)), OrderHistory((FAILED,))),
        (RETRY, OrderHistory((FAILED, "⏱ 2s"))),
        (replace(RETRY, stored=True), OrderHistory((FAILED, "⏱ 2s stored"))),
        (replace(RETRY, done=False), OrderHistory((FAILED,))),
        (MOVE, OrderHistory((FAILED, MOVED_TO_ERROR), moved_to_error=True)),
        (replace(MOVE, done=False), OrderHistory((FAILED,))),
        (UNREPORTED_MOVE, OrderHistory((MOVED_TO_ERROR,), moved_to_error=True)),
        (OrderDecided(FLAKY, facts("deferral", FLAKY, exception_type=None, delay=TWO_SECONDS)), OrderHistory()),
    ],
)
def test_what_is_decided_is_a_step(decided: OrderDecided, expected: OrderHistory) -> None:
    assert history(FLAKY, [decided]) == expected


def test_a_death_is_a_step_of_those_of_which_nothing_was_heard() -> None:
    given = InvocationStarted("i1", frozenset({GOOD, DEADLY}))
    happened: list[Event] = [given, OrderDecided(GOOD, facts("complete", GOOD)), InvocationEnded("i1", died=True)]

    assert (history(GOOD, happened), history(DEADLY, happened)) == (
        OrderHistory((PLACED,), placed=True),
        OrderHistory((UNREPORTED,)),
    )


def test_a_death_is_a_step_in_each_invocation_that_it_ends() -> None:
    given: list[Event] = [InvocationStarted("i1", frozenset({GOOD})), InvocationStarted("i2", frozenset({DEADLY}))]
    happened = [*given, InvocationEnded("i1", died=True), InvocationEnded("i2", died=True)]

    assert (history(GOOD, happened), history(DEADLY, happened)) == (
        OrderHistory((UNREPORTED,)),
        OrderHistory((UNREPORTED,)),
    )


def test_an_invocation_that_returns_is_no_death() -> None:
    assert (
        history(DEADLY, [InvocationStarted("i1", frozenset({DEADLY})), InvocationEnded("i1", died=False)])
        == OrderHistory()
    )


def test_what_is_over_is_forgotten() -> None:
    assert progress(InvocationStarted("i1", frozenset({GOOD})), InvocationEnded("i1", died=False)).undecided == {}
