"""Hold what all participants of a schedule share: the planned messages, the stores, the clocks, and the records."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from builders import seconds
from proof.timeouts.history import History, Noted
from proof.timeouts.kinds import Kind
from proof.timeouts.services import Sqs, Stores
from proof.timeouts.stage import Stage

HOME, AWAY = "home", "away"
"""Tables where timeouts are stored, and where they are moved to."""

CORRELATION = "saga"


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


class Setting:
    """State that all participants of a schedule share.

    Args:
        stage: the stage.
        kind: the kind of schedule.
        stores: the stores.
        history: where what is asked is written down.
        planned: the messages.
    """

    def __init__(self, stage: Stage, kind: Kind, stores: Stores, history: History, planned: list[Planned]) -> None:
        self.stage, self.kind, self.stores, self.history = stage, kind, stores, history
        self.planned = {message.id: message for message in planned}
        self.skews: dict[str, float] = {}
        self.sqs: Any = Sqs(stage, history, self.skews)

    def open(self, table: str) -> Noted:
        """Open a store, as a process does, that records each cancel."""
        return Noted(self.stores.open(table), self.history, lambda each: self.planned[each].number)

    def skew(self) -> float:
        """Return by how many seconds the clock of the current actor is ahead; drawn at the first call."""
        return self.skews.setdefault(self.stage.playing.name, self.stage.chance.choice(self.kind.skews))

    def clock(self, skew: float) -> datetime:
        """Return the time of a clock with this skew."""
        return self.stage.now + seconds(skew)

    def pause(self) -> None:
        """Wait a little, or for others."""
        if self.stage.chance.random() < 0.6:
            self.stage.meet()
        else:
            self.stage.sleep(self.stage.chance.choice((0.1, 1, 30, 100)))
