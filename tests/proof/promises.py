"""Check what must hold after each replay, whatever failed in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TypeAlias

from proof.cases import Case, case_of, done_by, given_up, is_failure, messages, not_settled, with_hops
from proof.fault_names import WRONG_CLOCKS
from proof.handlers import script
from proof.lives import Life
from proof.outgoing_promises import OUTGOING_PROMISES
from proof.replaying import Replay, Scenario

CLOCKS = 1.0
"""Seconds by which a round of a FIFO message may start early, for two clocks never agree."""

GOOD = {"ok", "works", "sends", "sends+works"}
"""What handlers do that would succeed."""

UNREPORTED_ALLOWANCE = 2
"""Unreported deliveries that never count as failures."""


def broken(replay: Replay) -> list[str]:
    """Return the promises that this replay breaks."""
    case = case_of(replay)
    if replay.endless:  # what is cut short breaks more, but says no more
        return list(nothing_is_stuck(case))
    return [problem for promise in promises_for(replay.scenario) for problem in promise(case)]


def promises_for(scenario: Scenario) -> tuple[Promise, ...]:
    """Return the promises that hold in a scenario."""
    if not scenario.copied:
        return FOR_THE_TOO_LARGE
    return WHERE_DELIVERIES_OVERLAP if scenario.overlaps else PROMISES


def nothing_is_stuck(case: Case) -> Iterator[str]:
    """Check that each message leaves its queue."""
    if case.replay.endless:
        yield "ENDLESS: it would go on for ever"
    for seen in case.replay.remaining:
        yield f"STUCK: {seen.id} is still in the queue"


def nothing_is_lost(case: Case) -> Iterator[str]:
    """Check that each message is processed, or is in an error queue, or was discarded by a decision."""
    for message_id, _, lives in messages(case):
        discarded = any(attempt.how.startswith("Unwanted") for life in lives for attempt in life.attempts)
        if message_id not in given_up(case) and not discarded and not any(life.succeeded for life in lives):
            yield f"LOST: {message_id} was neither processed, nor given up, nor discarded"


def innocents_are_processed(case: Case) -> Iterator[str]:
    """Check that a message that would succeed is not given up for two lost deliveries, nor for killers beside it, nor for one killer and a fault."""
    rounds = case.replay.scenario.recoverability.delayed.max_retries + 1
    killers = sum("kills" in script(body) for body in case.replay.sent.values())
    injected = len(case.replay.struck)
    for message_id, body, lives in messages(case):
        if not set(script(body)) <= GOOD or message_id not in given_up(case):
            continue
        failed = sum(is_failure(attempt.how) for life in lives for attempt in life.attempts)
        failed += sum(case.refusals[life.broker_id] for life in lives)
        hits = sum(case.hits[life.broker_id] for life in lives)
        spared = hits <= UNREPORTED_ALLOWANCE or (
            case.replay.scenario.apart and (injected == 0 or injected + killers <= UNREPORTED_ALLOWANCE)
        )
        if spared and failed < rounds:
            yield f"CONVICTED: {message_id} never failed ({failed} failures, {hits} hits), and is in the error queue"


def lost_in_process(case: Case, life: Life) -> int:
    """Return how many attempts the faults may have cost a message: the count of retries in process ends with its process."""
    scenario = case.replay.scenario
    in_process = scenario.recoverability.immediate.in_process
    return case.on_the_way(case.hits, life) * (scenario.attempts_per_round - 1) if in_process else 0


def waits_in_order(case: Case) -> Counter[str]:
    """Return by how many attempts messages wait where the rate is limited and the order kept.

    In a FIFO queue by two deliveries more than the ladder has, and in a session by all attempts of a delivery but one.
    """
    scenario = case.replay.scenario
    if scenario.recoverability.rate_limit is None:
        return Counter()
    inside = {
        each.broker_id: len(each.attempts) - len({one.delivery for one in each.attempts})
        for each in case.lives.values()
    }
    return Counter(dict.fromkeys(inside, UNREPORTED_ALLOWANCE) if scenario.fifo else inside)


def runs_are_few(case: Case) -> Iterator[str]:
    """Check that a fault costs each message of its invocation at most one extra run, and that copies get no more attempts than the ladder has."""
    scenario, waits = case.replay.scenario, waits_in_order(case)
    for life in case.lives.values():
        runs = life.before.in_earlier_rounds + life.before.attempts + len(life.attempts)
        most = scenario.attempts + lost_in_process(case, life) + case.on_the_way(waits, life)
        if runs > most + (hits := case.on_the_way(case.hits, life)):
            yield f"RUNS: {life.message_id} ran {runs} times of {most} with {hits} hits"
    for message_id, _, lives in messages(case):
        successes = sum(attempt.how == "succeeded" for life in lives for attempt in life.attempts)
        if successes > 1 + (hits := sum(case.hits[life.broker_id] for life in lives)):
            yield f"RUNS: {message_id} succeeded {successes} times with {hits} hits"


def rounds_are_short(case: Case) -> Iterator[str]:
    """Check that, with the native counter, a round has at most two extra attempts, and one more for each expiry."""
    scenario, waits = case.replay.scenario, waits_in_order(case)
    if scenario.header_counter or scenario.fifo:
        return
    for life in case.lives.values():
        most = scenario.attempts_per_round + case.on_the_way(case.expiries, life) + lost_in_process(case, life)
        most += case.on_the_way(waits, life)
        most += UNREPORTED_ALLOWANCE if case.on_the_way(case.hits, life) else 0
        if (made := life.before.attempts + len(life.attempts)) > most:
            yield f"ATTEMPTS: {life.message_id} has {made} attempts in round {life.before.round}, at most {most} are allowed"


def rounds_are_long_enough(case: Case) -> Iterator[str]:
    """Check that no round ends before all its attempts were made, except for deliveries that were no attempt."""
    scenario = case.replay.scenario
    if not scenario.counted:
        return
    for life in case.lives.values():
        if life.total is not None and life.origin is not None:
            by_header = life.total.attempts + life.total.not_counted
            by_broker = life.total.deliveries + life.total.repeated
            made = by_header if scenario.header_counter else by_broker
            wanted = scenario.attempts if scenario.fifo else scenario.attempts_per_round
            if made < wanted:
                yield f"ATTEMPTS: {life.message_id} leaves round {life.total.round} after {made} of {wanted}"


def copies_are_few(case: Case) -> Iterator[str]:
    """Check that a fault makes at most one extra copy of each broker message of its invocation."""
    for life in case.lives.values():
        ends = len(life.copies) + (life.succeeded or life.end == "dead-lettered")
        if ends - 1 > case.hits[life.broker_id]:
            yield f"COPIES: of {life.message_id}, {ends - 1} too many were made with {case.hits[life.broker_id]} hits"


def copies_do_not_multiply(case: Case) -> Iterator[str]:
    """Check that each broker message is copied once, however many deliveries it has, and once more for each fault, if the clocks are right.

    So a message has one error copy. Where a second delivery makes another copy, both climb the rest of the ladder, and are copied in their turn.
    """
    if clocks_are_wrong(case):
        return
    for life in case.lives.values():
        if (copies := len(life.copies)) > 1 + (hits := case.hits[life.broker_id]):
            yield f"MULTIPLY: {copies} copies were made of one broker message of {life.message_id} with {hits} hits"


def nothing_is_sent_without_a_lock(case: Case) -> Iterator[str]:
    """Check that a batch sends nothing after its locks have ended, if no fault has struck its invocation and the clocks are right."""
    if clocks_are_wrong(case):
        return
    struck = {each.point.invocation for each in case.replay.struck}
    received = {entry.invocation: entry.at for entry in case.replay.entries if entry.what == "received"}
    for entry in case.replay.entries:
        if entry.what == "sent" and entry.invocation in received.keys() - struck:
            late = entry.at - received[entry.invocation] - case.replay.scenario.lock
            if late > 0:
                yield f"MULTIPLY: {case.replay.identities[entry.broker_id]} was sent {late:g} s after the locks of its batch had ended"


def duplicates_are_dropped(case: Case) -> Iterator[str]:
    """Check that a queue that detects duplicates gets one copy of each original."""
    for life in case.lives.values():
        for copy, other in pairwise(life.copies):
            window = case.replay.scenario.window(copy.queue)
            if copy.queue == other.queue and other.sent_at - copy.sent_at < window:
                yield f"COPIES: {copy.queue} has two copies of {life.message_id} made of one original"


def reasons_are_given(case: Case) -> Iterator[str]:
    """Check that each message in an error queue has its reason, and that the redrive policy takes only messages that others have hit again and again.

    Where it takes a message that waits for its invocation, a copy has the reason.
    """
    explained = (
        {seen.id for seen in case.replay.errors if seen.exception_type} if case.replay.scenario.overlaps else set()
    )
    for seen in case.replay.errors:
        life = case.lives[seen.broker_id]
        if life.end == "dead-lettered":
            itself = sum(attempt.how.startswith("ProcessEnded") for attempt in life.attempts)
            if case.hits[life.broker_id] - itself <= UNREPORTED_ALLOWANCE and seen.id not in explained:
                yield f"UNREPORTED: {seen.id} was left to the redrive policy"
        elif not (seen.exception_type and seen.failed_queue == case.replay.scenario.queue):
            yield f"UNREPORTED: {seen.id} is in '{seen.queue}' without a reason"


def contents_are_kept(case: Case) -> Iterator[str]:
    """Check that each message in an error queue has the body and the attributes that it was sent with."""
    content = case.replay.content
    sent = {case.replay.identities[one]: content(one) for one in case.replay.sent}
    for seen in case.replay.errors:
        before, after = sent[seen.id], content(seen.broker_id)
        if before != after:
            yield f"CHANGED: {seen.id} was {before!r:.200}, and is {after!r:.200}"


def error_copies_are_importable(case: Case) -> Iterator[str]:
    """Check that ServiceControl could import each error copy, and would send it back as it failed."""
    for seen in case.replay.errors:
        if seen.failed_queue and (problem := case.replay.retry_problem(seen.broker_id)):
            yield f"IMPORT: of {seen.id}, {problem}"


def delays_are_kept(case: Case) -> Iterator[str]:
    """Check that no round starts early, if the clocks are right."""
    if not case.replay.scenario.counted or clocks_are_wrong(case):
        return
    increase = case.replay.scenario.recoverability.delayed.time_increase.total_seconds()
    if case.replay.scenario.fifo:
        yield from rounds_wait_in_a_fifo_queue(case, increase)
        return
    for life in case.lives.values():
        if life.origin is None or life.origin.why != "delayed retry" or life.unreported:
            continue
        due = life.decided_at + increase * life.before.round
        early = [one for one in with_hops(life) for attempt in one.attempts if attempt.at < due]
        if early:
            yield f"EARLY: {life.message_id} in round {life.before.round}"


def clocks_are_wrong(case: Case) -> bool:
    """True if a fault has put a clock wrong."""
    return any(struck.fault_name in WRONG_CLOCKS for struck in case.replay.struck)


def rounds_wait_in_a_fifo_queue(case: Case, increase: float) -> Iterator[str]:
    """Check that until the delays before a round are over no more attempts are made than the rounds before have, and one for each expiry."""
    scenario = case.replay.scenario
    received = {entry.broker_id: entry.at for entry in reversed(case.replay.entries) if entry.what == "received"}
    for life in case.lives.values():
        if scenario.waits_in_place and case.hits[life.broker_id]:
            continue  # a delay that is waited out in place ends with the invocation
        for round_ in range(1, scenario.recoverability.delayed.max_retries + 1):
            due = received.get(life.broker_id, 0.0) + increase * round_ * (round_ + 1) / 2
            early = sum(attempt.at < due - CLOCKS for attempt in life.attempts)
            if (
                early
                > scenario.attempts_per_round * round_ + case.expiries[life.broker_id] + case.unsent[life.broker_id]
            ):
                yield f"EARLY: {life.message_id} made {early} attempts before round {round_} was due"


def order_is_kept(case: Case) -> Iterator[str]:
    """Check that in a FIFO queue nothing runs while an earlier message is neither processed nor given up."""
    if not case.replay.scenario.fifo or (
        case.replay.scenario.waits_in_place and any(map(not_settled, case.replay.struck))
    ):
        return  # a host that could not abandon a message takes the next one of its session
    lives = [life for life in case.lives.values() if life.queue == case.replay.scenario.queue]
    for place, life in enumerate(lives):
        for earlier in lives[:place]:
            done = done_by(earlier)
            if any(attempt.number < done for attempt in life.attempts):
                yield f"ORDER: {life.message_id} ran before {earlier.message_id} was done"


Promise: TypeAlias = Callable[[Case], Iterator[str]]

PROMISES: tuple[Promise, ...] = (
    nothing_is_stuck,
    nothing_is_lost,
    innocents_are_processed,
    runs_are_few,
    rounds_are_short,
    rounds_are_long_enough,
    copies_are_few,
    copies_do_not_multiply,
    nothing_is_sent_without_a_lock,
    duplicates_are_dropped,
    reasons_are_given,
    contents_are_kept,
    error_copies_are_importable,
    delays_are_kept,
    order_is_kept,
    *OUTGOING_PROMISES,
)

FOR_THE_TOO_LARGE = (nothing_is_stuck, nothing_is_lost)
"""Promises that hold even for a message that cannot be copied."""

WHERE_DELIVERIES_OVERLAP = (
    nothing_is_stuck,
    nothing_is_lost,
    copies_do_not_multiply,
    nothing_is_sent_without_a_lock,
    reasons_are_given,
    contents_are_kept,
)
"""Promises that hold even where a delivery outlives its visibility timeout or its lock, which costs an attempt and the runs of that delivery."""
