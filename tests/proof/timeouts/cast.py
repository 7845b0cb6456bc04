"""Start all participants of a schedule, and bring it to its end."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from functools import partial

from proof.timeouts.senders import Senders
from proof.timeouts.setting import AWAY, HOME, Setting
from proof.timeouts.users import Users
from recoverable_operate._migration.moving import abort
from waiting.rows import ALL

ENTRANCES = (0, 0.1, 30, 30, 60, 60, 61, 90, 120)
CROWDED = (0, 60, 60, 60)
MINUTE = (0, 30, 60)
"""Seconds after which somebody enters, one of many at the same moment, and a dispatcher."""


class Cast:
    """All participants of a schedule.

    Args:
        setting: what they share.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting, self._stage = setting, setting.stage
        self._users, self._senders = Users(setting), Senders(setting)

    def enter(self) -> None:
        """Start all participants."""
        stage, chance = self._stage, self._stage.chance
        entrances = chance.choice((ENTRANCES, CROWDED))
        for message in self._setting.planned.values():
            n = message.number
            stage.enter(f"writer {n}", partial(self._users.write, message), after=chance.choice(entrances))
            if chance.random() < 0.5:
                stage.enter(f"canceller {n}", partial(self._users.cancel, message), after=chance.choice(entrances))
        if chance.random() < 0.3:
            stage.enter("canceller of all", self._users.cancel_all, after=chance.choice(entrances))
        for n in range(chance.randint(1, self._setting.kind.dispatchers)):
            stage.enter(f"dispatcher {n}", partial(self._senders.dispatch, HOME), after=chance.choice(MINUTE))
        if self._setting.kind.migrating:
            stage.enter("dispatcher away", partial(self._senders.dispatch, AWAY), after=chance.choice(MINUTE))
            stage.enter("migration", self._senders.migrate, after=chance.choice(entrances))
        stage.enter("time to live", self._expire)

    def settle(self, wanted: set[int], until: datetime) -> None:
        """Finish without faults: end what a migration began, and dispatch until all wanted messages have come, or never will."""
        tables = (HOME, AWAY) if self._setting.kind.migrating else (HOME,)
        self._stage.sleep(self._stage.chance.choice((0, 30, 1000)))
        for table in tables:
            self._senders.aborted += abort(self._setting.stores.open(table), ALL, dry_run=False).changed
        last = [self._senders.dispatcher(table, 0) for table in tables]
        for turn in range(80):
            for dispatcher in last:
                dispatcher.run()
            if self._stage.now > until and all(self._setting.history.sent[number] for number in wanted):
                return
            self._stage.sleep(60 if turn < 3 else 600)

    @property
    def aborted(self) -> int:
        """Return how often held timeouts were shown again."""
        return self._senders.aborted

    @property
    def mishaps(self) -> Counter[str]:
        """Return what went wrong for the participants that send."""
        found: Counter[str] = Counter()
        for actor in self._stage.actors:
            if actor.name.startswith(("dispatcher", "migration")):
                found += actor.mishaps
        return found

    def _expire(self) -> None:
        while True:
            self._stage.sleep(self._stage.chance.choice((1, 20, 60)))
            self._setting.stores.expire()
