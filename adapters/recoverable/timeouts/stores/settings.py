"""Settings of stores and dispatchers with which they would do nothing, or all at once, refused."""

from __future__ import annotations

from datetime import timedelta

from recoverable.checks import checked_delay, checked_number

LEAST_LEASE = timedelta(seconds=1)
"""What ends sooner is over before a page is sent, and then nobody has a shard for himself."""


def checked_page(name: str, value: object) -> int:
    """The number of rows of a page.

    Raises:
        TypeError: it is no whole number.
        ValueError: it is less than 1.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is {value!r}; write a whole number from 1")
    if value < 1:
        raise ValueError(f"{name} is {value}; write a whole number from 1")
    return value


def checked_call_timeout(name: str, value: object) -> float:
    """The seconds for one call, from a hundredth to a minute.

    Raises:
        TypeError: it is no number.
        ValueError: it is out of range.
    """
    return checked_number(name, value, 0.01, 60.0)


def checked_lease(name: str, value: object) -> timedelta:
    """For how long a shard is reserved at a time, a second at least.

    Raises:
        TypeError: it is no timedelta.
        ValueError: it is out of range.
    """
    lease = checked_delay(name, value)
    if lease < LEAST_LEASE:
        raise ValueError(f"{name} is {lease}; write a timedelta of a second or more")
    return lease
