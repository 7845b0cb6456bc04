"""Check the settings of stores and dispatchers."""

from __future__ import annotations

from datetime import timedelta

from recoverable._limits import checked_delay, checked_number

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from typing import Any

LEAST_LEASE = timedelta(seconds=1)
"""A shorter lease ends before a page is sent, and then several dispatchers work on one shard."""


def checked_store(owner: str, store: Any) -> Any:
    """Return the store of a `Timeouts` or `Dispatcher` after checking that it is one.

    Raises:
        TypeError: it is none, such as the name of a table.
    """
    if isinstance(store, type) or not all(hasattr(store, name) for name in ("put", "claim", "shards")):
        table = store if isinstance(store, str) else "timeouts"
        raise TypeError(f"{owner}(store) is {store!r}; write a store, such as DynamoDBStore({table!r})")
    return store


def checked_page(name: str, value: object) -> int:
    """Return the number of rows of a page after checking it.

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
    """Return the seconds for one call after checking that they are from 0.01 to 60.

    Raises:
        TypeError: it is no number.
        ValueError: it is out of range.
    """
    return checked_number(name, value, 0.01, 60.0)


def checked_lease(name: str, value: object) -> timedelta:
    """Return for how long a shard is claimed at a time, after checking that it is a second or more.

    Raises:
        TypeError: it is no timedelta.
        ValueError: it is out of range.
    """
    lease = checked_delay(name, value)
    if lease < LEAST_LEASE:
        raise ValueError(f"{name} is {lease}; write a timedelta of a second or more")
    return lease
