"""Check that an endpoint can have long delays stored."""

from __future__ import annotations

from datetime import timedelta
from typing import Any


def check_timeouts(owner: str, timeouts: Any, settle_within: timedelta) -> None:
    """Check the setting `timeouts` of an endpoint.

    Args:
        owner: the name of the class that was given it, for errors.
        timeouts: the setting.
        settle_within: the time kept for settling.

    Raises:
        TypeError: it is no `Timeouts`.
        ValueError: the store may take longer than the time kept for settling.
    """
    if not hasattr(timeouts, "hold"):
        raise TypeError(f"{owner}(timeouts) is {timeouts!r}; write Timeouts(store), or None")
    if settle_within < timeouts.longest_hold:
        raise ValueError(
            f"{owner}(settle_within) is {settle_within}; with timeouts write at least {timeouts.longest_hold}, for a store that does not answer takes as long"
        )
