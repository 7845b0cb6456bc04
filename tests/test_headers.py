"""Counters and dates as they are written on messages, and as they are read from a hostile wire.

NServiceBus.Core.Tests/DateTimeExtensionsTests (5), upstream → here: the round trips → test_a_date_comes_back_to_the_microsecond; too short, and an
invalid character → UNREADABLE_DATES, where NServiceBus throws and its caller swallows it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import NOW, NOW_WRITTEN
from recoverable.headers import read_count, read_date, write_date

COUNTS = {
    "0": 0, "1": 1, "23": 23, "00007": 7, " 7 ": 7, "10000": 10_000,
    "10001": 0, "99999": 0, "100000": 0, "9" * 5_000: 0, "-1": 0, "+1": 0, "1.0": 0, "1e3": 0, "1_0": 0,
    "": 0, " ": 0, "one": 0, "0x1": 0, "٣": 0, "²": 0, "1 2": 0, "\x00": 0, "1\x00": 0,
}  # fmt: skip


@pytest.mark.parametrize(("text", "count"), COUNTS.items(), ids=[repr(text[:9]) for text in COUNTS])
def test_a_malformed_counter_reads_as_0(text: str, count: int) -> None:
    assert read_count({"N": text}, "N") == count


def test_a_counter_that_is_absent_reads_as_0() -> None:
    assert read_count({}, "N") == 0


@given(st.text())
def test_no_counter_raises_or_leaves_its_bounds(text: str) -> None:
    assert 0 <= read_count({"N": text}, "N") <= 10_000


@given(st.text())
def test_no_date_raises(text: str) -> None:
    assert isinstance(read_date({"N": text}, "N"), datetime | None)


@given(st.from_regex(re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{6} Z", re.ASCII), fullmatch=True))
def test_no_date_of_the_right_shape_raises_and_what_is_read_is_written_the_same(text: str) -> None:
    moment = read_date({"N": text}, "N")

    assert moment is None or write_date(moment) == text


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_date_comes_back_to_the_microsecond(moment: datetime) -> None:
    assert read_date({"N": write_date(moment)}, "N") == moment


def test_a_date_is_written_as_nservicebus_writes_it() -> None:
    assert write_date(NOW) == NOW_WRITTEN
    assert write_date(datetime(2016, 8, 16, 10, 6, 20, 0, tzinfo=UTC)) == "2016-08-16 10:06:20:000000 Z"


def test_a_date_of_another_zone_is_written_in_utc() -> None:
    assert write_date(NOW.astimezone(timezone(timedelta(hours=5, minutes=30)))) == NOW_WRITTEN


def test_the_first_year_is_written_in_full() -> None:
    assert write_date(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01 00:00:00:000000 Z"


UNREADABLE_DATES = [
    "",
    "201-08-16 10:06:20:123456 Z",
    "2016-08-16 10:06:20:123456 Zz",
    "j016-08-16 10:06:20:123456 Z",
    "2016-13-16 10:06:20:123456 Z",
    "2016-02-30 10:06:20:123456 Z",
    "2016-08-16 24:06:20:123456 Z",
    "0000-08-16 10:06:20:123456 Z",
    "٢٠١٦-08-16 10:06:20:123456 Z",
    "2016-08-16T10:06:20.123456Z",
]


@pytest.mark.parametrize("text", UNREADABLE_DATES)
def test_an_unreadable_date_is_absent(text: str) -> None:
    assert read_date({"N": text}, "N") is None


def test_an_absent_date_is_absent() -> None:
    assert read_date({}, "N") is None


@pytest.mark.parametrize("text", ["2016-08-16 10:06:20:123456 Z", "2016/08/16T10.06.20.123456+Z"])
def test_separators_are_not_looked_at_just_as_nservicebus_does_not(text: str) -> None:
    assert read_date({"N": text}, "N") == datetime(2016, 8, 16, 10, 6, 20, 123456, tzinfo=UTC)
