"""Measure what a good record costs under each of the two, with the context of Lambda's own runtime client: microseconds, and instructions by callgrind.

`good_path.py` prints the table; `good_path.py run ours json plain 10 40` handles so many batches, and prints the microseconds per record.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
import timeit
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from measuring import HERE, SOURCE, pairs
from recoverable._flow import deadline
from recoverable.aws import _time_budget
from subjects import event, lambda_context, ours, theirs

ROUNDS = 3
RECORDS = 200
"""Records of one count of instructions."""

WARM_UP = 200
"""Records that are handled before they are counted."""

MARK = "getppid"
"""A function of C that nothing else calls: at each call of it valgrind writes what it has counted since the one before."""

SLOWER = 1_000
"""How many times slower Python may run under valgrind, beside other work. What is done again after some milliseconds is done after so many there."""


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
    Case("id", "plain", 1), Case("id", "plain", 10), Case("id", "attribute", 10), Case("id", "plain", 1_000),
    Case("json", "plain", 10), Case("json", "attribute", 10), Case("json", "plain", 1_000),
)  # fmt: skip


def run(subject: str, handler: str, record: str, size: int, batches: int) -> float:
    """Handle so many batches, and return the microseconds per record, the best of five rounds."""
    called = (ours if subject == "ours" else theirs)(parses=handler == "json")
    batch, context = event(size, attribute=record == "attribute"), lambda_context()
    return min(timeit.repeat(lambda: called(batch, context), number=batches, repeat=5)) / batches / size * 1e6


def instructions(cases: Sequence[Case], subject: str) -> list[float]:
    """Return the instructions per record of each case, counted in one process, without its start and first batches."""
    program = [str(HERE / "good_path.py"), "count", subject, json.dumps([astuple(case) for case in cases])]
    environment = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{HERE}", "PYTHONHASHSEED": "0"}
    with TemporaryDirectory() as folder:
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--dump-before={MARK}"]
        valgrind.append(f"--callgrind-out-file={folder}/part")
        subprocess.run([*valgrind, sys.executable, *program], env=environment, capture_output=True, check=True)
        # part 1 is all until the first mark, part 2 the first case, part 3 what is between it and the second, and so on
        parts = [(Path(folder) / f"part.{2 * number}").read_text() for number in range(1, len(cases) + 1)]
    totals = [int(part.partition("\ntotals: ")[2].split()[0]) for part in parts]
    return [total / (batches_of(case) * case.size) for total, case in zip(totals, cases, strict=True)]


def batches_of(case: Case) -> int:
    """Return how many batches of a case are counted."""
    return max(RECORDS // case.size, 2)


def count(subject: str, cases: list[Case]) -> None:
    """Handle the batches of each case between two marks, for `instructions`."""
    deadline.LOOK_EVERY *= SLOWER
    _time_budget.CHECK_EVERY *= SLOWER
    for case in cases:
        called = (ours if subject == "ours" else theirs)(parses=case.handler == "json")
        batch, context = event(case.size, attribute=case.record == "attribute"), lambda_context()
        for _ in range(WARM_UP // case.size + 1):
            called(batch, context)
        gc.collect()
        instrument("on")
        os.getppid()
        for _ in range(batches_of(case)):
            called(batch, context)
        os.getppid()
        instrument("off")


def instrument(state: str) -> None:
    """Have valgrind count from now on, or no more: what is not counted, above all the imports, takes a tenth of the time."""
    subprocess.run(["vgdb", f"--pid={os.getpid()}", "instrumentation", state], capture_output=True, check=True)


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
    counted = [instructions(cases, subject) for subject in ("ours", "theirs")] if counts else []
    for number, case in enumerate(cases):
        batches = max(5_000 // case.size, 2)
        times = pairs(case.program("ours", batches), case.program("theirs", batches), ROUNDS)
        figures = [f"{times[0]:.2f}", f"{times[1]:.2f}", f"{times[0] / times[1]:.2f}"]
        if counts:
            own, other = (each[number] for each in counted)
            figures += [f"{own:,.0f}", f"{other:,.0f}", f"{own / other:.2f}"]
        made.add_row(case.handler, case.record, f"{case.size:,}", *figures)
    made.caption = None if counts else "valgrind is not installed: instructions were not counted"
    return made


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        print(run(*sys.argv[2:5], *map(int, sys.argv[5:])))  # type: ignore[arg-type]  # noqa: T201  # read by pairs
    elif sys.argv[1:2] == ["count"]:
        count(sys.argv[2], [Case(*each) for each in json.loads(sys.argv[3])])
    else:
        Console().print(table())
