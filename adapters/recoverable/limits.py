"""The bounds on settings and delays, and the checks that refuse what lies outside them."""

from __future__ import annotations

from datetime import timedelta

MAX_IMMEDIATE = 994
"""SQS allows a maxReceiveCount of 1,000 at most (SetQueueAttributes, RedrivePolicy), which must be immediate retries + 6."""

MAX_DELAYED = 1_000
"""More delayed retries than this end in the error queue, whatever a policy says: nothing retries for ever."""

MAX_COUNT = 10_000
"""A counter from the wire above this is no counter of ours and reads as 0."""

MAX_DELAY = timedelta(days=365)
"""The longest delay; a message that claims to be due later than this is due now."""

NO_DELAY = timedelta(0)


def checked_count(name: str, value: object, most: int) -> int:
    """The whole number from 0 to `most`, or an error that says what to write instead."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is {value!r}; write a whole number from 0 to {most:,}")
    if not 0 <= value <= most:
        raise ValueError(f"{name} is {value:,}; write a whole number from 0 (no retries) to {most:,}")
    return value


def checked_number(name: str, value: object, least: float, most: float) -> float:
    """The number from `least` to `most`, or an error that says what to write instead."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} is {value!r}; write a number from {least} to {most}")
    if not least <= value <= most:
        raise ValueError(f"{name} is {value!r}; write a number from {least} to {most}")
    return value


def checked_delay(name: str, value: object, most: timedelta = MAX_DELAY) -> timedelta:
    """The duration from 0 to `most`, or an error that says what to write instead."""
    if not isinstance(value, timedelta):
        raise TypeError(f"{name} is {value!r}; write a timedelta, such as timedelta(seconds=10)")
    if not NO_DELAY <= value <= most:
        said = value if value >= NO_DELAY else f"-{-value}"  # Python writes -1 s as "-1 day, 23:59:59"
        raise ValueError(f"{name} is {said}; write a timedelta from 0 to {most}")
    return value
