"""`make prove`: searches all scenarios, the larger ones too, for as long as it is given, and tells what it found."""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser
from collections import Counter
from multiprocessing import Pool
from typing import NamedTuple

from proof.catalogue import SCENARIOS
from proof.exploring import Search
from proof.replaying import Scenario
from proof.service_bus import deep as service_bus
from proof.sqs import deep as sqs
from proof.story import smallest, story

SEARCHED: tuple[Scenario, ...] = (*SCENARIOS, *sqs.DEEP, *service_bus.DEEP)
ALL = {
    scenario.name: scenario for scenario in SEARCHED if scenario.share
}  # without those that are for no fault at all
DEEPEST = 3
MOST = 10**9
PROCESSES = 2


class Result(NamedTuple):
    """What the search of one scenario found."""

    name: str
    sizes: Counter[int]
    broken: int
    story: str


def search(job: tuple[str, float, int]) -> Result:
    """Search one scenario for so many seconds."""
    name, seconds, seed = job
    logging.disable(logging.CRITICAL)
    found = Search(ALL[name], deepest=DEEPEST, seed=seed).run(MOST, seconds=seconds)
    first = min((schedule for schedule, _ in found.broken), key=len, default=None)
    told = "" if first is None else story(ALL[name], smallest(ALL[name], first))
    return Result(name, found.sizes, len(found.broken), told)


def tell(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Search, and print a row for each scenario and a story for each that broke a promise."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="how long the whole search takes")
    parser.add_argument("--seed", type=int, default=1, help="draws the schedules of two and three faults")
    arguments = parser.parse_args()
    seconds = arguments.minutes * 60 * PROCESSES / len(ALL)
    total, broken, stories = 0, 0, []
    tell(f"{'scenario':40} {'1 fault':>8} {'2':>8} {'3':>8} {'broken':>8}")
    with Pool(PROCESSES) as pool:
        for result in pool.imap(search, [(name, seconds, arguments.seed) for name in ALL]):
            one, two, three = (result.sizes[faults] for faults in (1, 2, 3))
            tell(f"{result.name:40} {one:8,} {two:8,} {three:8,} {result.broken:8,}")
            total, broken = total + result.sizes.total(), broken + result.broken
            stories.append(result.story)
    tell(f"{total:,} schedules of {len(ALL)} scenarios, {broken:,} of which broke a promise.")
    tell("\n\n".join(filter(None, stories)))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
