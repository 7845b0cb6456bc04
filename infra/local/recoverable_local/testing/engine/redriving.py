"""Send messages of a world's error queue back by the code of `recoverable errors retry`, in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypedDict

from recoverable_local.testing.engine.virtual import Duration, seconds_of
from recoverable_operate.errors import (
    ErrorQueue,
    Filter,
    Journal,
    Outcome,
    Plan,
    Redrive,
    Rules,
    Settings,
    Stop,
    parse_where,
    plan_redrive,
)

RATE, CANARY_WAIT = 50.0, 300
"""Messages a second and seconds, as the command has them."""


@dataclass(frozen=True, slots=True)
class Redriven:
    """The result of a redrive.

    Args:
        plan: what it was about to do; `plan.groups` are the groups of what matched, `plan.refused` what stays and why.
        outcome: what became of it; `outcome.sent` counts what was sent back.
    """

    plan: Plan
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class WorldClock:
    """The clock of a world.

    Args:
        tell: returns the world's time.
        run: lets time pass.
    """

    tell: Callable[[], datetime]
    run: Callable[[float], None]

    def now(self) -> datetime:
        """Return the world's time."""
        return self.tell()

    def sleep(self, seconds: float) -> None:
        """Let time pass; handlers run meanwhile."""
        self.run(seconds)


class Options(TypedDict, total=False):
    """The options of a redrive: which messages are sent back, and how; as those of `recoverable errors retry`.

    `ids` are message ids, or the broker's; `types` names of exception types, in full or their last part; `groups` ids of
    groups; `where` conditions on a JSON body, such as "customer.id=42"; `limit` how many at most. `to` is the queue that gets
    all of them, else each goes where it failed; `allow` are queues to which messages may say that they belong. `rate` is in
    messages a second, 50 when not given, 0 for no limit; `delay` hides each copy; `canary` are sent first, and `canary_wait`
    is how long to wait for one of them to come back. `journal` is the journal; without one it is of this run alone.
    """

    ids: Iterable[str]
    types: Iterable[str]
    groups: Iterable[str]
    where: Iterable[str]
    limit: int
    to: str
    allow: Iterable[str]
    rate: float
    delay: Duration
    canary: int
    canary_wait: Duration
    journal: Journal


def redrive(queue: ErrorQueue, clock: WorldClock, stop: Stop, options: Options) -> Redriven:
    """Look at the queue, choose, send back, and give back what stays."""
    plan, journal = Plan(), options.get("journal") or Journal(":memory:")
    run = Redrive(queue, journal, settings_of(options), plan, clock=clock, stop=stop)
    look = partial(plan_redrive, queue, filter_of(options), options.get("limit"), rules_of(queue, options))
    try:
        look(plan)
        run.run_groups(look)
    finally:
        queue.give_back()
        if "journal" not in options:
            journal.close()
    return Redriven(plan, run.outcome)


def rules_of(queue: ErrorQueue, options: Options) -> Rules:
    """Return what may be sent where."""
    allowed = frozenset((*queue.sources(), *map(queue.canonical, options.get("allow", ()))))
    to = options.get("to")
    return Rules(queue.address, allowed, None if to is None else queue.canonical(to), queue.canonical)


def filter_of(options: Options) -> Filter:
    """Return what chooses the messages."""
    return Filter(
        ids=tuple(options.get("ids", ())),
        types=tuple(options.get("types", ())),
        groups=tuple(options.get("groups", ())),
        where=tuple(map(parse_where, options.get("where", ()))),
    )


def settings_of(options: Options) -> Settings:
    """Return how messages are sent."""
    return Settings(
        rate=options.get("rate", RATE),
        delay=None if "delay" not in options else timedelta(seconds=seconds_of(options["delay"])),
        canary=options.get("canary", 0),
        canary_wait=timedelta(seconds=seconds_of(options.get("canary_wait", CANARY_WAIT))),
    )
