"""A failure about which nothing can be decided costs its own message a redelivery, and its neighbours nothing."""

from __future__ import annotations

import pytest

from builders import delivery, platform, recoverability
from flow.invocations import Handler, attempt, invocation
from recoverable._ladder.settlement import COMPLETE, Forward, Redeliver


class Unspeakable(Exception):
    """An exception that fails again when it is asked for its cause, as a broken proxy of one does."""

    @property
    def __cause__(self) -> BaseException | None:  # type: ignore[override]  # as said
        raise ZeroDivisionError

    __context__ = __suppress_context__ = __cause__  # type: ignore[assignment]  # as said


def test_its_message_stays_where_it_is_and_its_neighbours_are_settled() -> None:
    running = invocation(recoverability(0, 0))
    first = attempt(Handler(Unspeakable()), delivery(), running)
    second = attempt(Handler(), delivery(id="m-2"), running)

    assert (first, second) == (Redeliver(None), COMPLETE)


def test_after_deliveries_without_a_recorded_outcome_it_is_given_up_as_an_unreported_failure() -> None:
    handler = Handler(Unspeakable())

    settlement = attempt(handler, delivery(deliveries=4, unreported=True), invocation(recoverability(0, 0)))

    assert (type(settlement), handler.handled) == (Forward, [])


def test_the_log_says_so_and_shows_why(caplog: pytest.LogCaptureFixture) -> None:
    attempt(Handler(Unspeakable()), delivery(), invocation(recoverability(0, 0), platform()))

    (line,) = caplog.records
    assert line.getMessage() == (
        "Deciding about a failure of message 'm-1' from 'orders' failed (ZeroDivisionError)."
        " It stays on the queue and will be redelivered. Check the traceback of this log entry."
    )
    assert line.exc_info
    assert (line.name, line.exc_info[0]) == ("recoverable.policy", ZeroDivisionError)
