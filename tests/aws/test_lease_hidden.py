"""Until when a message is hidden, what is hidden anew, and what is lost to another delivery: tables of the pure rules."""

from __future__ import annotations

from math import inf

import pytest

from recoverable.aws._lease import (
    NEVER,
    Known,
    Receive,
    changed,
    hidden_until,
    is_lost,
    late_by,
    must_be_hidden,
    seconds_to_hide,
)

RECEIVED, TIMEOUT = 1_000.0, 30.0


def known(
    *,
    began: float = RECEIVED,
    ends: float | None = RECEIVED + 30,
    late_by: float = 0.0,
    may: bool = True,
    receives: int | None = None,
) -> Known:
    """Return the times of an invocation of 30 s on a queue that hides for 30 s."""
    return Known(TIMEOUT, began, ends, late_by=late_by, may_change=may, max_receives=receives)


def first(until: float | None = None, *, confirmed: bool = False) -> Receive:
    """Return a message that came for the first time, at 1,000, and whose visibility was changed, or not."""
    return Receive(1, RECEIVED, until, confirmed=confirmed)


def again(until: float | None = None, first_at: float | None = 900.0, *, confirmed: bool = True) -> Receive:
    """Return a message that came for the third time, first at 900, and was hidden anew, or not."""
    return Receive(3, first_at, until, confirmed=confirmed and until is not None)


UNDATED = Receive(2, None)
"""A message that does not say when it came first."""


@pytest.mark.parametrize(
    ("receive", "times", "until"),
    [
        pytest.param(first(), known(), 1_029, id="a second less than the queue hides it"),
        pytest.param(first(), known(began=1_020), 1_029, id="from its receive, however late the invocation began"),
        pytest.param(again(), known(), 929, id="from the first receive, which is earlier than the one that counts"),
        pytest.param(again(), known(may=False), 1_029, id="from the invocation's begin where nothing could shorten it"),
        pytest.param(again(), known(may=False, late_by=20), 1_009, id="less what messages were seen to wait for one"),
        pytest.param(again(), known(late_by=31), 998, id="from before it where invocations begin late"),
        pytest.param(again(), known(late_by=30), 929, id="which they do from a second more on"),
        pytest.param(again(), known(late_by=31, receives=5), 998, id="with two receives left too"),
        pytest.param(again(), known(late_by=31, receives=4), 929, id="but at its last receive but one it is attempted"),
        pytest.param(again(), known(late_by=31, receives=3), 998, id="and at its last it moves on"),
        pytest.param(again(None, 980), known(late_by=inf), 1_009, id="never from before its first receive"),
        pytest.param(first(), known(began=1_020, may=False), 1_029, id="from its first receive there too"),
        pytest.param(first(1_090, confirmed=True), known(), 1_089, id="as a confirmed change says"),
        pytest.param(first(1_007, confirmed=True), known(), 1_006, id="as a confirmed change says that shortens it"),
        pytest.param(first(1_090), known(), 1_029, id="no longer for a change that is not confirmed"),
        pytest.param(first(1_007), known(), 1_006, id="shorter for one, because it may have been made"),
        pytest.param(Receive(2, 900.0, NEVER, confirmed=True), known(), NEVER, id="not at all where its batch has a later receive of it"),
        pytest.param(UNDATED, known(), None, id="unknown without its first receive"),
        pytest.param(again(1_090, None), known(), 1_089, id="known by a confirmed change all the same"),
        pytest.param(again(1_090, None, confirmed=False), known(), None, id="but not by one that may not have been made"),
    ],
)  # fmt: skip
def test_a_message_is_hidden(receive: Receive, times: Known, until: float | None) -> None:
    assert hidden_until(receive, times) == until


@pytest.mark.parametrize(
    ("before", "until", "at", "confirmed", "after"),
    [
        pytest.param(first(), 1_007, 1_001, True, first(1_007, confirmed=True), id="the first one"),
        pytest.param(first(), 1_007, 1_001, False, first(1_007), id="the first one, unconfirmed"),
        pytest.param(first(), 1_090, 1_029, True, first(), id="the first one, too late"),
        pytest.param(again(), 1_090, 1_029, True, again(1_090), id="of what may have been received a moment ago"),
        pytest.param(first(1_007, confirmed=True), 1_009, 1_003, True, first(1_009, confirmed=True), id="a later one"),
        pytest.param(first(1_007, confirmed=True), 1_009, 1_003, False, first(1_007, confirmed=True), id="a later one, unconfirmed"),
        pytest.param(first(1_007, confirmed=True), 1_012, 1_006, True, first(1_007, confirmed=True), id="a later one when others had it"),
        pytest.param(first(1_007), 1_009, 1_003, True, first(1_009, confirmed=True), id="one that is confirmed at last"),
        pytest.param(again(1_007, confirmed=False), 1_009, 1_003, True, again(1_009), id="at last, of what came before"),
        pytest.param(first(1_007), 1_012, 1_006, True, first(1_007), id="one that is confirmed too late"),
        pytest.param(again(1_007, confirmed=False), 1_012, 1_006, True, again(1_007, confirmed=False), id="too late, of what came before"),
        pytest.param(first(1_007), 1_009, 1_003, False, first(1_007), id="none of which is confirmed"),
    ],
)  # fmt: skip
def test_changes_of_a_visibility_come_to(
    before: Receive, until: float, at: float, *, confirmed: bool, after: Receive
) -> None:
    assert changed(before, known(), until, at, confirmed=confirmed) == after


def test_no_change_hides_what_was_shown_before_its_invocation_began() -> None:
    assert changed(again(), known(late_by=31), 1_090, 1_001, confirmed=True) == again()


@pytest.mark.parametrize(
    ("receive", "waited"),
    [
        pytest.param(Receive(1, 970.0), 30.0, id="of one that came for the first time it is known"),
        pytest.param(Receive(1, 1_000.5), 0.0, id="no less than no time, for two clocks never agree"),
        pytest.param(UNDATED, 0.0, id="nothing is known of it"),
        pytest.param(again(), 0.0, id="its last receive is not known"),
        pytest.param(Receive(2, 900.0, NEVER, confirmed=True), inf, id="longer than any time-out if its batch has a later receive of it"),
    ],
)  # fmt: skip
def test_a_message_waited_for_its_invocation(receive: Receive, waited: float) -> None:
    assert late_by(receive, RECEIVED) == waited


@pytest.mark.parametrize(
    ("receive", "times", "wanted"),
    [
        pytest.param(first(), known(), True, id="its last second is not sure"),
        pytest.param(first(), known(ends=1_029), False, id="it is hidden until the end"),
        pytest.param(first(), known(ends=None), True, id="the invocation has no end"),
        pytest.param(again(), known(), True, id="its last receive is not known"),
        pytest.param(again(), known(late_by=31), False, id="another may have it from the start"),
        pytest.param(first(), known(began=1_030, ends=1_060), True, id="nobody can have it yet"),
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
        pytest.param(again(), known(), 1_001, True, id="nothing shows that it is hidden"),
        pytest.param(again(1_032), known(), 1_028, False, id="it was hidden anew"),
        pytest.param(UNDATED, known(), 9_999, False, id="nothing is known of it"),
    ],
)
def test_a_message_is_lost(receive: Receive, times: Known, at: float, *, lost: bool) -> None:
    assert is_lost(receive, times, at) is lost
