"""Test the history of each order after the demo's events."""

from __future__ import annotations

from dataclasses import replace

import pytest

from local.demo.examples import DEADLY, FLAKY, GOOD, history, progress
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

RETRY = OrderDecided(FLAKY, "delayed_retry", delay=4.04)


@pytest.mark.parametrize(
    ("decided", "expected"),
    [
        (OrderDecided(FLAKY, "complete"), OrderHistory((PLACED,), placed=True)),
        (OrderDecided(FLAKY, "immediate_retry"), OrderHistory((FAILED,))),
        (RETRY, OrderHistory((FAILED, "⏱ 4s"))),
        (replace(RETRY, stored=True), OrderHistory((FAILED, "⏱ 4s stored"))),
        (replace(RETRY, delay=1.5, attempted=False), OrderHistory(("⏱ 1.5s",))),
        (OrderDecided(FLAKY, "move_to_error"), OrderHistory((FAILED, MOVED_TO_ERROR), moved_to_error=True)),
        (OrderDecided(FLAKY, "move_to_error", attempted=False), OrderHistory((MOVED_TO_ERROR,), moved_to_error=True)),
        (OrderDecided(FLAKY, "deferral"), OrderHistory()),
    ],
)
def test_what_is_decided_is_a_step(decided: OrderDecided, expected: OrderHistory) -> None:
    assert history(FLAKY, [decided]) == expected


def test_a_death_is_a_step_of_those_of_which_nothing_was_heard() -> None:
    given = InvocationStarted("i1", frozenset({GOOD, DEADLY}))
    happened: list[Event] = [given, OrderDecided(GOOD, "complete"), InvocationEnded("i1", died=True)]

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
