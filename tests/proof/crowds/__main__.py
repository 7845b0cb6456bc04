"""Print how often each crowd breaks a promise: `PYTHONPATH=tests python -m proof.crowds`."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from proof.crowds.cases import LARGE, SMALL
from proof.crowds.crowd import Crowd, outcome_of
from proof.crowds.invariants import broken
from proof.crowds.search import faulty_of, granting_of, overlapping_of, search
from proof.service_bus import locks

SHUFFLES, DRAWN, DRAWN_WITH_FAULTS, DRAWN_WITH_LOCKS = 40, 1_000, 500, 200


def row(name: str, settings: Mapping[str, Any], seeds: Sequence[int]) -> str:
    """Return a line of the table: in how many shuffles a promise was broken, and for how many messages each."""
    found, bad, most = Counter[str](), 0, 0
    for seed in seeds:
        crowd = Crowd(**settings, seed=seed)
        outcome = outcome_of(crowd)
        problems = [problem.partition(":")[0] for problem in broken(crowd, outcome)]
        bad += bool(problems)
        most = max(most, *(runs for runs in outcome.runs.values()))
        found.update(problems)
    messages = ", ".join(f"{count:,} {promise}" for promise, count in found.items())
    return f"| {name} | {bad} of {len(seeds)}{f': {messages}' if messages else ''} | {most} |"


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Print the table."""
    logging.disable(logging.CRITICAL)
    say("| crowd | shuffles that break a promise: messages | most runs of a handler |\n|---|---|---|")
    for name, settings in SMALL.items():
        say(row(name, settings, range(SHUFFLES)))
    for name, settings in LARGE.items():
        say(row(name, settings, range(1)))
    say(f"| drawn at random | {len(list(search(range(DRAWN))))} of {DRAWN:,} | |")
    faulty = list(search(range(DRAWN_WITH_FAULTS), faulty_of))
    say(f"| drawn at random, with one to three faults | {len(faulty)} of {DRAWN_WITH_FAULTS:,} | |")
    say(f"| drawn at random, a policy grants more | {len(list(search(range(DRAWN), granting_of)))} of {DRAWN:,} | |")
    say(f"| drawn at random, deliveries overlap | {len(list(search(range(DRAWN), overlapping_of)))} of {DRAWN:,} | |")
    given_up = sum(any(locks.broken(locks.world_of(seed))) for seed in range(DRAWN_WITH_LOCKS))
    say(f"| Service Bus, drawn at random, batches outlive their locks | {given_up} of {DRAWN_WITH_LOCKS} | |")


if __name__ == "__main__":
    main()
