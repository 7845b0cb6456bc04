"""Say which promise a crowd of message groups broke, in the words of docs/internals/proof.md."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from proof.fifo.crowd import FifoCrowd, Outcome

CLOCKS = 1.0
"""Seconds by which a round may start early, for two clocks never agree."""

ALLOWANCE = 2
"""Deliveries beyond all attempts after which a message is given up."""

ENOUGH_ATTEMPTS = 4
"""Attempts of a ladder with immediate retries from which on several killers in batches take no message of another group along."""


def broken(crowd: FifoCrowd, outcome: Outcome) -> Iterator[str]:
    """Return the promises that were broken."""
    yield from (f"STUCK: {name}" for name in outcome.left)
    yield from (f"UNREPORTED: {name}" for name, reason in outcome.given_up.items() if reason is None)
    yield from rounds_that_start_early(crowd, outcome)
    yield from innocents_given_up(crowd, outcome)
    yield from wrong_numbers_of_runs(crowd, outcome)
    yield from groups_out_of_order(outcome)


def rounds_that_start_early(crowd: FifoCrowd, outcome: Outcome) -> Iterator[str]:
    """Check that no round starts before the sum of the delays before it."""
    for run in outcome.runs:
        if run.since < crowd.round_starts[run.round] - CLOCKS:
            due = crowd.round_starts[run.round]
            yield f"EARLY: {run.name} in round {run.round} after {run.since:.0f} s of {due:.0f} s"


def innocents_given_up(crowd: FifoCrowd, outcome: Outcome) -> Iterator[str]:
    """Check that what would succeed is not given up for faults within the allowance, nor for a killer of another group."""
    for name, reason in outcome.given_up.items():
        if is_innocent(crowd, name):
            yield f"CONVICTED: {name} ({reason}), {len(outcome.runs_of(name))} runs"


def is_innocent(crowd: FifoCrowd, name: str) -> bool:
    """True if a message would succeed, and nothing may have it given up that goes wrong beside it."""
    if not would_succeed(crowd, name.partition(" ")[2]):
        return False
    if crowd.batch_size == 1:
        return crowd.lost <= ALLOWANCE
    if crowd.is_slow:
        return False
    if crowd.killers == 0:
        return crowd.lost <= ALLOWANCE
    one_of_many = crowd.killers == 1 or (crowd.immediate > 0 and crowd.attempts >= ENOUGH_ATTEMPTS)
    return crowd.lost == 0 and one_of_many and name.partition(".")[0] not in groups_of_killers(crowd)


def would_succeed(crowd: FifoCrowd, body: str) -> bool:
    """True if a message succeeds within the attempts that are left to it, or at its first run where killers take attempts."""
    kind, _, number = body.partition(" ")
    disturbed = crowd.batch_size > 1 and (crowd.killers > 0 or any(len(group) > 1 for group in crowd.groups))
    match kind:
        case "ok" | "takes":
            return True
        case "fails" if number:
            return not disturbed and int(number) < crowd.attempts - crowd.lost
        case "waits":  # a delayed retry must be left to it
            return not disturbed and not crowd.lost and crowd.delayed > 0
        case _:
            return False


def groups_of_killers(crowd: FifoCrowd) -> set[str]:
    """Return the groups in which a message ends its process."""
    first = {str(number) for number, bodies in enumerate(crowd.groups) if "kills" in bodies}
    return first | {
        str(number) for number, (_, body) in enumerate(sorted(crowd.later), len(crowd.groups)) if body == "kills"
    }


def wrong_numbers_of_runs(crowd: FifoCrowd, outcome: Outcome) -> Iterator[str]:
    """Check that a handler runs no more often than the ladder and the allowance say, and that a failing one gets all attempts but those that faults cost it."""
    most = crowd.attempts + ALLOWANCE
    for name in {run.name for run in outcome.runs}:
        if (runs := len(outcome.runs_of(name))) > most:
            yield f"RUNS: {name} ran {runs} times of {most}"
    if crowd.batch_size > 1:
        return
    least = crowd.attempts - crowd.lost
    for name, reason in outcome.given_up.items():
        runs = len(outcome.runs_of(name))
        if reason == "ValueError" and crowd.lost <= ALLOWANCE and runs < least:
            yield f"ATTEMPTS: {name} ran {runs} times, of {crowd.attempts}"
        if reason == "ValueError" and not crowd.lost and runs > crowd.attempts:
            yield f"RUNS: {name} ran {runs} times of {crowd.attempts}"


def groups_out_of_order(outcome: Outcome) -> Iterator[str]:
    """Check that nothing runs after a later message of its group has run."""
    for group in {run.name.partition(".")[0] for run in outcome.runs}:
        places = [place(run.name) for run in outcome.runs if run.name.partition(".")[0] == group]
        if any(later < earlier for earlier, later in pairwise(places)):
            yield f"ORDER: group {group} ran {places}"


def place(name: str) -> int:
    """Return the place of a message in its group."""
    return int(name.partition(" ")[0].partition(".")[2])
