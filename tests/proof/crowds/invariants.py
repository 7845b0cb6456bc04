"""Say which promise a crowd broke, in the words of docs/internals/proof.md: nobody innocent is given up, and nobody runs or is copied too often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import ceil

from proof.crowds.crowd import Crowd, Outcome, carried_by
from proof.crowds.fronts import TIMEOUT

ASKED_AGAIN = 300 + 2 * TIMEOUT
"""Seconds after which a visibility timeout that was lowered is known, and what was begun before has ended."""

LONGEST_DELAY = 900
"""Seconds that SQS delays a message by; a copy that waits longer hops."""


def broken(crowd: Crowd, outcome: Outcome) -> Iterator[str]:
    """Return the promises that were broken; beside faults, only those that hold beside any of them."""
    if outcome.endless:
        yield "ENDLESS"
        return
    yield from (f"STUCK: {name}" for name in outcome.left)
    for name in {*outcome.runs, *outcome.given_up, *outcome.copies}:
        if not outcome.succeeded[name] and name not in outcome.given_up:
            yield f"LOST: {name}, {outcome.runs[name]} runs"
    yield from multiplied(crowd, outcome)
    yield from without_reason(crowd, outcome)
    if not crowd.is_plain:  # a delivery that outlives its visibility timeout costs an attempt and its runs
        return
    yield from too_early(crowd, outcome)
    yield from too_often(crowd, outcome)
    if not outcome.struck:
        yield from convicted(crowd, outcome)
        yield from too_rarely(crowd, outcome)
        yield from copied_too_often(crowd, outcome)


def convicted(crowd: Crowd, outcome: Outcome) -> Iterator[str]:
    """Return which innocent messages were given up or lost a round."""
    for name, reason in outcome.given_up.items():
        if is_innocent(crowd, outcome, name):
            yield f"CONVICTED: {name} ({reason}), {outcome.runs[name]} runs"
    for name, times in outcome.times.items():
        last = max(round_ for round_, _ in times)
        if is_innocent(crowd, outcome, name) and kind_of(name) != "fails" and last > 0:
            yield f"ROUND LOST: {name} ran in round {last}"


def too_rarely(crowd: Crowd, outcome: Outcome) -> Iterator[str]:
    """Return which messages had fewer attempts than the ladder has, less one for each delivery lost by the end of a process."""
    for name in outcome.given_up:
        kind, _, number = name.partition(" ")[2].partition(" ")
        least = attempts_of(crowd, name) - outcome.unreported[name]
        if ((kind == "fails" and not number) or kind == "too") and outcome.runs[name] < least:
            yield f"ATTEMPTS: {name} ran {outcome.runs[name]} times, of at least {least}"


def too_often(crowd: Crowd, outcome: Outcome) -> Iterator[str]:
    """Return which handlers ran too often; each fault may double the copies that climb the rest of the ladder."""
    for name, runs in outcome.runs.items():
        if runs > (most := most_runs(crowd, outcome, name) * 2 ** len(outcome.struck)):
            yield f"RUNS: {name} ran {runs} times of {most}"


def too_early(crowd: Crowd, outcome: Outcome) -> Iterator[str]:
    """Return which messages began a round before its delay was over; where copies are doubled nothing can be said."""
    for name, times in {} if outcome.struck else outcome.times.items():
        for (before, earlier), (round_, later) in pairwise(times):
            if round_ > before and later - earlier < crowd.step * round_ - 1e-6:
                yield f"EARLY: {name} began round {round_} after {later - earlier:.1f} s"


def copied_too_often(crowd: Crowd, outcome: Outcome) -> Iterator[str]:
    """Return that there were more copies than retries, hops and hand-backs for messages that are tried alone.

    Where handlers take time, messages are also handed back for lack of it.
    """
    bodies = [*crowd.bodies, *(body for _, body in crowd.later)]
    if crowd.call_time or any(body.startswith(("takes", "too", "blocks")) for body in bodies):
        return
    hops = sum(max(ceil(crowd.step * round_ / LONGEST_DELAY), 1) for round_ in range(1, crowd.delayed + 1))
    retries = sum(hops for name in outcome.runs if outcome.copies[name])
    retries += outcome.runs.total() if crowd.counter == "header" or crowd.granted else 0
    most = retries + (crowd.batch_size - 1) * len(outcome.tried)
    if (copies := outcome.copies.total()) > most:
        yield f"COPIES: {copies} of {most}, {len(outcome.tried)} tried alone"


def multiplied(crowd: Crowd, outcome: Outcome) -> Iterator[str]:
    """Return which messages have several copies where one is allowed; each fault may double the copies.

    One broker message is settled by one copy, so a message has one error copy. Where invocations begin after their messages were shown to
    others, it may be settled by several, but what these copies become is not doubled in its turn.
    """
    faults, copies = len(outcome.struck), Counter(outcome.lineage.values())
    doubled = {one for one, number in copies.items() if number > 1 + faults}
    if crowd.lowered is not None:
        noticed = crowd.lowered[0] + ASKED_AGAIN
        last = {parent: outcome.sent_at[copy] for copy, parent in outcome.lineage.items()}
        doubled = {one for one in doubled if last[one] > noticed}
    elif not crowd.begins_hidden:
        doubled = {one for one in doubled if not doubled.isdisjoint(ancestors(one, outcome.lineage))}
    yield from (f"MULTIPLY: one of {outcome.owners[one]} was copied {copies[one]} times" for one in doubled)
    for name, number in outcome.error_copies.items():
        if crowd.begins_hidden and number > (most := 2**faults):
            yield f"MULTIPLY: {name} is in the error queue {number} times, at most {most} are allowed"


def without_reason(crowd: Crowd, outcome: Outcome) -> Iterator[str]:
    """Return which messages are in the error queue without a reason.

    Where SQS itself moves a message while it waits for its invocation, a copy has one.
    """
    for name, reason in outcome.given_up.items():
        explained = reason is not None or (
            not crowd.begins_hidden and (name in outcome.explained or not outcome.runs[name])
        )
        if not explained and not outcome.struck:
            yield f"UNREPORTED: {name}"


def ancestors(broker_id: str, lineage: Mapping[str, str]) -> Iterator[str]:
    """Yield what a copy was copied from, and what that was, up to what was sent."""
    while (broker_id := lineage.get(broker_id, "")) != "":
        yield broker_id


def is_innocent(crowd: Crowd, outcome: Outcome, name: str) -> bool:
    """True if the handler succeeds in the end: at its first run, or within the attempts that no end of a process took from it."""
    kind, _, number = name.partition(" ")[2].partition(" ")
    if kind == "fails" and number:
        return int(number) + outcome.unreported[name] < attempts_of(crowd, name)
    return kind in ("ok", "takes")


def kind_of(name: str) -> str:
    """Return what a message does, by its name."""
    return name.split(" ")[1]


def attempts_of(crowd: Crowd, name: str) -> int:
    """Return the attempts that the ladder grants a message, less those that it carried when it came."""
    return crowd.attempts - carried_by(crowd, int(name.partition(" ")[0]))


def most_runs(crowd: Crowd, outcome: Outcome, name: str) -> int:
    """Return how often a handler may run: the first death of each killer may cost a message of its invocation one run more.

    At its later deaths a killer is a suspect, and what ran before it is settled. A handler that takes a while may be stopped once for
    the sake of others, which is no attempt; so may each coroutine beside one that blocks the event loop. The end of a process takes
    the count of its retries in process along.
    """
    kind, _, number = name.partition(" ")[2].partition(" ")
    attempts, stopped = attempts_of(crowd, name), crowd.front == "coroutines"
    more = min(outcome.unreported[name], killers_in(crowd)) + stopped
    more += outcome.unreported[name] * crowd.retries if crowd.in_process else 0
    match kind:
        case "kills":
            in_a_round = crowd.retries + 3 if crowd.counter == "native" else 3 * (crowd.retries + 1)
            return in_a_round * (crowd.delayed + 1) + stopped
        case "too" | "blocks":
            return attempts + 1 + more
        case "fails":
            return (min(int(number) + 1, attempts) if number else attempts) + more
        case "takes":
            return 2 + more
        case _:
            return 1 + more


def killers_in(crowd: Crowd) -> int:
    """Return how many messages end their process; a coroutine that blocks the event loop does when it starts late."""
    kinds = ("kills", "blocks") if crowd.front == "coroutines" else ("kills",)
    return sum(body in kinds for body in [*crowd.bodies, *(body for _, body in crowd.later)])
