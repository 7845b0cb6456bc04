"""One soak: messages are sent, things go wrong until few are left, and all that is left comes to its end in peace."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Protocol

from soak.deeds import body
from soak.ledger import Progress
from soak.pranks import Prank, played
from soak.tally import SetAside, Tally, tally

_LOOK = 0.2  # seconds
_IN_PEACE = 20  # the last of so many messages


class Cloud(Protocol):
    """Hosts at work on a queue."""

    @property
    def pranks(self) -> Mapping[str, Prank]:
        """Return what can go wrong with it."""

    def send(self, bodies: Sequence[str]) -> None:
        """Send messages."""

    def remaining(self) -> int:
        """Return how many messages the queue holds, hidden, locked and scheduled ones too."""

    def set_aside(self) -> list[SetAside]:
        """Return what lies in the error queue."""


Begin = Callable[[Path], AbstractContextManager[Cloud]]
"""Starts a cloud whose handlers write to a ledger."""


def soak(begin: Begin, ledger: Path, *, deeds: Sequence[str], seed: int, every: int, timeout: float) -> Tally:
    """Soak a cloud.

    Args:
        begin: starts it.
        ledger: where its handlers write.
        deeds: what each message does.
        seed: draws what goes wrong; when it does is the machine's own affair.
        every: so many runs of the handler between two pranks, on average.
        timeout: seconds for all.

    Raises:
        TimeoutError: messages are left then.
    """
    draw, started = random.Random(seed), time.monotonic()
    with closing(Progress(ledger)) as progress, begin(ledger) as cloud:
        cloud.send([body(number, deed) for number, deed in enumerate(deeds)])
        with played(cloud.pranks, draw, progress=progress, every=every) as pranks:
            wait(cloud, len(deeds) // _IN_PEACE, started + timeout)
        wait(cloud, 0, started + timeout)
        aside = cloud.set_aside()
    return tally(deeds, ledger, aside, pranks, time.monotonic() - started)


def wait(cloud: Cloud, most: int, deadline: float) -> None:
    """Wait until no more messages than so many are left.

    Raises:
        TimeoutError: there are more at the deadline.
    """
    while (remaining := cloud.remaining()) > most:
        if time.monotonic() > deadline:
            raise TimeoutError(
                f"{remaining} messages are left; give the soak more time, or look for one that goes round"
            )
        time.sleep(_LOOK)
