"""Look at an error queue once, and decide for each message whether it is chosen and where it goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol, assert_never

from recoverable_operate.errors._holding import SentIds
from recoverable_operate.errors._message import ACTIVE, FailedMessage, Tally, tally
from recoverable_operate.errors._queue import ErrorQueue
from recoverable_operate.errors._redrive import Refusal, Rules, Target, destination, ladder_time, reason_without_copy

MOST_ALLOW = 20
"""Queues that a plan lists for `--allow`; hostile headers may name any number."""

LONGEST = 500
"""Characters of a reason, and of a queue for `--allow`; an address has fewer."""


class Wanted(Protocol):
    """Chooses messages, as `Filter` does."""

    def matches(self, message: FailedMessage) -> bool:
        """True if the message is chosen."""


@dataclass(slots=True)
class Plan:
    """The plan of a verb, before it does anything.

    Args:
        seen: how many messages were looked at.
        matched: how many of them the filter chose.
        targets: how many go to each queue.
        groups: the matched ones in their groups.
        refused: how many matched and stay, by the reason.
        allow: queues that `--allow` would have to name.
        waiting: how many matched that are scheduled or deferred, which stay.
        behind: how many matched that stay behind another message of their group that stays.
        ended_groups: groups of which nothing more is sent, because one of its messages stays.
        sent: what this run has sent.
        came_back: how many this run has sent and found here again, which stay.
        full: True once others send to the queue, and as many are chosen as it held at first.
        last: the last one that was chosen.
        ladder: the longest time that the attempts of one of them took last time.
        at_end: True once a look has come to the end of the queue, not of a limit.
        ending: why the look ended early; None when all was seen.
    """

    seen: int = 0
    matched: int = 0
    targets: Counter[str] = field(default_factory=Counter)
    groups: dict[str, Tally] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    allow: set[str] = field(default_factory=set)
    waiting: int = 0
    behind: int = 0
    ended_groups: set[str] = field(default_factory=set)
    sent: SentIds = field(default_factory=SentIds)
    came_back: int = 0
    full: bool = False
    last: FailedMessage | None = None
    ladder: timedelta = timedelta(0)
    at_end: bool = False
    ending: str | None = None

    @property
    def chosen(self) -> int:
        """Return how many messages will be sent or deleted."""
        return self.targets.total()

    @property
    def whole(self) -> bool:
        """True if all that matches is chosen."""
        return not (self.refused or self.waiting or self.behind or self.came_back or self.ending)


def matching(queue: ErrorQueue, wanted: Wanted, limit: int | None, plan: Plan) -> Iterator[FailedMessage]:
    """Yield the messages that the filter chooses, and count them in the plan.

    End at the limit, and at a message more to choose than the queue held at first: others are sending to it.
    """
    with closing(queue.look()) as looking:
        while limit is None or plan.matched < limit:
            if (message := next(looking, None)) is None:
                plan.at_end, plan.ending = True, queue.ending()
                return
            plan.seen += 1
            if plan.sent.came_back(message.id, message.redrives):
                plan.came_back += 1
                plan.ended_groups |= {message.group_id} if message.group_id else set()
            elif wanted.matches(message):
                if queue.depth is not None and plan.chosen >= max(queue.depth, 1):
                    plan.full = True
                    plan.ending = (
                        f"it held about {queue.depth} at first, and more have come since; run it again for these"
                    )
                    return
                plan.matched += 1
                tally(plan.groups, message)
                yield message
            elif message.group_id:
                plan.ended_groups.add(message.group_id)


def plan_redrive(queue: ErrorQueue, wanted: Wanted, limit: int | None, rules: Rules, plan: Plan) -> None:
    """Look at the queue, and choose the messages that may be sent back."""
    for _ in choosing(queue, wanted, limit, rules, plan):
        pass


def choosing(queue: ErrorQueue, wanted: Wanted, limit: int | None, rules: Rules, plan: Plan) -> Iterator[FailedMessage]:
    """Look at the queue, choose the messages that may be sent back, and yield each that matches when it is decided about."""
    for message in matching(queue, wanted, limit, plan):
        if message.state != ACTIVE:
            plan.waiting += 1
        elif queue.ordered and message.group_id in plan.ended_groups:
            plan.behind += 1
        else:
            decide(queue, message, rules, plan)
        yield message


def decide(queue: ErrorQueue, message: FailedMessage, rules: Rules, plan: Plan) -> None:
    """Choose a message, or count it among those that stay."""
    match destination(message, rules, trusted_source=queue.trusted_source):
        case Target(to):
            queue.choose(message, to)
            plan.last = message
            plan.targets[to] += 1
            plan.ladder = max(plan.ladder, ladder_time(message))
        case Refusal(reason, allow):
            note_refusal(plan, reason, allow)
            plan.ended_groups |= {message.group_id} if message.group_id else set()
        case other:
            assert_never(other)


def note_refusal(plan: Plan, reason: str, allow: str | None) -> None:
    """Count a message that stays; hostile headers must not make the plan as long as the queue."""
    reason = reason[:LONGEST]
    known = reason in plan.refused or len(plan.refused) < MOST_ALLOW
    plan.refused[reason if known else "other reasons"] += 1
    if allow and len(allow) <= LONGEST and len(plan.allow) < MOST_ALLOW:
        plan.allow.add(allow)


def lacks_copy(message: FailedMessage, plan: Plan) -> bool:
    """True if neither a queue nor a file can have a copy of a message, which is then counted among those that stay."""
    if (why := reason_without_copy(message)) is not None:
        note_refusal(plan, why, None)
    return why is not None


def plan_purge(queue: ErrorQueue, wanted: Wanted, limit: int | None, plan: Plan) -> None:
    """Look at the queue, and choose what the filter chooses for deletion."""
    for message in matching(queue, wanted, limit, plan):
        if message.state != ACTIVE:
            plan.waiting += 1
        elif not lacks_copy(message, plan):
            queue.choose(message, "")
            plan.targets[""] += 1
