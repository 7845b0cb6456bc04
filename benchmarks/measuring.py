"""How things are measured: each in a fresh interpreter, ours and theirs in turn, so that a machine whose speed drifts is fair to both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
SOURCE = HERE.parent / "adapters"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    Args:
        what: what was measured, and in which unit.
        ours: our figure.
        theirs: Powertools' figure; None where there is nothing to compare.
    """

    what: str
    ours: float
    theirs: float | None = None

    @property
    def ratio(self) -> str:
        """Return our figure divided by theirs."""
        return f"{self.ours / self.theirs:.2f}" if self.theirs else "–"


def pairs(
    ours: Sequence[str], theirs: Sequence[str], runs: int, env: Mapping[str, str] | None = None
) -> tuple[float, float]:
    """Return the medians of what two programs print, run in turn."""
    figures = [(printed(ours, env), printed(theirs, env)) for _ in range(runs)]
    return median(figure for figure, _ in figures), median(figure for _, figure in figures)


def printed(program: Sequence[str], env: Mapping[str, str] | None = None) -> float:
    """Return the number that a program prints on its last line."""
    surroundings = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{HERE}", **(env or {})}
    run = subprocess.run([sys.executable, *program], env=surroundings, capture_output=True, text=True, check=True)
    return float(json.loads(run.stdout.splitlines()[-1]))
