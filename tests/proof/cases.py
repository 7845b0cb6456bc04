"""A replay, read: the lives in it, by how much each broker message was hit, and what promises ask about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from proof.lives import Life, lives_of
from proof.replaying import Replay, Struck
from proof.wrongs import costs

EXPIRES = ("expired", "delivered twice", "lock lost", "machine lost")
"""What shows a message to others while it is worked on."""


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
    expired = [s.batch for s in replay.struck if s.wrong in EXPIRES or not_settled(s)]
    return Case(
        replay,
        lives_of(replay),
        Counter(one for batch in costly for one in batch),
        Counter(one for batch in expired for one in batch),
    )


DEADLY = ("died", "timed out", "slow", "machine lost", "exit")
"""What may end the process of the invocation that it strikes."""

PROCESS_ENDS = ("died", "timed out", "exited", "its machine")
"""How it is told that a process has ended, and all invocations in it."""


def not_settled(struck: Struck) -> bool:
    """Whether the host's word did not get through: Service Bus then hands the message back, and in a session does not even count that."""
    return struck.point.what == "settle" and struck.wrong == "unreachable"


def deaths(replay: Replay) -> list[tuple[str, ...]]:
    """The batches of the invocations that ended with their process, as no schedule asked for them."""
    killed = {
        entry.invocation
        for entry in replay.entries
        if (entry.what == "attempted" and entry.detail.startswith("ProcessEnded"))
        or (entry.invocation and entry.what == "invocation failed" and entry.detail.startswith(PROCESS_ENDS))
    }
    asked = {s.point.invocation for s in replay.struck if s.wrong in DEADLY}
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


def is_failure(how: str) -> bool:
    """Whether an attempt that ended so has failed."""
    return how != "succeeded" and not how.startswith("ProcessEnded")
