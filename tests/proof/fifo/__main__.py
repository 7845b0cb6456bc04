"""Print when rounds started, and which promises were broken, in each crowd of message groups: `PYTHONPATH=tests python -m proof.fifo`."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

from proof.fifo.cases import CASES
from proof.fifo.crowd import FifoCrowd, Outcome, outcome_of
from proof.fifo.invariants import broken
from proof.fifo.search import search

DRAWN = 1_000


def row(name: str, settings: Mapping[str, Any]) -> str:
    """Return a line of the table: when each round of the first message started, what the redrive policy took, and what was broken."""
    crowd = FifoCrowd(**settings)
    outcome = outcome_of(crowd)
    taken = sum(reason is None for reason in outcome.given_up.values())
    found = Counter(problem.partition(":")[0] for problem in broken(crowd, outcome))
    problems = ", ".join(f"{count} {promise}" for promise, count in found.items()) or "none"
    return f"| {name} | {starts_of_rounds(outcome)} | {len(outcome.runs_of(outcome.runs[0].name))} | {taken} | {problems} |"


def starts_of_rounds(outcome: Outcome) -> str:
    """Return the seconds after its first receive at which the first message began each round."""
    first: dict[int, float] = {}
    for run in outcome.runs_of(outcome.runs[0].name):
        first.setdefault(run.round, run.since)
    return ", ".join(f"{since:,.0f}" for since in first.values())


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Print the table."""
    logging.disable(logging.CRITICAL)
    say(
        "| FIFO crowd | rounds of its first message start after s | runs of it | taken without a reason | broken promises |"
    )
    say("|---|---|---|---|---|")
    for name, settings in CASES.items():
        say(row(name, settings))
    say(f"| drawn at random | | | | {len(list(search(range(DRAWN))))} of {DRAWN:,} |")


if __name__ == "__main__":
    main()
