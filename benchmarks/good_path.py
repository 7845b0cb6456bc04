"""Measure what a good record costs under each of the two, with the context of Lambda's own runtime client: microseconds, and instructions by callgrind.

`good_path.py` prints the table; `good_path.py run ours json plain 10 40` handles so many batches, and prints the microseconds per record.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import timeit
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from measuring import HERE, SOURCE, pairs
from subjects import event, lambda_context, ours, theirs

ROUNDS = 3
RECORDS = 2_000
"""Records of one count of instructions, beyond those of the start."""


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the table.

    Args:
        handler: "id", which reads the id alone, or "json", which parses the body too.
        record: "plain", or "attribute" for one with an attribute of its sender.
        size: records of a batch.
    """

    handler: str
    record: str
    size: int

    def program(self, subject: str, batches: int) -> list[str]:
        """Return the arguments that run it."""
        return [str(HERE / "good_path.py"), "run", subject, self.handler, self.record, str(self.size), str(batches)]


CASES = (
    Case("id", "plain", 10), Case("id", "attribute", 10), Case("id", "plain", 1_000),
    Case("json", "plain", 10), Case("json", "attribute", 10), Case("json", "plain", 1_000),
)  # fmt: skip


def run(subject: str, handler: str, record: str, size: int, batches: int) -> float:
    """Handle so many batches, and return the microseconds per record, the best of five rounds."""
    called = (ours if subject == "ours" else theirs)(parses=handler == "json")
    batch, context = event(size, attribute=record == "attribute"), lambda_context()
    return min(timeit.repeat(lambda: called(batch, context), number=batches, repeat=5)) / batches / size * 1e6


def instructions(case: Case, subject: str) -> float:
    """Return the instructions per record: those of more batches less those of few, so that the start is no part of it."""
    few, many = 2, 2 + max(RECORDS // case.size // 5, 2)
    counts = [collected(case.program(subject, batches)) for batches in (few, many)]
    return (counts[1] - counts[0]) / (5 * (many - few) * case.size)


def collected(program: list[str]) -> int:
    """Return the instructions of a whole process."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable]
    environment = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{HERE}", "PYTHONHASHSEED": "0"}
    ended = subprocess.run([*valgrind, *program], env=environment, capture_output=True, text=True, check=True)
    return int(ended.stderr.rpartition("Collected :")[2].split()[0])


def table(cases: tuple[Case, ...] = CASES) -> Table:
    """Measure all, and return the table; without valgrind it says that instructions were not counted."""
    counts = shutil.which("valgrind") is not None
    made = Table(
        "handler",
        "record",
        "batch",
        "ours (µs)",
        "powertools (µs)",
        "ratio",
        title="a good record, whole",
        title_justify="left",
    )
    for column in ("ours (instructions)", "powertools", "ratio") if counts else ():
        made.add_column(column)
    for case in cases:
        batches = max(5_000 // case.size, 2)
        times = pairs(case.program("ours", batches), case.program("theirs", batches), ROUNDS)
        counted = [instructions(case, subject) for subject in ("ours", "theirs")] if counts else []
        figures = [f"{times[0]:.2f}", f"{times[1]:.2f}", f"{times[0] / times[1]:.2f}"]
        figures += [f"{counted[0]:,.0f}", f"{counted[1]:,.0f}", f"{counted[0] / counted[1]:.2f}"] if counted else []
        made.add_row(case.handler, case.record, f"{case.size:,}", *figures)
    made.caption = None if counts else "valgrind is not installed: instructions were not counted"
    return made


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        print(run(*sys.argv[2:5], *map(int, sys.argv[5:])))  # type: ignore[arg-type]  # noqa: T201  # read by pairs
    else:
        Console().print(table())
