"""Define the kinds of schedules: the store, the participants, and how wrong their clocks are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """The settings that schedules of a kind have in common.

    Args:
        name: what they are called.
        store: "dynamodb" or "sqlite".
        migrating: whether timeouts are moved about.
        skews: by how many seconds clocks may be ahead.
        dispatchers: the most at once.
    """

    name: str
    store: str = "dynamodb"
    migrating: bool = False
    skews: tuple[float, ...] = (0, 0, 0, -20, 20)
    dispatchers: int = 2


KINDS = (
    Kind("timeouts"),
    Kind("timeouts, migrated", migrating=True),
    Kind("timeouts, wrong clocks", skews=(0, 0, -600, 600, -3600, 3600), dispatchers=3),
    Kind("timeouts in SQLite", store="sqlite"),
    Kind("timeouts in SQLite, migrated", store="sqlite", migrating=True),
)

NAMED: Mapping[str, Kind] = {kind.name: kind for kind in KINDS}

WRONG = 55
"""Seconds of a skew to which another's lease of a minute may seem over."""
