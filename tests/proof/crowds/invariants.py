"""Say which promise a crowd broke: nobody innocent is given up, and nobody runs too often."""

from __future__ import annotations

from collections.abc import Iterator

from proof.crowds.crowd import Crowd, Outcome


def broken(crowd: Crowd, outcome: Outcome) -> Iterator[str]:
    """Return the promises that were broken, in the words of docs/proof.md."""
    yield from (f"STUCK: {name}" for name in outcome.left)
    for name, reason in outcome.given_up.items():
        if is_innocent(crowd, name):
            yield f"CONVICTED: {name} ({reason}), {outcome.runs[name]} runs"
        if reason is None:
            yield f"UNREPORTED: {name}"
    for name, rounds in outcome.rounds.items():
        if is_innocent(crowd, name) and not name.partition(" ")[2].startswith("fails") and max(rounds) > 0:
            yield f"ROUND LOST: {name} ran in round {max(rounds)}"
    for name, runs in outcome.runs.items():
        if runs > (most := most_runs(crowd, name)):
            yield f"RUNS: {name} ran {runs} times of {most}"


def is_innocent(crowd: Crowd, name: str) -> bool:
    """True if the handler succeeds in the end: at its first run, or, where nothing ends the process, within the ladder."""
    kind = name.partition(" ")[2]
    if kind.startswith("fails "):
        return killers_in(crowd) == 0 and int(kind.removeprefix("fails ")) < crowd.attempts
    return kind == "ok" or kind.startswith("takes")


def killers_in(crowd: Crowd) -> int:
    """Return how many messages end their process."""
    return sum(body == "kills" for body in [*crowd.bodies, *(body for _, body in crowd.later)])


def most_runs(crowd: Crowd, name: str) -> int:
    """Return how often a handler may run: the first death of each killer may cost a message of its invocation one run more.

    At its later deaths a killer is a suspect, and what ran before it is settled. A handler that takes a while may be stopped once for
    the sake of others, which is no attempt.
    """
    deaths = killers_in(crowd)
    kind, _, number = name.partition(" ")[2].partition(" ")
    match kind:
        case "kills":
            in_a_round = crowd.immediate + 3 if crowd.counter == "native" else 3 * (crowd.immediate + 1)
            return in_a_round * (crowd.delayed + 1)
        case "too":
            return crowd.attempts + 1 + deaths
        case "fails":
            return (min(int(number) + 1, crowd.attempts) if number else crowd.attempts) + deaths
        case "takes":
            return 2 + deaths
        case _:
            return 1 + deaths
