"""Record what was asked of the timeouts in a schedule, what was answered, and what SQS got."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from typing import Any

from proof.timeouts.stage import Stage


@dataclass
class Asked:
    """A call of `schedule`, `put` or `cancel`.

    Args:
        begun: when, in the order of all that happens.
        ended: when it had its answer, or failed, or died.
        answer: True or False; None when there was none.
    """

    begun: float
    ended: float = inf
    answer: bool | None = None

    def overlaps(self, begin: float, end: float) -> bool:
        """True if a part of it was between two moments."""
        return self.begun < end and self.ended > begin


@dataclass(frozen=True)
class Sending:
    """A message that SQS got.

    Args:
        tick: when, in the order of all that happens.
        at: when, by the clock.
        delay: for how many seconds SQS holds it back.
        who: who sent it.
        skew: by how many seconds the sender's clock is ahead.
    """

    tick: int
    at: datetime
    delay: float
    who: str
    skew: float


@dataclass
class History:
    """The records of a schedule; messages by their number.

    Args:
        stage: where it happens.
        puts: when each was to be stored.
        cancels: when each was to be cancelled.
        sent: what SQS got.
    """

    stage: Stage
    puts: dict[int, list[Asked]] = field(default_factory=lambda: defaultdict(list))
    cancels: dict[int, list[Asked]] = field(default_factory=lambda: defaultdict(list))
    sent: dict[int, list[Sending]] = field(default_factory=lambda: defaultdict(list))

    @contextmanager
    def asking(self, asked: list[Asked]) -> Iterator[Asked]:
        """Record when something is asked, and when it ends."""
        one = Asked(self.stage.tick())
        asked.append(one)
        try:
            yield one
        finally:
            one.ended = self.stage.tick()


class Noted:
    """A store that records each cancel, whoever asks for it.

    Args:
        store: the store.
        history: where it is written.
        number_of: the number of a message by its timeout's id.
    """

    def __init__(self, store: Any, history: History, number_of: Callable[[str], int]) -> None:
        self._store, self._history, self._number_of, self.shards = store, history, number_of, store.shards

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def cancel(self, timeout_id: str, *, now: datetime) -> bool:
        """Cancel a timeout."""
        number = self._number_of(timeout_id)
        with self._history.asking(self._history.cancels[number]) as asked:
            asked.answer = self._store.cancel(timeout_id, now=now)
        self._history.stage.note(f"cancel of message {number}: {asked.answer}")
        return bool(asked.answer)
