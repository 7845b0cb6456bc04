"""`make waves`: how often messages are deferred in an outage, and how they come back, by the longest wait and the grid on SQS."""

from __future__ import annotations

import logging
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from time import perf_counter
from typing import NamedTuple

from recoverable import RateLimit, Recoverability
from recoverable._rate_limit import state
from simulation.__main__ import print_now
from simulation.outages.cell import Cell, Result, simulate
from simulation.outages.store import SharedCircuit
from simulation.outages.ways import FAILURES, Way, limited
from simulation.tables import clock, line

MINUTES = (15, 10, 5, 2)
GRIDS = (1, 10)
MESSAGES, OUTAGE, INSTANCES = 300, 30.0, 20

HEADS = ("cloud", "longest wait", "grid", "invocations", "$", "all done after", "most in one second")


class Wave(NamedTuple):
    """One that is simulated.

    Args:
        cloud: "AWS" or "Azure".
        longest: the longest wait, in minutes.
        grid: the longest step of the grid on SQS, in seconds; 1 is what SQS's whole seconds come to.
    """

    cloud: str
    longest: int
    grid: int


def waves(clouds: Sequence[str]) -> Iterator[Wave]:
    """Yield all that are compared; Service Bus has no grid, for each of its messages is an invocation."""
    for cloud in clouds:
        yield from (Wave(cloud, longest, grid) for longest in MINUTES for grid in (GRIDS if cloud == "AWS" else (1,)))


def waiting(longest: timedelta, store: SharedCircuit) -> Recoverability:
    """Return the default ladder with a shared circuit and this longest wait."""
    return limited(RateLimit(FAILURES, store=store, longest_wait=longest))


def simulated(wave: Wave, messages: int, outage: float) -> Result:
    """Simulate an outage with this wave after it."""
    state.GRID = timedelta(seconds=wave.grid)  # a constant of the package: only here it has other values
    way = Way("shared circuit", partial(waiting, timedelta(minutes=wave.longest)))
    return simulate(Cell(way.name, wave.cloud, INSTANCES, messages, outage), way)


def row(wave: Wave, result: Result) -> list[str]:
    """Return one result as a row."""
    grid = f"{wave.grid} s" if wave.cloud == "AWS" else "–"
    done = "–" if result.done is None else clock(result.done)
    cells = [wave.cloud, f"{wave.longest} min", grid, f"{result.invocations:,}", f"{result.dollars:.3f}"]
    return [*cells, done, f"{result.peak:,}"]


def main() -> None:
    """Simulate all waves, one after the other, and print the table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--clouds", nargs="+", default=["AWS", "Azure"])
    parser.add_argument("--messages", type=int, default=MESSAGES, help="that wait when the outage begins")
    parser.add_argument("--minutes", type=float, default=OUTAGE, help="how long the outage takes")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    began = perf_counter()
    print_now("\n".join(map(line, (HEADS, ["---"] * len(HEADS)))))
    for wave in waves(arguments.clouds):
        print_now(line(row(wave, simulated(wave, arguments.messages, arguments.minutes))))
    print_now(f"\n{perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
