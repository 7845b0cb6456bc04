"""The ledger: what handlers did, noted so that no death of their process can take it back."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from pathlib import Path

from recoverable import Message
from soak.deeds import behave

SETTING = "SOAK_LEDGER"
"""The environment variable with the ledger's path."""


@cache
def ledger() -> int:
    """Open the ledger, to which a line is added whole or not at all."""
    return os.open(os.environ[SETTING], os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def handle(message: Message) -> None:
    """Handle a message of a soak."""
    number = message.json()["number"]
    os.write(ledger(), f"run {number}\n".encode())
    behave(message)
    os.write(ledger(), f"processed {number}\n".encode())


def counted(path: Path, what: str) -> Counter[int]:
    """Return how often each message was run, or processed."""
    lines = (line.split() for line in path.read_text().splitlines())
    return Counter(int(number) for verb, number in lines if verb == what)


class Progress:
    """A count of the runs of handlers, read as the ledger grows."""

    def __init__(self, path: Path) -> None:
        path.touch()
        self._file, self._runs = path.open("rb"), 0

    def __call__(self) -> int:
        """Return how often handlers have run by now."""
        self._runs += self._file.read().count(b"run")
        return self._runs

    def close(self) -> None:
        """Read no more."""
        self._file.close()
