"""Stand-ins for what a test cannot know to the letter, so that whole values can be compared."""

from __future__ import annotations

import re


class Matching:
    """Equal to each text that the pattern matches from beginning to end."""

    __hash__ = None  # type: ignore[assignment]  # equal to many, so a key of nothing

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and re.fullmatch(self._pattern, other, re.DOTALL) is not None

    def __repr__(self) -> str:
        return f"Matching({self._pattern!r})"


A_UUID = Matching(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
A_DATE = Matching(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{6} Z")
