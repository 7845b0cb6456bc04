"""Hold what a look has found in a temporary database on disk, so that memory does not grow with the queue."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

HELD_TABLE = """
CREATE TABLE held (
    place INTEGER PRIMARY KEY, id TEXT UNIQUE, handle TEXT, until REAL, first REAL, raw TEXT, target TEXT, grouped TEXT
);
CREATE INDEX by_target ON held (target, place) WHERE target IS NOT NULL;
CREATE INDEX by_end ON held (until);
CREATE INDEX by_group ON held (grouped, place) WHERE grouped IS NOT NULL;
"""


class Chosen(NamedTuple):
    """A message that was chosen.

    Args:
        id: the broker's id.
        raw: the message as text.
        target: where it is to be sent; empty when it is to be deleted.
    """

    id: str
    raw: str
    target: str


class Holding:
    """The messages that a sweep holds, on disk.

    SQLite gives a database without a name a file that nobody else can open, and that is gone when the process is
    (SQLite, "Temporary Databases").
    """

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {HELD_TABLE}")

    def add(
        self, broker_id: str, handle: str = "", *, until: float = 0, now: float = 0, group: str | None = None
    ) -> bool:
        """Add a message, or note its newer handle. Return True if it is new.

        Args:
            broker_id: the broker's id.
            handle: what the broker knows this receive by.
            until: when it is visible again.
            now: the time of the receive.
            group: the group of which one message is taken at a time.
        """
        values = (broker_id, handle, until, now, group)
        if self._database.execute(
            "INSERT OR IGNORE INTO held (id, handle, until, first, grouped) VALUES (?, ?, ?, ?, ?)", values
        ).rowcount:
            return True
        self._database.execute("UPDATE held SET handle = ?, until = ? WHERE id = ?", (handle, until, broker_id))
        return False

    def choose(self, broker_id: str, target: str, raw: str = "") -> None:
        """Note where a message is to be sent, and its text; an empty target when it is to be deleted."""
        self._database.execute("UPDATE held SET target = ?, raw = ? WHERE id = ?", (target, raw, broker_id))

    def chosen(self, count: int) -> list[Chosen]:
        """Return the next chosen messages of one target, in the order in which they were found, one of each group at most."""
        rows = self._database.execute(
            "SELECT id, raw, target FROM held AS one WHERE target IS NOT NULL AND NOT EXISTS "
            "(SELECT 1 FROM held AS other WHERE other.grouped = one.grouped AND other.place < one.place) "
            "ORDER BY target, place LIMIT ?",
            (count,),
        )
        found = [Chosen(*row) for row in rows]
        return [each for each in found if each.target == found[0].target]

    def newest_handles(self, broker_ids: Sequence[str]) -> dict[str, str]:
        """Return the newest handles of messages, as far as they are held."""
        rows = self._database.execute(f"SELECT id, handle FROM held WHERE id IN ({marks(broker_ids)})", broker_ids)  # noqa: S608  # marks alone
        return {str(name): str(handle) for name, handle in rows}

    def target(self, broker_id: str) -> str | None:
        """Return where a message is to be sent; None when it was not chosen."""
        found = self._database.execute("SELECT target FROM held WHERE id = ?", (broker_id,)).fetchone()
        return None if found is None else found[0]

    def pass_over(self, broker_ids: Sequence[str]) -> None:
        """Hold the messages on, but choose them no more."""
        self._database.execute(f"UPDATE held SET target = NULL WHERE id IN ({marks(broker_ids)})", broker_ids)  # noqa: S608  # marks alone

    def forget(self, broker_ids: Sequence[str]) -> None:
        """Hold the messages no longer."""
        self._database.execute(f"DELETE FROM held WHERE id IN ({marks(broker_ids)})", broker_ids)  # noqa: S608  # marks alone

    def ending(self, before: float, count: int) -> list[tuple[str, str, float]]:
        """Return id, handle and first receive of the messages that are hidden no longer than this, the earliest first."""
        rows = self._database.execute(
            "SELECT id, handle, first FROM held WHERE until < ? ORDER BY until LIMIT ?", (before, count)
        )
        return [(str(each[0]), str(each[1]), float(each[2])) for each in rows]

    def extend(self, broker_ids: Sequence[str], until: float) -> None:
        """Note that the messages are hidden until then."""
        self._database.executemany("UPDATE held SET until = ? WHERE id = ?", [(until, each) for each in broker_ids])

    def handles(self) -> Iterator[list[tuple[str, str]]]:
        """Yield ids and handles in tens. Each ten must be forgotten before the next is asked for."""
        while rows := self._database.execute("SELECT id, handle FROM held LIMIT 10").fetchall():
            yield rows

    def last_end(self) -> float:
        """Return the time when the last one is visible again."""
        return float(self._database.execute("SELECT coalesce(max(until), 0) FROM held").fetchone()[0])

    def __len__(self) -> int:
        return int(self._database.execute("SELECT count(*) FROM held").fetchone()[0])

    def chosen_count(self) -> int:
        """Return how many are chosen."""
        return int(self._database.execute("SELECT count(*) FROM held WHERE target IS NOT NULL").fetchone()[0])


class SentIds:
    """What one run has sent, on disk: the ids of messages, each with the number of redrives that it had before."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)
        self._database.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE sent (id TEXT PRIMARY KEY, redrives INTEGER)"
        )

    def add(self, sent: Iterable[tuple[str, int]]) -> None:
        """Note ids and redrives of messages that were sent; of copies with one id the one with the fewest redrives counts."""
        self._database.executemany(
            "INSERT INTO sent VALUES (?, ?) ON CONFLICT DO UPDATE SET redrives = min(redrives, excluded.redrives)",
            [(escaped(name), redrives) for name, redrives in sent],
        )

    def came_back(self, name: str, redrives: int) -> bool:
        """True if a message is what became of one that was sent, and no other copy that lay beside it."""
        query = "SELECT 1 FROM sent WHERE id = ? AND redrives < ?"
        return self._database.execute(query, (escaped(name), redrives)).fetchone() is not None


def escaped(text: str) -> str:
    """Return the text as SQLite takes it: a half of a character, which JSON can hold, is written as its escape."""
    return text.encode(errors="backslashreplace").decode()


def marks(values: Sequence[str]) -> str:
    """Return a placeholder for each value."""
    return ", ".join("?" * len(values))
