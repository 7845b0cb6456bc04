"""`make outages`: simulates an outage of an hour for each way to meet it, and prints the table of docs/internals/outages.md."""

from __future__ import annotations

import logging
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from time import perf_counter

from simulation.__main__ import print_now
from simulation.outages.cell import Cell, simulate
from simulation.outages.tables import row, table
from simulation.outages.ways import WAYS
from simulation.tables import line

INSTANCES = (1, 20)
MESSAGES = 10_000
"""That wait when the outage begins."""


def cells(
    clouds: Sequence[str], ways: Sequence[str], instances: Sequence[int], messages: int, minutes: float
) -> Iterator[Cell]:
    """Yield the cells of the table, in its order."""
    for cloud in clouds:
        for name, way in WAYS.items():
            if cloud in way.clouds and name in ways:
                yield from (Cell(name, cloud, number, messages, minutes) for number in instances)


def main() -> None:
    """Simulate all cells, one after the other, and print the table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--clouds", nargs="+", default=["AWS", "Azure"])
    parser.add_argument("--ways", nargs="+", default=list(WAYS))
    parser.add_argument("--instances", type=int, nargs="+", default=INSTANCES)
    parser.add_argument("--messages", type=int, default=MESSAGES, help="that wait when the outage begins")
    parser.add_argument("--minutes", type=float, default=60.0, help="how long the outage takes")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    began, results = perf_counter(), []
    asked = (arguments.clouds, arguments.ways, arguments.instances, arguments.messages, arguments.minutes)
    for cell in cells(*asked):
        results.append(result := simulate(cell))
        print_now(f"{result.took:6.0f} s  {line(row(result))}")
    print_now(f"\n{table(results)}\n\n{perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
