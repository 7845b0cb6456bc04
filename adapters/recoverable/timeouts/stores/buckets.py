"""Buckets: the minutes by which a store that reads by key lays out its timeouts; and how a poll goes through them: pure."""

from __future__ import annotations

from recoverable.timeouts.ids import DIGITS

WIDTH = 60_000_000
"""Microseconds of a bucket: a minute, so that a poll of the next two reads three and little that is not due."""


def bucket_of(due: int) -> int:
    """The number of the bucket in which a due time lies."""
    return due // WIDTH


def buckets_until(watermark: int, horizon: int) -> range:
    """The buckets that can hold what is due: from the watermark's to the horizon's."""
    return range(bucket_of(watermark), bucket_of(horizon) + 1)


def is_past(bucket: int, moment: int) -> bool:
    """Whether all of the bucket is due by a moment; one that is over by the horizon is read whole, also what says no due time."""
    return end_of(bucket) <= moment


def end_of(bucket: int) -> int:
    """The first moment after a bucket."""
    return (bucket + 1) * WIDTH


def key_after(due: int) -> str:
    """A key that sorts after the ids of all that is due by then, and before those of all others."""
    return f"{due + 1:0{DIGITS}}"
