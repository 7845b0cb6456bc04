"""The durations of Azure: ISO 8601 in Bicep, .NET's in host.json."""

from __future__ import annotations

import re
from datetime import timedelta

ISO = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?")
FOREVER = "P10675199DT2H48M5.4775807S"
"""The longest that .NET can say, which Service Bus takes for "never" (Service Bus, "Message expiration")."""


def iso(text: str) -> timedelta:
    """Return a duration such as PT1M."""
    found = ISO.fullmatch(text)
    assert found, text
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)


def clock(text: str) -> timedelta:
    """Return a duration such as 00:05:00."""
    hours, minutes, seconds = map(int, text.split(":"))
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)
