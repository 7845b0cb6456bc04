"""Follow each broker message of a replay: its origin, its attempts, and its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from proof.lineage import Origin
from proof.replaying import Replay
from recoverable_local.testing.timeline import Entry

LEAVING = ("error", "delayed retry")
"""The copies that end a round."""

WAITING = ("deferral", "hop")
"""The copies that only wait."""


@dataclass(frozen=True)
class Count:
    """The counts of a round so far, over all copies of the round.

    Args:
        attempts: attempts, runs that were stopped for lack of time not among them.
        deliveries: deliveries that count with the broker's counter.
        repeated: attempts in process, beyond the first of each invocation.
        not_counted: attempts that the header counter may leave out.
        in_earlier_rounds: attempts of the rounds before.
        round: the delayed retries before.
    """

    attempts: int = 0
    deliveries: int = 0
    repeated: int = 0
    not_counted: int = 0
    in_earlier_rounds: int = 0
    round: int = 0


class Attempt(NamedTuple):
    """One run of the handler: how it ended, in which invocation and delivery, when, and its number among the replay's events."""

    how: str
    invocation: int
    delivery: int
    at: float
    number: int


@dataclass
class Life:
    """One broker message, from its send to its end.

    Args:
        broker_id: the broker's id.
        message_id: the message's.
        queue: where it was sent.
        sent_at: when, in seconds of the world.
        decided_at: when the attempt ended that it was made for; when it was sent, if it was made for none.
        origin: what it was made of; None for what the sender sent.
        before: what was counted in its round when it was made.
        total: for a copy that ends a round, what was counted in that round.
        unreported: whether it was made without an attempt on what it was made of.
        attempts: the runs of the handler on it.
        copies: the copies that were made of it.
        receives: how often it was received.
        end: "deleted", "completed", "dead-lettered" or "", which is still there.
        made_by: as the how manyth event of the replay it was sent.
        ended_by: as the how manyth event it ended.
    """

    broker_id: str
    message_id: str
    queue: str
    sent_at: float
    origin: Origin | None
    decided_at: float = 0.0
    before: Count = Count()
    total: Count | None = None
    unreported: bool = False
    attempts: list[Attempt] = field(default_factory=list)
    copies: list[Life] = field(default_factory=list)
    receives: int = 0
    end: str = ""
    made_by: int = 0
    ended_by: int = 0

    @property
    def succeeded(self) -> bool:
        """True if an attempt succeeded."""
        return any(attempt.how == "succeeded" for attempt in self.attempts)


def lives_of(replay: Replay) -> dict[str, Life]:
    """Return the lives of all messages, by the broker's id."""
    lives: dict[str, Life] = {}
    outgoing: set[str] = set()
    for number, entry in enumerate(replay.entries):
        if entry.broker_id in outgoing or (entry.what == "sent" and replay.is_outgoing(entry)):
            outgoing.add(entry.broker_id)
            continue
        match entry.what:
            case "sent":
                add_message(entry, replay, lives)
                lives[entry.broker_id].made_by = number
            case "received":
                lives[entry.broker_id].receives += 1
            case "attempted":
                delivery = replay.batches[entry.invocation][entry.broker_id]
                attempt = Attempt(how_it_ended(entry, number, replay), entry.invocation, delivery, entry.at, number)
                lives[entry.broker_id].attempts.append(attempt)
            case "dropped as a duplicate" if not entry.detail:  # SQS names the one that it keeps
                drop_duplicate(lives.pop(entry.broker_id), lives)
            case "deleted" | "completed" | "dead-lettered" | "expired":
                lives[entry.broker_id].end, lives[entry.broker_id].ended_by = entry.what, number
            case _:
                pass
    return lives


def how_it_ended(entry: Entry, number: int, replay: Replay) -> str:
    """Return how an attempt ended: one that sent to a queue that does not exist was refused, though its handler succeeded."""
    of = replay.identities[entry.broker_id]
    runs = [r for r in replay.runs if (r.invocation, r.message_id) == (entry.invocation, of) and r.began <= number]
    misdirected = entry.detail == "succeeded" and runs and runs[-1].word.startswith("misdirects")
    return "OutgoingRefused" if misdirected else entry.detail


def add_message(entry: Entry, replay: Replay, lives: dict[str, Life]) -> None:
    """Add the life of a message that was sent."""
    origin = replay.origins[entry.broker_id]
    life = Life(entry.broker_id, replay.identities[entry.broker_id], entry.queue, entry.at, origin)
    lives[entry.broker_id] = life
    if origin is not None:
        parent = lives[origin.parent]
        parent.copies.append(life)
        inherit(life, parent, origin, entry.invocation)


def drop_duplicate(life: Life, lives: dict[str, Life]) -> None:
    """Remove a copy that the queue dropped as a duplicate."""
    if life.origin is not None:
        lives[life.origin.parent].copies.remove(life)


def inherit(life: Life, parent: Life, origin: Origin, invocation: int) -> None:
    """Carry on the counts of the round, or start another round."""
    runs = [attempt for attempt in parent.attempts if attempt.invocation == invocation]
    life.unreported = not runs and origin.why not in WAITING
    life.decided_at = runs[-1].at if runs else life.sent_at
    total = count_copy(parent, origin, unreported=life.unreported, handed_back=len(runs))
    if origin.why in LEAVING:
        life.total = total
        life.before = Count(in_earlier_rounds=total.in_earlier_rounds + total.attempts, round=total.round + 1)
    else:
        life.before = total


def count_copy(parent: Life, origin: Origin, *, unreported: bool, handed_back: int) -> Count:
    """Return the counts of a copy: those of its parent, and of the deliveries that it was made for.

    What other deliveries do that are under way at the same time is theirs. A deferral's own delivery is no attempt, whether its handler never ran or was stopped; a hop's deliveries say nothing.
    A decision without a run of the handler stands for the deliveries before it, which ended without a recorded outcome.
    """
    before, waits = parent.before, origin.why == "deferral"
    deliveries = origin.delivery - (waits or unreported)
    invocations = [attempt.invocation for attempt in parent.attempts if attempt.delivery <= origin.delivery]
    runs = len(invocations)
    return replace(
        before,
        attempts=before.attempts + runs - (min(handed_back, 1) if waits else 0),
        repeated=before.repeated + runs - len(set(invocations)),
        deliveries=before.deliveries + (0 if origin.why == "hop" else deliveries),
        not_counted=before.not_counted + (deliveries if waits else int(unreported)),
    )


def of_message(lives: Iterable[Life], message_id: str) -> Iterator[Life]:
    """Yield the lives of a message and its copies."""
    return (life for life in lives if life.message_id == message_id)
