"""Run those who send: dispatchers, and migrations; their mishaps can make a message come twice."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Any

from builders import seconds
from proof.timeouts.actor import Killed
from proof.timeouts.kinds import WRONG
from proof.timeouts.setting import AWAY, HOME, Setting
from recoverable._sqs.sender import Sender
from recoverable.timeouts import CriticalError, Dispatcher, StoreUnavailable
from recoverable_operate._migration.moving import SqsTarget, StoreTarget, abort, migrate
from waiting.rows import ALL

RETRY_KEPT = seconds(300)
"""Delay until a failed send is tried again: shorter than by default, so that schedules are short."""


class Senders:
    """The participants that send.

    Args:
        setting: what all share.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting, self._stage = setting, setting.stage
        self.aborted = 0

    def dispatcher(self, table: str, skew: float) -> Dispatcher:
        """Return a new process that dispatches from a table, with a clock that is ahead by this skew."""
        return Dispatcher(
            self._setting.stores.open(table),
            client=self._setting.sqs,
            clock=lambda: self._setting.clock(skew),
            sleep=self._stage.sleep,
            retry_kept=RETRY_KEPT,
        )

    def dispatch(self, table: str) -> None:
        """Run each minute, as a function does: a new process after each death."""
        skew, actor = self._setting.skew(), self._stage.playing
        dispatcher = self.dispatcher(table, skew)
        while True:
            begun = self._stage.now
            actor.dies_at = end = begun + seconds(self._stage.chance.choice((60, 180, 180, 890)))
            actor.mishaps["wrong clock"] += abs(skew) > WRONG
            try:
                dispatcher.run(partial(self._left, end))
            except CriticalError:
                pass
            except Killed:
                dispatcher = self.dispatcher(table, skew)
            actor.dies_at = None
            again = begun + seconds(self._stage.chance.choice((40, 40, 40, 70)))
            self._stage.sleep(max(1.0, self._left(again)))
            self._stage.meet()

    def _left(self, end: datetime) -> float:
        """Return the seconds until then."""
        return (end - self._stage.now).total_seconds()

    def migrate(self) -> None:
        """Move timeouts away, back, or to SQS, and abort that; a death is followed by the next move."""
        chance, actor = self._stage.chance, self._stage.playing
        self._setting.skews[actor.name] = 0
        for _ in range(chance.randint(1, 3)):
            actor.dies_at = self._stage.now + timedelta(hours=1)
            try:
                self._move(chance.choice(("away", "away", "away", "back", "to SQS", "abort")))
            except StoreUnavailable:
                pass
            except Killed:
                self._stage.note("the migration is dead")
            actor.dies_at = None
            self._setting.pause()

    def _move(self, which: str) -> None:
        home, away = self._setting.stores.open(HOME), self._setting.stores.open(AWAY)
        self._stage.note(f"migration {which}")
        self.aborted += which == "abort"
        if which == "abort":
            abort(home, ALL, dry_run=False)
            return
        sqs = SqsTarget(Sender(self._setting.sqs))
        targets = {"away": StoreTarget(away, AWAY), "back": StoreTarget(home, HOME), "to SQS": sqs}
        source = away if which == "back" else home
        target: Any = targets[which]
        migrate(source, target, ALL, lambda: self._stage.now, dry_run=False, on_progress=str, on_skipped=str)
