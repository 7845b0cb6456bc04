"""A replay, read: the lives in it, by how much each broker message was hit, and what promises ask about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from proof.lives import Life, lives_of
from proof.replaying import Replay
from proof.wrongs import costs
from recoverable.aws.wire import wire_of
from recoverable.testing.aws.records import to_record
from recoverable.testing.aws.stored import Stored


@dataclass(frozen=True)
class Case:
    """A replay, read: the lives in it, and how often each broker message was hit, and by an expiry."""

    replay: Replay
    lives: dict[str, Life]
    hits: Counter[str]
    expiries: Counter[str]

    def on_the_way(self, counted: Counter[str], life: Life) -> int:
        """What was counted on a copy and on all that it was made of."""
        before = self.on_the_way(counted, self.lives[life.origin.parent]) if life.origin else 0
        return before + counted[life.broker_id]


def case_of(replay: Replay) -> Case:
    """The replay, read."""
    costly = [s.batch for s in replay.struck if costs(s.wrong, s.point)] + deaths(replay)
    expired = [s.batch for s in replay.struck if s.wrong in ("expired", "delivered twice")]
    return Case(
        replay,
        lives_of(replay),
        Counter(one for batch in costly for one in batch),
        Counter(one for batch in expired for one in batch),
    )


def deaths(replay: Replay) -> list[tuple[str, ...]]:
    """The batches of the invocations whose handler killed the process, as no schedule asked for."""
    killed = {
        entry.invocation
        for entry in replay.entries
        if entry.what == "attempted" and entry.detail.startswith("ProcessEnded")
    }
    asked = {s.point.invocation for s in replay.struck if s.wrong in ("died", "timed out", "slow")}
    return [tuple(replay.batches[number]) for number in sorted(killed - asked)]


def messages(case: Case) -> Iterator[tuple[str, str, list[Life]]]:
    """Each message's id, its body, and its lives."""
    for broker_id, body in case.replay.sent.items():
        message_id = case.replay.identities[broker_id]
        yield message_id, body, [life for life in case.lives.values() if life.message_id == message_id]


def given_up(case: Case) -> set[str]:
    """The messages that are in an error queue."""
    return {seen.id for seen in case.replay.errors}


def with_hops(life: Life) -> Iterator[Life]:
    """A copy, and the copies that it waits on as."""
    yield life
    for kid in life.kids:
        if kid.origin and kid.origin.why == "hop":
            yield from with_hops(kid)


def done_by(life: Life) -> float:
    """By which event a message was processed, given up, or taken by the redrive policy; never, when it was not."""
    events = [attempt.number for attempt in life.attempts if attempt.how == "succeeded"]
    events += [kid.made_by for kid in life.kids]
    return min(events, default=life.ended_by if life.end == "dead-lettered" else inf)


def content(message: Stored, case: Case) -> tuple[str, dict[str, object]]:
    """The body of a broker message, and the sender's attributes, folded or not."""
    queue, start = (
        case.replay.world._broker.queues[case.replay.scenario.queue].settings,
        case.replay.world._start,
    )
    return message.body, {**wire_of(to_record(message, queue, start)).attributes}


def is_failure(how: str) -> bool:
    """Whether an attempt that ended so has failed."""
    return how != "succeeded" and not how.startswith("ProcessEnded")
