"""Read a replay: the lives of its messages, and how often faults hit each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from proof.fault_names import costs
from proof.lives import Life, lives_of
from proof.replaying import Replay, Struck

EXPIRES = ("expired", "delivered twice", "lock lost", "machine lost", "connection cut")
"""Faults that make a message visible to others while it is handled."""


@dataclass(frozen=True)
class Case:
    """A replay with the lives of its messages, and how often each broker message was hit.

    Args:
        replay: the replay.
        lives: the lives by the broker's ids.
        hits: how often, in all.
        expiries: how often by an expiry.
        unsent: how often where it was to be sent what a handler sent.
        refusals: how often that was refused for good, which is a failed attempt.
    """

    replay: Replay
    lives: dict[str, Life]
    hits: Counter[str]
    expiries: Counter[str]
    unsent: Counter[str]
    refusals: Counter[str]

    def on_the_way(self, counted: Counter[str], life: Life) -> int:
        """Return the count of a copy and of all messages before it that it was made of."""
        before = self.on_the_way(counted, self.lives[life.origin.parent]) if life.origin else 0
        return before + counted[life.broker_id]


def case_of(replay: Replay) -> Case:
    """Read a replay."""
    costly = [s.batch for s in replay.struck if costs(s.fault_name, s.point)] + deaths(replay) + lost_in_hosts(replay)
    expired = [s.batch for s in replay.struck if s.fault_name in EXPIRES or not_settled(s)]
    unsent = [s for s in replay.struck if s.point.queue in replay.scenario.sends_to]
    refused = [s.batch for s in unsent if s.fault_name == "refused"]
    return Case(
        replay, lives_of(replay), count(costly), count(expired), count([s.batch for s in unsent]), count(refused)
    )


def count(batches: list[tuple[str, ...]]) -> Counter[str]:
    """Return in how many batches each broker message was."""
    return Counter(one for batch in batches for one in batch)


DEADLY = ("died", "timed out", "slow", "machine lost", "connection cut", "exit")
"""Faults that may end the process of the invocation that they hit."""

PROCESS_ENDS = ("died", "timed out", "exited", "its machine", "its host")
"""Beginnings of the details by which the timeline says that a process has ended, with all invocations in it."""


def not_settled(struck: Struck) -> bool:
    """True if the host's settlement did not reach Service Bus, which then redelivers the message; in a session it does not even count that delivery."""
    return struck.point.what == "settle" and struck.fault_name == "unreachable"


def deaths(replay: Replay) -> list[tuple[str, ...]]:
    """Return the batches of the invocations whose process ended without a fault of the schedule."""
    killed = {
        entry.invocation
        for entry in replay.entries
        if (entry.what == "attempted" and entry.detail.startswith("ProcessEnded"))
        or (entry.invocation and entry.what == "invocation failed" and entry.detail.startswith(PROCESS_ENDS))
    }
    asked = {s.point.invocation for s in replay.struck if s.fault_name in DEADLY}
    return [tuple(replay.batches[number]) for number in sorted(killed - asked)]


HOST_ENDS = ("machine lost", "connection cut")
"""Faults that end a Functions host with all that it holds: other messages too than those of the invocation that they hit."""


def lost_in_hosts(replay: Replay) -> list[tuple[str]]:
    """Return each message of which a host had a delivery that no invocation saw, once for each, where hosts have ended."""
    if not any(struck.fault_name in HOST_ENDS for struck in replay.struck):
        return []
    seen: dict[str, set[int]] = {}
    for batch in replay.batches.values():
        for broker_id, delivery in batch.items():
            seen.setdefault(broker_id, set()).add(delivery)
    return [(each,) for each, deliveries in seen.items() for _ in range(max(deliveries) - len(deliveries))]


def messages(case: Case) -> Iterator[tuple[str, str, list[Life]]]:
    """Yield each message's id, its body, and its lives."""
    for broker_id, body in case.replay.sent.items():
        message_id = case.replay.identities[broker_id]
        yield message_id, body, [life for life in case.lives.values() if life.message_id == message_id]


def given_up(case: Case) -> set[str]:
    """Return the ids of the messages that are in an error queue."""
    return {seen.id for seen in case.replay.errors}


def with_hops(life: Life) -> Iterator[Life]:
    """Yield a copy, and the hops that wait for it."""
    yield life
    for copy in life.copies:
        if copy.origin and copy.origin.why == "hop":
            yield from with_hops(copy)


def done_by(life: Life) -> float:
    """Return the number of the event by which a message was processed, given up, or dead-lettered; infinity when it was not."""
    events = [attempt.number for attempt in life.attempts if attempt.how == "succeeded"]
    events += [copy.made_by for copy in life.copies]
    return min(events, default=life.ended_by if life.end == "dead-lettered" else inf)


def is_failure(how: str) -> bool:
    """True if an attempt that ended like this has failed."""
    return how != "succeeded" and not how.startswith("ProcessEnded")
