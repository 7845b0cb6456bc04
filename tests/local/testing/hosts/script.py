"""Do what a message's script says, in a process of the function's own or in a world: what the functions of both clouds share."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TIMEOUT = 3600  # seconds, longer than any test; whoever waits ends with the process
A_WHILE = 0.2  # seconds in which one too many would begin


class Unusual(BaseException):
    """No `Exception`."""


@dataclass
class Ways:
    """How a function does what differs between a process and a world.

    Args:
        notes: the file of notes.
        die: ends the process.
        spend: takes so many seconds.
        process: names the process, given Lambda's context; Functions has none.
        meet: stays until so many are at work, and for a while.
    """

    notes: Path
    die: Callable[[], object]
    spend: Callable[[float], object]
    process: Callable[[Any], object]
    meet: Callable[[int], object]


def note(**said: Any) -> None:
    """Write a line, whole."""
    with HERE.notes.open("a") as file:
        file.write(json.dumps(said, default=repr) + "\n")


def meet(count: int) -> None:
    """Wait until so many have begun."""
    end = time.monotonic() + TIMEOUT
    while HERE.notes.read_text().count('"began"') < count and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(A_WHILE)


HERE = Ways(
    notes=Path(os.environ.get("NOTES", os.devnull)),
    die=lambda: os._exit(4),
    spend=time.sleep,
    process=lambda _context: os.getpid(),
    meet=meet,
)


def refuse(_script: object) -> None:
    """Raise what handlers raise."""
    raise ValueError("no such card")


def refuse_unusually(_script: object) -> None:
    """Raise what is no `Exception`."""
    raise Unusual("no such card")


def work(script: dict[str, Any]) -> None:
    """Work at the same time as others."""
    note(work="began")
    HERE.meet(script["together"])
    note(work="ended")


DEEDS: dict[str, Callable[[dict[str, Any]], object]] = {
    "raise": refuse,
    "raise unusually": refuse_unusually,
    "die": lambda _: HERE.die(),
    "spend": lambda script: HERE.spend(script["seconds"]),
    "work": work,
}
"""What a script can ask for on both clouds."""
