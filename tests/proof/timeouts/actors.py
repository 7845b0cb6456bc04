"""Who plays: those who store, those who cancel, dispatchers, migrations, and the time to live."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from builders import seconds
from proof.timeouts.history import History, Noted
from proof.timeouts.kinds import WRONG, Kind
from proof.timeouts.services import Sqs, Stores
from proof.timeouts.stage import Killed, Stage
from recoverable.timeouts import CriticalError, Dispatcher, StoreUnavailable, Timeout, Timeouts
from recoverable.timeouts.client import Sender, SendFailed
from recoverable.timeouts.migration import abort, migrate
from recoverable.timeouts.store import Selection
from recoverable.timeouts.targets import SqsTarget, StoreTarget

HOME, AWAY = "home", "away"
"""Where timeouts are stored, and where they are moved to."""

ENTRANCES = (0, 0.1, 30, 30, 60, 60, 61, 90, 120)
CROWDED = (0, 60, 60, 60)
MINUTE = (0, 30, 60)
"""Seconds after which somebody enters, one of many at the same moment, and a dispatcher."""

CORRELATION = "saga"
ALL = Selection()
RETRY_KEPT = seconds(300)
"""When what could not be sent is tried again: sooner than by default, so that schedules are short."""


@dataclass(frozen=True)
class Planned:
    """A message that is to come later.

    Args:
        number: which; its body begins with it.
        id: its timeout's id.
        to: its queue.
        due: when it is due.
        body: its body.
        key: the key of `schedule`; None when it is stored by `put`.
        correlation: what it can be cancelled by.
    """

    number: int
    id: str
    to: str
    due: datetime
    body: str
    key: str | None
    correlation: str


class Cast:
    """All who play in a schedule.

    Args:
        stage: the stage.
        kind: the kind of schedule.
        stores: the stores.
        history: where what is asked is written down.
        planned: the messages.
    """

    def __init__(
        self, stage: Stage, kind: Kind, stores: Stores, history: History, planned: list[Planned]
    ) -> None:
        self._stage, self._kind, self._stores, self._history = stage, kind, stores, history
        self._planned = {message.id: message for message in planned}
        self.skews: dict[str, float] = {}
        self.aborted, self._moved = 0, "away"
        self._sqs: Any = Sqs(stage, history, self.skews)

    def enter(self) -> None:
        """Have all enter."""
        stage, chance = self._stage, self._stage.chance
        entrances = chance.choice((ENTRANCES, CROWDED))
        for message in self._planned.values():
            n = message.number
            stage.enter(f"writer {n}", partial(self._write, message), after=chance.choice(entrances))
            if chance.random() < 0.5:
                stage.enter(f"canceller {n}", partial(self._cancel, message), after=chance.choice(entrances))
        if chance.random() < 0.3:
            stage.enter("canceller of all", self._cancel_all, after=chance.choice(entrances))
        for n in range(chance.randint(1, self._kind.dispatchers)):
            stage.enter(f"dispatcher {n}", partial(self._dispatch, HOME), after=chance.choice(MINUTE))
        if self._kind.migrating:
            stage.enter("dispatcher away", partial(self._dispatch, AWAY), after=chance.choice(MINUTE))
            stage.enter("migration", self._migrate, after=chance.choice(entrances))
        stage.enter("time to live", self._expire)

    def settle(self, wanted: set[int], until: datetime) -> None:
        """When all is calm: end what a migration began, and dispatch until all that is wanted has come, or never will."""
        tables = (HOME, AWAY) if self._kind.migrating else (HOME,)
        self._stage.sleep(self._stage.chance.choice((0, 30, 1000)))
        for table in tables:
            self.aborted += abort(self._stores.open(table), ALL, dry_run=False).done
        last = [self._dispatcher(table, 0) for table in tables]
        for turn in range(80):
            for dispatcher in last:
                dispatcher.run()
            if self._stage.now > until and all(self._history.sent[number] for number in wanted):
                return
            self._stage.sleep(60 if turn < 3 else 600)

    def _open(self, table: str) -> Noted:
        return Noted(self._stores.open(table), self._history, lambda each: self._planned[each].number)

    def _pause(self) -> None:
        """Wait a little, or for others."""
        if self._stage.chance.random() < 0.6:
            self._stage.meet()
        else:
            self._stage.sleep(self._stage.chance.choice((0.1, 1, 30, 100)))

    def _skew(self) -> float:
        """By how much the clock of whoever plays is ahead."""
        return self.skews.setdefault(self._stage.playing.name, self._stage.chance.choice(self._kind.skews))

    def _timeouts(self, skew: float) -> Timeouts:
        longest = seconds(self._stage.chance.choice((0, 0, 100)))
        return Timeouts(
            self._open(HOME),
            endpoint="shop",
            client=self._sqs,
            clock=lambda: self._stage.now + seconds(skew),
            longest_native=longest,
        )

    def _write(self, message: Planned) -> None:
        """Store it, until that is answered; and perhaps once more."""
        skew, chance = self._skew(), self._stage.chance
        timeouts, store = self._timeouts(skew), self._open(HOME)
        for _ in range(1 if self._kind.migrating else chance.choice((1, 1, 2, 3))):
            for _ in range(6):
                if self._stored(message, timeouts, store, skew):
                    break
                self._pause()
            self._pause()

    def _stored(self, message: Planned, timeouts: Timeouts, store: Noted, skew: float) -> bool:
        with self._history.asking(self._history.puts[message.number]) as asked:
            try:
                if message.key is None:
                    store.put(timeout_of(message), now=self._stage.now + seconds(skew), again=True)
                else:
                    schedule(timeouts, message)
            except (StoreUnavailable, SendFailed):
                return False
            asked.answer = True
        self._stage.note(f"message {message.number} is accepted")
        return True

    def _cancel(self, message: Planned) -> None:
        """Cancel it, until that is answered; and perhaps once more."""
        timeouts, chance = self._timeouts(self._skew()), self._stage.chance
        for _ in range(chance.choice((1, 2))):
            for _ in range(3):
                try:
                    timeouts.cancel(message.id)
                    break
                except StoreUnavailable:
                    self._pause()
            self._pause()

    def _cancel_all(self) -> None:
        """Cancel those with the correlation, until that is answered."""
        timeouts = self._timeouts(self._skew())
        for _ in range(3):
            try:
                timeouts.cancel_for(CORRELATION)
            except StoreUnavailable:
                self._pause()
            else:
                return

    def _dispatcher(self, table: str, skew: float) -> Dispatcher:
        return Dispatcher(
            self._stores.open(table),
            client=self._sqs,
            clock=lambda: self._stage.now + seconds(skew),
            sleep=self._stage.sleep,
            retry_kept=RETRY_KEPT,
        )

    def _dispatch(self, table: str) -> None:
        """Run each minute, as a function does: a new process after each death."""
        skew, actor = self._skew(), self._stage.playing
        dispatcher = self._dispatcher(table, skew)
        while True:
            begun, limit = self._stage.now, self._stage.chance.choice((60, 180, 180, 890))
            actor.dies_at = begun + seconds(limit)
            actor.mishaps["wrong clock"] += abs(skew) > WRONG
            try:
                dispatcher.run(lambda begun=begun, limit=limit: limit - self._since(begun))  # type: ignore[misc]
            except CriticalError:
                pass
            except Killed:
                dispatcher = self._dispatcher(table, skew)
            actor.dies_at = None
            self._stage.sleep(max(1.0, self._stage.chance.choice((40, 40, 40, 70)) - self._since(begun)))
            self._stage.meet()

    def _since(self, moment: datetime) -> float:
        return (self._stage.now - moment).total_seconds()

    def _migrate(self) -> None:
        """Move timeouts away, back, or to SQS, and abort that; a death is followed by the next move."""
        chance, actor = self._stage.chance, self._stage.playing
        self.skews[actor.name] = 0
        for _ in range(chance.randint(1, 3)):
            actor.dies_at = self._stage.now + timedelta(hours=1)
            try:
                self._move(chance.choice(("away", "away", "away", "back", "to SQS", "abort")))
            except StoreUnavailable:
                pass
            except Killed:
                self._stage.note("the migration is dead")
            actor.dies_at = None
            self._pause()

    def _move(self, which: str) -> None:
        home, away = self._stores.open(HOME), self._stores.open(AWAY)
        self._stage.note(f"migration {which}")
        self.aborted += which != self._moved  # what was held for another target may be shown again
        self._moved = which
        if which == "abort":
            abort(home, ALL, dry_run=False)
            return
        sqs = SqsTarget(Sender(self._sqs))
        targets = {"away": StoreTarget(away, AWAY), "back": StoreTarget(home, HOME), "to SQS": sqs}
        source = away if which == "back" else home
        target: Any = targets[which]
        migrate(source, target, ALL, lambda: self._stage.now, dry_run=False, show=str, tell=str)

    def _expire(self) -> None:
        while True:
            self._stage.sleep(self._stage.chance.choice((1, 20, 60)))
            self._stores.expire()

    @property
    def mishaps(self) -> Counter[str]:
        """What went wrong for those who send."""
        found: Counter[str] = Counter()
        for actor in self._stage.actors:
            if actor.name.startswith(("dispatcher", "migration")):
                found += actor.mishaps
        return found


def timeout_of(message: Planned) -> Timeout:
    """The message as a store has it."""
    return Timeout(message.id, message.to, message.body, correlation=message.correlation)


def schedule(timeouts: Timeouts, message: Planned) -> None:
    """Have it scheduled, as users do."""
    made = timeouts.schedule(
        message.to,
        message.body,
        at=message.due,
        key=message.key,
        correlation=message.correlation or None,
    )
    assert made == message.id, made
