"""Run `make prove`: search all scenarios and schedules of timeouts, each to the same depth, and print what was found."""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser
from multiprocessing import Pool
from typing import NamedTuple

from proof.catalogue import RATE_LIMITED, SCENARIOS
from proof.exploring import Search
from proof.rate_limit_scenarios import excused
from proof.replaying import Scenario
from proof.service_bus import deep as service_bus
from proof.sqs import deep as sqs
from proof.story import smallest, story
from proof.timeouts import kinds as timeouts
from proof.timeouts.search import search as search_timeouts
from proof.timeouts.search import story as story_of_timeouts

SEARCHED: tuple[Scenario, ...] = (*SCENARIOS, *RATE_LIMITED, *sqs.DEEP, *service_bus.DEEP)
ALL = {scenario.name: scenario for scenario in SEARCHED if scenario.faults}
DEEPEST = 3
LONGER, PROCESSES = 500, 2
FROM_SEED = 10**9
WEIGHT = 5
"""So many times more of timeouts' schedules of a kind are searched than of a scenario: there are few kinds, and each has no end."""


class Result(NamedTuple):
    """The result of searching one scenario, or one kind of timeouts' schedules."""

    row: str
    schedules: int
    broken: int
    story: str


class Job(NamedTuple):
    """One search: its name, how many schedules of two and more faults it tries, and the seed that draws them."""

    name: str
    longer: int
    seed: int


def search(job: Job) -> Result:
    """Run one search."""
    logging.disable(logging.CRITICAL)
    return search_scenario(job) if job.name in ALL else search_timeouts_kind(job)


def search_scenario(job: Job) -> Result:
    """Search one scenario."""
    scenario = ALL[job.name]
    found = Search(scenario, deepest=DEEPEST, seed=job.seed).run(job.longer)
    broken = [schedule for schedule, _ in found.broken if not excused(scenario, schedule)]
    text = story(scenario, smallest(scenario, min(broken, key=len))) if broken else ""
    one, two, three = (found.sizes[faults] for faults in (1, 2, 3))
    row = f"{job.name:40} {one:8,} {two:8,} {three:8,} {len(broken):8,}"
    return Result(row, found.schedules, len(broken), text)


def search_timeouts_kind(job: Job) -> Result:
    """Search one kind of timeouts' schedules, each with any number of faults."""
    first = job.seed * FROM_SEED
    found = search_timeouts(timeouts.NAMED[job.name], range(first, first + WEIGHT * job.longer))
    text = story_of_timeouts(job.name, found.broken[0][0]) if found.broken else ""
    row = f"{job.name:40} {found.schedules:15,} of any number {len(found.broken):6,}"
    return Result(row, found.schedules, len(found.broken), text)


def jobs(longer: int, seed: int, only: str) -> list[Job]:
    """Return the searches whose names begin like this."""
    return [Job(name, longer, seed) for name in (*ALL, *timeouts.NAMED) if name.startswith(only)]


def print_line(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Search, and print a line for each scenario and a story for each that broke a promise."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument(
        "--longer",
        type=int,
        default=LONGER,
        help="schedules of two and more faults of each scenario, beside all of one",
    )
    parser.add_argument("--processes", type=int, default=PROCESSES, help="how many search at a time")
    parser.add_argument("--seed", type=int, default=1, help="draws what is not tried in order")
    parser.add_argument("--only", default="", help="how the names of those begin that are searched, such as timeouts")
    arguments = parser.parse_args()
    wanted = jobs(arguments.longer, arguments.seed, arguments.only)
    total, broken, stories = 0, 0, []
    print_line(f"{'scenario':40} {'1 fault':>8} {'2':>8} {'3':>8} {'broken':>8}")
    with Pool(arguments.processes) as pool:
        for result in pool.imap(search, wanted):
            print_line(result.row)
            total, broken = total + result.schedules, broken + result.broken
            stories.append(result.story)
    print_line(f"{total:,} schedules of {len(wanted)} scenarios, {broken:,} of which broke a promise.")
    print_line("\n\n".join(filter(None, stories)))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
