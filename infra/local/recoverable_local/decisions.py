"""Read the decisions of endpoints in other processes: they append the facts to a file, and each host passes them on to its journal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock, Thread

from recoverable import Facts
from recoverable.hosting import FACTS_FILE

EVERY = 0.1
"""Seconds between two looks at what endpoints have decided: some wait inside of their invocation."""

_DURATIONS = ("delay", "handler_time")


@dataclass(frozen=True, slots=True)
class Decided:
    """An endpoint has decided about one delivery of a message, or has done what it decided, or a handler has succeeded.

    Args:
        facts: The facts, without the exception itself.
        text: The exception's text, as the user's redactor returned it; "" without an exception.
        done: True if what was decided has been done, False if not; None when it was just decided.
        stays: True if the message is left to its queue, False if it is deleted; None if its host does that, or it was just decided.
    """

    facts: Facts
    text: str
    done: bool | None
    stays: bool | None = None


class FactsFile:
    """A file to which the endpoints of a host's functions append facts.

    Args:
        path: Where it is.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._offset, self._lock = path, 0, Lock()
        self._ends: dict[str, dict[str, Decided]] = {}

    @property
    def variables(self) -> dict[str, str]:
        """Return the environment variables with which a function's process writes to it."""
        return {FACTS_FILE: str(self._path)}

    def pass_on(self, journal: Callable[[Decided], None]) -> None:
        """Pass on each decision that was written since the last call."""
        with self._lock, self._path.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return  # the rest is being written
                self._offset += len(line)
                journal(entry := decided(line))
                if entry.done is not None:
                    self._ends.setdefault(entry.facts.request_id, {})[entry.facts.message_id] = entry

    def ends_of(self, request_id: str) -> dict[str, Decided]:
        """Return what an invocation's endpoint has done with its messages, by their ids, once."""
        return self._ends.pop(request_id, {})


def decided(line: bytes) -> Decided:
    """Parse a line of the file, without the facts that an endpoint of another version adds."""
    fields = json.loads(line)
    known = {name: value for name, value in fields.items() if name in signature(Facts).parameters}
    durations = {name: timedelta(seconds=fields[name]) for name in _DURATIONS if fields[name] is not None}
    return Decided(
        Facts(**{**known, **durations, "exception": None}), fields["exception"], fields["done"], fields.get("stays")
    )


def says_end(end: Decided | None, *, comes_back: bool) -> bool:
    """True if the line about what an endpoint decided says already whether its message comes back."""
    return end is not None and end.done is True and bool(end.stays) == comes_back


@contextmanager
def facts_file(journal: Callable[[Decided], None]) -> Iterator[FactsFile]:
    """Yield a new file, which is deleted in the end; what is written to it meanwhile reaches the journal at once.

    Args:
        journal: takes each decision.
    """
    with TemporaryDirectory(prefix="recoverable-") as folder:
        path = Path(folder, "facts")
        path.touch()
        facts, stopping = FactsFile(path), Event()

        def follow() -> None:
            while not stopping.wait(EVERY):
                facts.pass_on(journal)

        following = Thread(target=follow, name="facts", daemon=True)
        following.start()
        try:
            yield facts
        finally:
            stopping.set()
            following.join()
