"""Messages that come for the first time, with a real timer: it stops handlers, and nothing that runs between them."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest

from builders import message
from flow.invocations import invocation
from recoverable import Message
from recoverable._flow.deadline import Deadline
from recoverable._flow.untouched import run_untouched

SOON = 0.05


class Until:
    """The time of an invocation whose handlers have so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.handlers_end, self.look_at = time.monotonic() + seconds, float("inf")

    def look(self, moment: float, /) -> None:
        """See nothing new."""


def after_its_time(first: Message, second: Message, ends: Until) -> Iterator[Message]:
    """Yield both, the second when the time of handlers has ended and the timer has rung."""
    yield first
    while time.monotonic() < ends.handlers_end + SOON:
        signal.raise_signal(signal.SIGALRM)
    yield second


def test_a_timer_that_rings_between_two_handlers_stops_nothing() -> None:
    ends, running, seen = Until(SOON), invocation(), list[Message]()
    first, second = message(), message()

    with Deadline() as deadline:
        ran = run_untouched(after_its_time(first, second, ends), running, ends, deadline, seen.append)

    assert ran is not None
    assert (ran[0], ran[1].message, seen) == (1, second, [first])


def test_a_handler_that_the_time_ends_for_is_stopped() -> None:
    def forever(_: Message) -> None:
        while True:
            time.sleep(SOON / 10)

    with Deadline() as deadline:
        ran = run_untouched(iter([message()]), invocation(), Until(SOON), deadline, forever)

    assert ran is not None
    assert type(ran[1].error).__name__ == "TimeUp"


def test_what_has_ended_sends_nothing_more() -> None:
    handled = message()
    with Deadline() as deadline:
        assert run_untouched(iter([handled]), invocation(), Until(60), deadline, lambda _: None) is None

    with pytest.raises(RuntimeError, match="has ended, and nothing more is sent for it"):
        handled.send("invoices", "late")
