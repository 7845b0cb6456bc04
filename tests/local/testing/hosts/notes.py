"""Read what functions record, one line of JSON each, for a test that may run in another process."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Notes:
    """A file of notes.

    Args:
        path: where it is.
    """

    path: Path

    def all(self, what: str) -> list[Any]:
        """Return the notes of one kind, in order; a line that is still being written is left out."""
        lines = self.path.read_text().splitlines(keepends=True) if self.path.exists() else []
        notes = [json.loads(line) for line in lines if line.endswith("\n")]
        return [note[what] for note in notes if what in note]

    def clear(self) -> None:
        """Delete all notes."""
        self.path.unlink(missing_ok=True)

    def most_at_a_time(self) -> int:
        """Return how many worked at the busiest moment, by the notes `work` of who begins and who ends."""
        at_work, most = Counter[str](), 0
        for deed in self.all("work"):
            at_work[""] += {"began": 1, "ended": -1}[deed]
            most = max(most, at_work[""])
        return most
