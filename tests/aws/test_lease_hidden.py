"""Until when a message is hidden, what is hidden anew, and what is lost to another delivery: tables of the pure rules."""

from __future__ import annotations

import pytest

from recoverable.aws._lease import (
    NEVER,
    Change,
    Known,
    Receive,
    begins_late,
    changed,
    hidden_until,
    is_lost,
    must_be_hidden,
    seconds_to_hide,
    was_shown,
)

RECEIVED, TIMEOUT = 1_000.0, 30.0


def known(
    *, began: float = RECEIVED, ends: float | None = RECEIVED + 30, late: bool = False, may: bool = True
) -> Known:
    """Return the times of an invocation of 30 s on a queue that hides for 30 s."""
    return Known(TIMEOUT, began, ends, begins_late=late, may_change=may)


def first(until: float | None = None, *, confirmed: bool = False, at: float = RECEIVED) -> Receive:
    """Return a message that came for the first time, at 1,000, and whose visibility was changed once, or not."""
    return Receive(1, RECEIVED, None if until is None else Change(until, at, confirmed=confirmed))


def again(until: float, first_at: float | None = 900.0) -> Receive:
    """Return a message that came before, and was hidden anew."""
    return Receive(3, first_at, Change(until, RECEIVED, confirmed=True))


AGAIN, UNDATED = Receive(3, 900.0), Receive(2, None)
"""A message that came for the third time, first at 900; and one that does not say when it came first."""


@pytest.mark.parametrize(
    ("receive", "times", "until"),
    [
        pytest.param(first(), known(), 1_029, id="a second less than the queue hides it"),
        pytest.param(first(), known(began=1_020), 1_029, id="from its receive, however late the invocation began"),
        pytest.param(AGAIN, known(), 929, id="from the first receive, which is earlier than the one that counts"),
        pytest.param(AGAIN, known(may=False), 1_029, id="from the invocation's begin where nothing could shorten it"),
        pytest.param(first(), known(began=1_020, may=False), 1_029, id="from its first receive there too"),
        pytest.param(first(1_090, confirmed=True), known(), 1_089, id="as a confirmed change says"),
        pytest.param(first(1_007, confirmed=True), known(), 1_006, id="as a confirmed change says that shortens it"),
        pytest.param(first(1_090), known(), 1_029, id="no longer for a change that is not confirmed"),
        pytest.param(first(1_007), known(), 1_006, id="shorter for one, because it may have been made"),
        pytest.param(first(1_090, confirmed=True, at=1_029), known(), 1_029, id="no longer for one that came too late"),
        pytest.param(Receive(1, RECEIVED, Change(1_090, 1_000, confirmed=True, lapsed=True)), known(), NEVER, id="not at all once one came too late"),
        pytest.param(Receive(2, 900.0, repeated=True), known(), NEVER, id="not at all where its batch has a later receive of it"),
        pytest.param(UNDATED, known(), None, id="unknown without its first receive"),
        pytest.param(again(1_090, None), known(), 1_089, id="known by a confirmed change all the same"),
    ],
)  # fmt: skip
def test_a_message_is_hidden(receive: Receive, times: Known, until: float | None) -> None:
    assert hidden_until(receive, times) == until


SURE, UNSURE = Change(1_007, 1_001, confirmed=True), Change(1_007, 1_001, confirmed=False)


@pytest.mark.parametrize(
    ("before", "until", "at", "confirmed", "after"),
    [
        pytest.param(None, 1_007, 1_001, True, SURE, id="the first one"),
        pytest.param(None, 1_007, 1_001, False, UNSURE, id="the first one, unconfirmed"),
        pytest.param(SURE, 1_009, 1_003, True, Change(1_009, 1_001, confirmed=True), id="a later one extends it"),
        pytest.param(SURE, 1_009, 1_003, False, SURE, id="a later one that is not confirmed does not"),
        pytest.param(
            SURE,
            1_012,
            1_006,
            True,
            Change(1_012, 1_001, confirmed=True, lapsed=True),
            id="a later one that came when others had it",
        ),
        pytest.param(
            UNSURE, 1_009, 1_003, True, Change(1_009, 1_003, confirmed=True), id="one that is confirmed at last"
        ),
        pytest.param(
            UNSURE,
            1_012,
            1_006,
            True,
            Change(1_012, 1_006, confirmed=True, lapsed=True),
            id="one that is confirmed too late",
        ),
        pytest.param(UNSURE, 1_009, 1_003, False, UNSURE, id="none of which is confirmed"),
    ],
)
def test_changes_of_a_visibility_come_to(
    before: Change | None, until: float, at: float, *, confirmed: bool, after: Change
) -> None:
    assert changed(before, until, at, confirmed=confirmed) == after


