"""One soak: messages are sent, things go wrong until few are left, and all that is left comes to its end in peace."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from soak.deeds import body
from soak.pranks import Prank, played
from soak.tally import SetAside, Tally, tally

_LOOK = 0.2  # seconds
_IN_PEACE = 20  # the last of so many messages


class Cloud(Protocol):
    """Hosts at work on a queue."""

    @property
    def pranks(self) -> Mapping[str, Prank]:
        """What can go wrong with it."""

    def send(self, bodies: Sequence[str]) -> None:
        """Send messages."""

    def left(self) -> int:
        """How many messages the queue holds, hidden, locked and scheduled ones too."""

    def set_aside(self) -> list[SetAside]:
        """What lies in the error queue."""


Begin = Callable[[Path], AbstractContextManager[Cloud]]
"""Starts a cloud whose handlers write to a ledger."""


def soak(
    begin: Begin, ledger: Path, *, deeds: Sequence[str], seed: int, pause: float, patience: float
) -> Tally:
    """Soak a cloud.

    Args:
        begin: starts it.
        ledger: where its handlers write.
        deeds: what each message does.
        seed: draws what goes wrong; when it does is the machine's own affair.
        pause: seconds between two pranks, on average.
        patience: seconds for all.

    Raises:
        TimeoutError: messages are left then.
    """
    draw, started = random.Random(seed), time.monotonic()
    with begin(ledger) as cloud:
        cloud.send([body(number, deed) for number, deed in enumerate(deeds)])
        with played(cloud.pranks, draw, pause=pause) as pranks:
            until(lambda: cloud.left() <= len(deeds) // _IN_PEACE, started + patience)
        until(lambda: cloud.left() == 0, started + patience)
        aside = cloud.set_aside()
    return tally(deeds, ledger, aside, pranks, time.monotonic() - started)


def until(condition: Callable[[], bool], deadline: float) -> None:
    """Wait until something is so.

    Raises:
        TimeoutError: it is not so in time.
    """
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(
                "messages are still left in the queue; give the soak more time, or look for one that goes round"
            )
        time.sleep(_LOOK)
