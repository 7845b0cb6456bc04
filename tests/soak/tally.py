"""What became of each message of a soak, and the table of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from soak.deeds import DEEDS
from soak.ledger import counted


class SetAside(NamedTuple):
    """A message in the error queue: its number, and the type of its exception."""

    number: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The messages that were sent, and what was found in the end.

    Args:
        deeds: what each message does.
        runs: how often its handler began.
        processed: how often its handler came to its end.
        aside: how often it lies in the error queue.
        why: how often each exception is the reason.
        pranks: what went wrong, and how often.
        seconds: how long it all took.
    """

    deeds: Sequence[str]
    runs: Counter[int]
    processed: Counter[int]
    aside: Counter[int]
    why: Counter[str]
    pranks: Counter[str]
    seconds: float

    @property
    def lost(self) -> list[int]:
        """Return the messages that were neither processed nor set aside: there are to be none."""
        return [number for number in range(len(self.deeds)) if not self._ends(number)]

    @property
    def duplicates(self) -> int:
        """Count ends beyond the first: processed again, set aside again, or both."""
        return sum(self._ends(number) - 1 for number in range(len(self.deeds)) if self._ends(number))

    @property
    def extra_runs(self) -> int:
        """Count runs of handlers beyond those that the messages' own deeds take."""
        expected = (DEEDS[deed].runs for deed in self.deeds)
        return sum(max(0, self.runs[number] - runs) for number, runs in enumerate(expected))

    @property
    def given_up_wrongly(self) -> int:
        """Return how many messages are in the error queue alone though they would have succeeded."""
        innocent = [number for number, deed in enumerate(self.deeds) if not DEEDS[deed].hopeless]
        return sum(self.aside[number] > 0 and not self.processed[number] for number in innocent)

    def _ends(self, number: int) -> int:
        return self.processed[number] + self.aside[number]

    def table(self) -> str:
        """Return the figures, a line each."""
        lines = {
            "messages": len(self.deeds),
            **{f"  of which one {deed}": count for deed, count in Counter(self.deeds).items()},
            **self.pranks,
            "runs of the handler": self.runs.total(),
            "processed": len(self.processed),
            "in the error queue": len(self.aside),
            **{f"  because of {why}": count for why, count in sorted(self.why.items())},
            "extra runs": self.extra_runs,
            "duplicates": self.duplicates,
            "set aside though they would have succeeded": self.given_up_wrongly,
            "LOST": len(self.lost),
        }
        rows = [f"{count:10,}  {what}" for what, count in lines.items()]
        return "\n".join([*rows, f"{self.seconds:10.0f}  seconds"])


def tally(deeds: Sequence[str], ledger: Path, aside: Sequence[SetAside], pranks: Counter[str], seconds: float) -> Tally:
    """Count what was found."""
    return Tally(
        deeds=deeds,
        runs=counted(ledger, "run"),
        processed=counted(ledger, "processed"),
        aside=Counter(each.number for each in aside),
        why=Counter(each.why for each in aside),
        pranks=pranks,
        seconds=seconds,
    )
