"""The namespace's time: the machine's, which a test can set forward."""

from __future__ import annotations

import time
from datetime import timedelta


class Clock:
    """Seconds since 1970."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def __call__(self) -> float:
        """What time it is."""
        return time.time() + self._ahead

    def advance(self, by: timedelta) -> None:
        """Make it later."""
        self._ahead += by.total_seconds()