@pytest.mark.parametrize(
    ("receive", "times", "shown"),
    [
        pytest.param(first(), known(began=1_029.9), False, id="no: the invocation began in time"),
        pytest.param(first(), known(began=1_030), True, id="yes: it began when the queue showed the message"),
        pytest.param(AGAIN, known(), False, id="no: the last receive may have been a moment ago"),
        pytest.param(AGAIN, known(late=True), True, id="yes: invocations of this process begin late"),
        pytest.param(Receive(3, 980.0), known(late=True), False, id="no: even the first receive was short ago"),
        pytest.param(Receive(1, RECEIVED, repeated=True), known(), True, id="yes: its batch has a later receive of it"),
        pytest.param(UNDATED, known(late=True), False, id="no: nothing is known of it"),
    ],
)
def test_a_message_was_shown_before_its_invocation_began(receive: Receive, times: Known, *, shown: bool) -> None:
    assert was_shown(receive, times) is shown


@pytest.mark.parametrize(
    ("receive", "times", "late"),
    [
        (first(), known(began=1_030.5), False),  # the clocks may differ by as much
        (first(), known(began=1_031), True),
        (AGAIN, known(began=1_100), False),
    ],
)
def test_only_a_first_receive_shows_that_an_invocation_began_late(
    receive: Receive, times: Known, *, late: bool
) -> None:
    assert begins_late(receive, TIMEOUT, times.began) is late


@pytest.mark.parametrize(
    ("receive", "times", "wanted"),
    [
        pytest.param(first(), known(), True, id="its last second is not sure"),
        pytest.param(first(), known(ends=1_029), False, id="it is hidden until the end"),
        pytest.param(first(), known(ends=None), True, id="the invocation has no end"),
        pytest.param(AGAIN, known(), True, id="its last receive is not known"),
        pytest.param(AGAIN, known(late=True), False, id="another may have it from the start"),
        pytest.param(first(), known(began=1_030, ends=1_060), False, id="another has it from the start"),
        pytest.param(UNDATED, known(), False, id="nothing is known of it"),
        pytest.param(first(1_090, confirmed=True), known(), False, id="it is hidden already"),
        pytest.param(Receive(1, 970.0), known(began=970, ends=1_060), False, id="another may have it by now"),
    ],
)
def test_a_message_is_hidden_anew(receive: Receive, times: Known, *, wanted: bool) -> None:
    assert must_be_hidden(receive, times, RECEIVED) is wanted


@pytest.mark.parametrize(
    ("times", "now", "seconds"),
    [
        (known(), 1_000.0, 32),  # to the end, and two seconds
        (known(), 1_020.5, 30),  # never shorter than the queue does
        (known(ends=None), 1_000.0, 30),
        (Known(43_200.0, 1_000.0), 1_000.0, 21_600),  # 12 hours count from the receive
    ],
)
def test_so_long_are_messages_hidden_anew(times: Known, now: float, seconds: int) -> None:
    assert seconds_to_hide(times, now) == seconds


@pytest.mark.parametrize(
    ("receive", "times", "at", "lost"),
    [
        pytest.param(first(), known(), 1_028.9, False, id="it is hidden until then"),
        pytest.param(first(), known(), 1_029, True, id="it may be shown then"),
        pytest.param(AGAIN, known(), 1_001, True, id="nothing shows that it is hidden"),
        pytest.param(again(1_032), known(), 1_028, False, id="it was hidden anew"),
        pytest.param(first(1_150, confirmed=True), known(began=1_030), 1_031, True, id="it was shown before, though a beat was confirmed"),
        pytest.param(UNDATED, known(), 9_999, False, id="nothing is known of it"),
    ],
)  # fmt: skip
def test_a_message_is_lost(receive: Receive, times: Known, at: float, *, lost: bool) -> None:
    assert is_lost(receive, times, at) is lost
