"""Compute the buckets, one a minute, by which a store that reads by key lays out its timeouts. Pure."""

from __future__ import annotations

from recoverable.timeouts._ids import DIGITS

WIDTH = 60_000_000
"""Microseconds of a bucket: a minute. A poll of the next two minutes then reads three buckets, and little that is not due."""


def bucket_of(due: int) -> int:
    """Return the number of the bucket that holds a due time."""
    return due // WIDTH


def buckets_until(watermark: int, horizon: int) -> range:
    """Return the buckets that can hold what is due: from the watermark's to the horizon's."""
    return range(bucket_of(watermark), bucket_of(horizon) + 1)


def is_past(bucket: int, moment: int) -> bool:
    """True if everything in the bucket is due by a moment. A bucket that is past by the horizon is read whole, with ids that hold no due time."""
    return end_of(bucket) <= moment


def end_of(bucket: int) -> int:
    """Return the first moment after a bucket."""
    return (bucket + 1) * WIDTH


def key_after(due: int) -> str:
    """Return a key that sorts after the ids of all that is due by then, and before all others."""
    return f"{due + 1:0{DIGITS}}"
