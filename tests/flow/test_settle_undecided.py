"""A failure about which nothing can be decided costs its own message a redelivery, and its neighbours nothing."""

from __future__ import annotations

import pytest

from builders import delivery, platform, recoverability
from flow.invocations import Handler, attempt, invocation
from recoverable._ladder.settlement import COMPLETE, Forward, Redeliver


def fails(*_: object, **__: object) -> None:
    """Fail, as a defect in the decision would."""
    raise ZeroDivisionError


@pytest.fixture
def undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each decision fail."""
    monkeypatch.setattr("recoverable._flow.settle.decide", fails)


@pytest.mark.usefixtures("undecided")
def test_its_message_stays_where_it_is_and_its_neighbours_are_settled() -> None:
    running = invocation(recoverability(0, 0))
    first = attempt(Handler(ValueError()), delivery(), running)
    second = attempt(Handler(), delivery(id="m-2"), running)

    assert (first, second) == (Redeliver(None), COMPLETE)


def test_after_deliveries_without_a_recorded_outcome_it_is_given_up_as_an_unreported_failure() -> None:
    handler = Handler(ValueError())

    settlement = attempt(handler, delivery(deliveries=4, unreported=True), invocation(recoverability(0, 0)))

    assert (type(settlement), handler.handled) == (Forward, [])


@pytest.mark.usefixtures("undecided")
def test_the_log_says_so_and_shows_why(caplog: pytest.LogCaptureFixture) -> None:
    attempt(Handler(ValueError()), delivery(), invocation(recoverability(0, 0), platform()))

    (line,) = caplog.records
    assert line.getMessage() == (
        "Deciding about a failure of message 'm-1' from 'orders' failed (ZeroDivisionError)."
        " It stays on the queue and will be redelivered. Check the traceback of this log entry."
    )
    assert line.exc_info
    assert (line.name, line.exc_info[0]) == ("recoverable.policy", ZeroDivisionError)
