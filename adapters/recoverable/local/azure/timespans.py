"""Durations as `host.json` has them: .NET's `TimeSpan`. Pure."""

from __future__ import annotations

import re
from datetime import timedelta

_FORM = re.compile(r"(?:(\d+)\.)?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(\.\d{1,7})?)?")


def timespan(name: str, value: object) -> timedelta:
    """The duration.

    Raises:
        ValueError: It is none.
    """
    if not isinstance(value, str) or (found := _FORM.fullmatch(value.strip())) is None:
        raise ValueError(f"{name} is {value!r}; write hours, minutes and seconds, such as '00:05:00'")
    days, hours, minutes, seconds, fraction = found.groups()
    return timedelta(
        days=int(days or 0),
        hours=int(hours),
        minutes=int(minutes),
        seconds=int(seconds or 0) + float(fraction or 0),
    )
