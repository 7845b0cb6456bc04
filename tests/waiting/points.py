"""Disturb a DynamoDB store at each of its calls, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from itertools import count
from typing import Any

from builders import seconds
from recoverable.timeouts import DynamoDbStore
from recoverable.timeouts._store import Kept
from waiting.rows import NOW, claims
from waiting.stores import OneShard, in_tables
from waiting.world import Meddled


class Killed(BaseException):
    """Raised when the process is killed."""


class Point:
    """A hook that disturbs another process with the same table at its n-th call, before it is sent."""

    def __init__(self, store: DynamoDbStore, strike: Callable[[], object], nth: int) -> None:
        self.calls, self._strike, self._nth = 0, strike, nth
        client: Any = Meddled(store._table._client(), before=self._called)
        self.store = OneShard(store._table.name, client=client, page=2)

    @property
    def struck(self) -> bool:
        return self.calls >= self._nth

    def _called(self, _name: str) -> None:
        self.calls += 1
        if self.calls == self._nth:
            self._strike()


def kill() -> None:
    """Kill the process."""
    raise Killed


def every_point(scenario: Callable[[DynamoDbStore, int], bool]) -> int:
    """Play a scenario once for each point, each with a new table in memory, until there are no more, and return how many there were."""
    for nth in count(1):
        if not scenario(in_tables(), nth):
            return nth - 1
    raise AssertionError


def due(n: int) -> datetime:
    """Return the n-th due time: 40 seconds before the one before it, so that they lie in several minutes."""
    return NOW - seconds(40 * n)


def keep_all(store: DynamoDbStore) -> None:
    """Keep what is due, to be tried again now; the watermark passes it."""
    for claim in claims(store, NOW):
        for page in store.due(claim):
            store.keep(claim, [Kept(row, "gone") for row in page], retry_at=NOW)
        store.release(claim)
