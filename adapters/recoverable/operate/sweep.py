"""Look at an error queue once, and decide for each message whether it is chosen and where it goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar, assert_never

from recoverable.operate.failed import ACTIVE, FailedMessage
from recoverable.operate.filters import Filter
from recoverable.operate.groups import Tally, tally
from recoverable.operate.port import ErrorQueue
from recoverable.operate.redrive import Refusal, Rules, Target, destination, ladder_time

T = TypeVar("T")

MOST_ALLOW = 20
"""Queues that a plan lists for `--allow`; hostile headers may name any number."""


@dataclass(slots=True)
class Plan:
    """What a verb is about to do.

    Args:
        seen: how many messages were looked at.
        matched: how many of them the filter chose.
        targets: how many go to each queue.
        groups: the matched ones in their groups.
        refused: how many matched and stay, by the reason.
        allow: queues that `--allow` would have to name.
        waiting: how many matched that are scheduled or deferred, which stay.
        ladder: the longest time that the attempts of one of them took last time.
        ending: why the look ended early; None when all was seen.
    """

    seen: int = 0
    matched: int = 0
    targets: Counter[str] = field(default_factory=Counter)
    groups: dict[str, Tally] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    allow: set[str] = field(default_factory=set)
    waiting: int = 0
    ladder: timedelta = timedelta(0)
    ending: str | None = None

    @property
    def chosen(self) -> int:
        """Return how many messages will be sent or deleted."""
        return self.targets.total()


def matching(queue: ErrorQueue, wanted: Filter, limit: int | None, plan: Plan) -> Iterator[FailedMessage]:
    """Yield the messages that the filter chooses, and count them in the plan. End at the limit."""
    looking = queue.look()
    try:
        while limit is None or plan.matched < limit:
            if (message := next(looking, None)) is None:
                plan.ending = queue.ending()
                return
            plan.seen += 1
            if wanted.matches(message):
                plan.matched += 1
                tally(plan.groups, message)
                yield message
    finally:
        close = getattr(looking, "close", None)
        if close is not None:
            close()


def plan_redrive(queue: ErrorQueue, wanted: Filter, limit: int | None, rules: Rules, plan: Plan) -> None:
    """Look at the queue, and choose the messages that may be sent back."""
    for message in matching(queue, wanted, limit, plan):
        if message.state != ACTIVE:
            plan.waiting += 1
            continue
        match destination(message, rules, trusted_source=queue.trusted_source):
            case Target(queue=to):
                queue.choose(message, to)
                plan.targets[to] += 1
                plan.ladder = max(plan.ladder, ladder_time(message))
            case Refusal(reason=reason, allow=allow):
                note_refusal(plan, reason, allow)
            case other:
                assert_never(other)


def note_refusal(plan: Plan, reason: str, allow: str | None) -> None:
    """Count a message that stays; hostile headers must not make the plan as long as the queue."""
    known = reason in plan.refused or len(plan.refused) < MOST_ALLOW
    plan.refused[reason if known else "other reasons"] += 1
    if allow and len(plan.allow) < MOST_ALLOW:
        plan.allow.add(allow)


def plan_purge(
    queue: ErrorQueue, wanted: Filter, limit: int | None, plan: Plan, export: Callable[[FailedMessage], None]
) -> None:
    """Look at the queue, export what the filter chooses, and choose it for deletion."""
    for message in matching(queue, wanted, limit, plan):
        if message.state != ACTIVE:
            plan.waiting += 1
            continue
        export(message)
        queue.choose(message, "")
        plan.targets[""] += 1
