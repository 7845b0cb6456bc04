"""Print how often each crowd breaks a promise: `PYTHONPATH=tests python -m proof.crowds`."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from proof.crowds.cases import LARGE, SMALL
from proof.crowds.crowd import Crowd, outcome_of
from proof.crowds.invariants import broken
from proof.crowds.search import search

SHUFFLES, DRAWN = 40, 1_000


def row(name: str, settings: Mapping[str, Any], seeds: Iterable[int]) -> str:
    """Return a line of the table: in how many shuffles which promise was broken, and how often a handler ran at most."""
    found, tried, most = Counter[str](), 0, 0
    for seed in seeds:
        crowd = Crowd(**settings, seed=seed)
        outcome = outcome_of(crowd)
        tried += 1
        most = max(most, *(runs for runs in outcome.runs.values()))
        found.update({problem.partition(":")[0] for problem in broken(crowd, outcome)})
    problems = ", ".join(f"{count} {promise}" for promise, count in found.items()) or "none"
    return f"| {name} | {tried} | {problems} | {most} |"


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Print the table."""
    logging.disable(logging.CRITICAL)
    say("| crowd | shuffles | promises broken in | most runs of a handler |\n|---|---|---|---|")
    for name, settings in SMALL.items():
        say(row(name, settings, range(SHUFFLES)))
    for name, settings in LARGE.items():
        say(row(name, settings, range(1)))
    say(f"| drawn at random | {DRAWN} | {len(list(search(range(DRAWN)))) or 'none'} | |")


if __name__ == "__main__":
    main()
