"""How a command that serves until it is stopped hears that it should: by SIGINT or SIGTERM."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def signals() -> Iterator[list[int]]:
    """Note the first signal; the second ends the process, for a handler that sits at a breakpoint.

    A list and no `Event`: a signal that the system hands to another thread would not wake one that waits for a lock.
    """
    received: list[int] = []

    def handle(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        received.append(number)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
