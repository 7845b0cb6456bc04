"""`make simulate`: simulates each subject on one to a thousand instances, and prints the tables of docs/internals/scale.md."""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from multiprocessing import Pool
from time import perf_counter

from simulation import logged
from simulation.cell import Cell, Result, simulate
from simulation.subjects import SUBJECTS
from simulation.tables import log_table, table

INSTANCES = (1, 10, 100, 1_000)
PROCESSES = 2
FEWEST_BY_INSTANCE = 10
"""Messages that each instance must find when all fail: a full batch."""


def cells(fails_every: int, messages: int, numbers: Sequence[int]) -> list[Cell]:
    """Return the cells of one table, for these numbers of instances, with enough messages to fill a batch for each instance."""
    return [
        Cell(subject, max(messages, FEWEST_BY_INSTANCE * instances), fails_every, instances)
        for subject in SUBJECTS
        for instances in numbers
    ]


def quietly(cell: Cell) -> Result:
    """Simulate a cell, without the log of its failures."""
    logging.disable(logging.CRITICAL)
    return simulate(cell)


def duration(cell: Cell) -> int:
    """Estimate how long a cell takes: the longest begin first, so that both processes end at about the same time."""
    attempts = cell.messages + cell.messages // cell.fails_every * 24
    return attempts * (10 if cell.subject == "recoverable" and cell.instances > 1 else 1)


def main() -> None:
    """Simulate all cells and print the tables."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--few-fail", type=int, default=100_000, help="messages where one in a hundred fails")
    parser.add_argument("--all-fail", type=int, default=2_000, help="messages where all fail, at least")
    parser.add_argument("--instances", type=int, nargs="+", default=INSTANCES, help="each makes a row")
    arguments = parser.parse_args()
    began = perf_counter()
    tables = {
        "1 % fails": cells(100, arguments.few_fail, arguments.instances),
        "all fail": cells(1, arguments.all_fail, arguments.instances),
    }
    work = sorted((cell for each in tables.values() for cell in each), key=duration, reverse=True)
    with Pool(PROCESSES, maxtasksperchild=1) as pool:
        results = {result.cell: result for result in pool.imap_unordered(quietly, work)}
    for title, each in tables.items():
        print_now(f"\n{title}: {', '.join(sorted({f'{cell.messages:,}' for cell in each}))} messages\n")
        print_now(table([results[cell] for cell in each]))
    print_now(f"\nlog of a message that fails, {logged.MESSAGES} messages on one instance\n")
    print_now(log_table({subject: logged.logged(subject) for subject in logged.SUBJECTS}))
    print_now(f"\n{perf_counter() - began:.0f} s; the longest cells:")
    for result in sorted(results.values(), key=lambda result: result.took, reverse=True)[:5]:
        print_now(f"{result.took:6.0f} s  {result.cell}")


def print_now(text: str) -> None:
    """Print at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
