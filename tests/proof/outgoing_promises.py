"""Check what must hold of the messages that handlers send, whatever failed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from proof.cases import Case, given_up, messages
from proof.lives import Life
from proof.sends import ALIKE, Sent, alike_body, ends_of, own_body, run_of


def nothing_is_a_ghost(case: Case) -> Iterator[str]:
    """Check that nothing was sent that a run collected which raised, was stopped, or died."""
    ends = how_runs_ended(case)
    for sent in case.replay.outgoing:
        run = run_of(sent)
        if run is not None and ends[run] not in {"succeeded", "OutgoingRefused"}:
            yield f"GHOST: '{sent.body}' is in {sent.to}, and the run ended with {ends[run] or 'nothing'!r}"


def nothing_is_missing(case: Case) -> Iterator[str]:
    """Check that of each message that was completed a run succeeded of which all was sent."""
    there = {(sent.to, sent.body) for sent in case.replay.outgoing if not sent.dropped}
    ends = how_runs_ended(case)
    for message_id, _, lives in messages(case):
        succeeded = [number for (of, number), how in ends.items() if of == message_id and how == "succeeded"]
        if not any(is_completed(life) for life in lives) or not sends(case, message_id):
            continue
        missing = [sorted(collected(case, message_id, number) - there) for number in succeeded]
        if message_id not in given_up(case) and all(missing):
            yield f"MISSING: {message_id} was completed, and not sent was {min(missing, key=len)}"


def repetitions_have_one_identity(case: Case) -> Iterator[str]:
    """Check that what is sent again has the id of before, that a queue which knows duplicates has it once, and that it costs a fault."""
    ids: dict[tuple[str, str], list[Sent]] = defaultdict(list)
    for sent in case.replay.outgoing:
        ids[sent.to, sent.body].append(sent)
    for (to, body), repeated in ids.items():
        if len({sent.id for sent in repeated}) > case.replay.scenario.sends_to.count(to):
            yield f"IDENTITY: '{body}' came to {to} under {len({sent.id for sent in repeated})} ids"
        window = case.replay.scenario.window(to)
        kept = [sent for sent in repeated if not sent.dropped]
        if any(one.id == other.id and other.at - one.at < window for one, other in pairwise(kept)):
            yield f"IDENTITY: '{body}' is twice in {to}, which knows duplicates"


def sends_are_few(case: Case) -> Iterator[str]:
    """Check that what one run sent is there once, and once more for each fault."""
    own = Counter((sent.to, sent.body) for sent in case.replay.outgoing if run_of(sent) and not sent.dropped)
    hits: Counter[str] = Counter()
    for life in case.lives.values():
        hits[life.message_id] += case.hits[life.broker_id]
    for (to, body), times in own.items():
        if times > 1 + hits[body.split()[0]]:
            yield f"COPIES: '{body}' came to {to} {times} times with {hits[body.split()[0]]} hits"


def order_of_sends_is_kept(case: Case) -> Iterator[str]:
    """Check that what a run sent to a FIFO queue is there in its order, and that nothing of a group runs before what the one before it sent is sent."""
    arrived: dict[tuple[str, tuple[str, int]], list[int]] = defaultdict(list)
    for sent in case.replay.outgoing:
        if (run := run_of(sent)) and sent.to.endswith(".fifo") and not sent.dropped:
            arrived[sent.to, run].append(int(sent.body.split()[-1]))
    for (to, (message_id, number)), parts in arrived.items():
        wanted = [part for part, name in enumerate(case.replay.scenario.sends_to) if name == to]
        first = list(dict.fromkeys(parts))
        if first != wanted[: len(first)]:
            yield f"ORDER: {to} has the parts {first} of run {number} of {message_id}"
    yield from what_runs_too_early(case)


def what_runs_too_early(case: Case) -> Iterator[str]:
    """Check that nothing of a FIFO group succeeds before what an earlier message sent is sent, if it was processed."""
    if not case.replay.scenario.fifo or case.replay.scenario.waits_in_place:
        return
    first: dict[str, int] = {}
    for sent in case.replay.outgoing:
        first.setdefault(sent.body, sent.event)
    lives = [life for life in case.lives.values() if life.queue == case.replay.scenario.queue]
    for place, life in enumerate(lives):
        for earlier in lives[:place]:
            bodies = [alike_body(earlier.message_id, what) for what in ALIKE]
            last = max((first.get(body, 0) for body in bodies), default=0)
            if last and any(attempt.number < last for attempt in life.attempts):
                yield f"ORDER: {life.message_id} ran before what {earlier.message_id} sent was sent"


def how_runs_ended(case: Case) -> dict[tuple[str, int], str]:
    """Return how each run of a handler ended, by message and number."""
    ended: dict[tuple[int, str], list[tuple[int, str]]] = defaultdict(list)
    for life in case.lives.values():
        for attempt in life.attempts:
            ended[attempt.invocation, life.message_id].append((attempt.number, attempt.how))
    return ends_of(case.replay.runs, {key: sorted(events) for key, events in ended.items()})


def is_completed(life: Life) -> bool:
    """True if the broker deleted the message, and no copy was made of it."""
    return life.end in {"deleted", "completed"} and not life.copies and life.succeeded


def sends(case: Case, message_id: str) -> bool:
    """True if each run of the message that succeeds sends."""
    ends = how_runs_ended(case)
    words = [
        run.word
        for run in case.replay.runs
        if run.message_id == message_id and ends[message_id, run.number] == "succeeded"
    ]
    return bool(words) and all(word.startswith("sends") for word in words)


def collected(case: Case, message_id: str, run: int) -> set[tuple[str, str]]:
    """Return what a run of a handler sends, by destination and body."""
    destinations = case.replay.scenario.sends_to
    alike = {(to, alike_body(message_id, what)) for to in destinations for what in ALIKE}
    return alike | {(to, own_body(message_id, run, part)) for part, to in enumerate(destinations)}


OUTGOING_PROMISES = (
    nothing_is_a_ghost,
    nothing_is_missing,
    repetitions_have_one_identity,
    sends_are_few,
    order_of_sends_is_kept,
)
