"""Test the history of each order after the demo's events."""

from __future__ import annotations

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
    OrderHistory,
    OrderLogged,
)

RETRY = "recoverable.delayed_retry"


@pytest.mark.parametrize(
    ("heard", "expected"),
    [
        (OrderLogged(FLAKY, "shop"), OrderHistory((PLACED,), placed=True)),
        (OrderLogged(FLAKY, "recoverable.immediate_retry"), OrderHistory((FAILED,))),
        (OrderLogged(FLAKY, RETRY, delay=1.0), OrderHistory((FAILED, "⏱ 1s"))),
        (OrderLogged(FLAKY, RETRY, delay=4.0, stored=True), OrderHistory((FAILED, "⏱ 4s stored"))),
        (OrderLogged(FLAKY, RETRY, delay=1.5, attempted=False), OrderHistory(("⏱ 1.5s",))),
        (OrderLogged(FLAKY, "recoverable.move_to_error"), OrderHistory((FAILED, MOVED_TO_ERROR), moved_to_error=True)),
        (
            OrderLogged(FLAKY, "recoverable.move_to_error", attempted=False),
            OrderHistory((MOVED_TO_ERROR,), moved_to_error=True),
        ),
        (OrderLogged(FLAKY, "recoverable.policy"), OrderHistory()),
    ],
)
def test_what_is_heard_is_a_step(heard: OrderLogged, expected: OrderHistory) -> None:
    assert history(FLAKY, [heard]) == expected


def test_a_death_is_a_step_of_those_of_which_nothing_was_heard() -> None:
    given = InvocationStarted("i1", frozenset({GOOD, DEADLY}))
    happened: list[Event] = [given, OrderLogged(GOOD, "shop"), InvocationEnded("i1", died=True)]

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
    assert progress(InvocationStarted("i1", frozenset({GOOD})), InvocationEnded("i1", died=False)).unlogged == {}
