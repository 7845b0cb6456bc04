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
from threading import Lock

from recoverable import Facts
from recoverable.hosting import FACTS_FILE

_DURATIONS = ("delay", "handler_time")


@dataclass(frozen=True, slots=True)
class Decided:
    """An endpoint has decided about one delivery of a message, or a handler has succeeded.

    Args:
        facts: The facts, without the exception itself.
        text: The exception's text, as the user's redactor returned it; "" without an exception.
        done: True if what was decided has been done; False where the message stays on its queue.
    """

    facts: Facts
    text: str
    done: bool


class FactsFile:
    """A file to which the endpoints of a host's functions append facts.

    Args:
        path: Where it is.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._offset, self._lock = path, 0, Lock()

    @property
    def variables(self) -> dict[str, str]:
        """Return the environment variables with which a function's process writes to it."""
        return {FACTS_FILE: str(self._path)}

    def pass_on(self, journal: Callable[[Decided], None]) -> None:
        """Pass on each decision that was written since the last call. An endpoint writes before its invocation ends."""
        with self._lock, self._path.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                journal(decided(line))
            self._offset = file.tell()


def decided(line: bytes) -> Decided:
    """Parse a line of the file, without the facts that an endpoint of another version adds."""
    fields = json.loads(line)
    known = {name: value for name, value in fields.items() if name in signature(Facts).parameters}
    durations = {name: timedelta(seconds=fields[name]) for name in _DURATIONS if fields[name] is not None}
    return Decided(Facts(**{**known, **durations, "exception": None}), fields["exception"], fields["done"])


@contextmanager
def facts_file() -> Iterator[FactsFile]:
    """Yield a new file, which is deleted in the end."""
    with TemporaryDirectory(prefix="recoverable-") as folder:
        path = Path(folder, "facts")
        path.touch()
        yield FactsFile(path)
