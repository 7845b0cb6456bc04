"""Keep a journal in SQLite: what was to be sent, what the broker confirmed, what is in doubt, and which runs hide messages.

The intent is written before a copy is sent, and the answer before its original is deleted. So a second run knows, whenever
the first was killed: with an answer the original only has to be deleted; with an intent alone the copy may have been sent. That an
original is deleted is not written: it is not found again, and if it is, it has to be deleted again. A doubt is kept until a run has
shown it to an operator.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recoverable_operate.errors._holding import escaped
from recoverable_operate.errors._queue import OperateError

INTENT, NAMED, SENT = "intent", "named", "sent"
"""The states of a send: begun, begun and shown to an operator as doubtful, confirmed by the broker."""

NO_ANSWER = timedelta(minutes=1)
"""After so long an intent gets no answer any more: no call to a broker takes as long, so its run was killed."""

KEPT_FOR = timedelta(days=30)
"""How long an entry is kept: no queue's retention is longer than the 14 days of SQS, and an operator may ask later."""

TABLES = """
CREATE TABLE IF NOT EXISTS sends (
    key TEXT PRIMARY KEY, message_id TEXT NOT NULL, queue TEXT NOT NULL, target TEXT NOT NULL,
    state TEXT NOT NULL, changed_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sent_again (
    key TEXT PRIMARY KEY, message_id TEXT NOT NULL, queue TEXT NOT NULL, target TEXT NOT NULL, changed_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, queue TEXT NOT NULL, began TEXT NOT NULL, hides_until TEXT NOT NULL)
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the journal about one message.

    Args:
        key: see `failed.key_of`.
        message_id: the message's id.
        queue: the error queue.
        target: where its copy goes.
        state: intent, named or sent.
        changed_at: since when.
    """

    key: str
    message_id: str
    queue: str
    target: str
    state: str
    changed_at: str


@dataclass(frozen=True, slots=True)
class Doubts:
    """Messages of which a run does not know whether they were sent, or sent twice, because an earlier one was killed.

    Args:
        unanswered: they have an intent without an answer.
        sent_again: they had one, and were sent again.
    """

    unanswered: tuple[Entry, ...]
    sent_again: tuple[Entry, ...]


class Journal:
    """The journal.

    A commit survives the end of this process, however it ends. It does not wait for the disk, so a power failure of
    the operator's machine may take the last entries; then a message may be sent again without being named (SQLite, "WAL").

    Args:
        path: the file, made if it is missing; ":memory:" for one that ends with the process.

    Raises:
        OperateError: it cannot be opened or made.
    """

    def __init__(self, path: str) -> None:
        try:
            if path != ":memory:":
                Path(path).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._database = sqlite3.connect(path, isolation_level=None, timeout=30)
            self._database.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; {TABLES}")
        except (OSError, sqlite3.Error) as error:
            raise OperateError(
                f"the journal {path} cannot be opened: {error}; name another file with --journal"
            ) from None

    def find(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the entries of these keys, as far as there are any."""
        marks = ", ".join("?" * len(keys))
        rows = self._database.execute(f"SELECT * FROM sends WHERE key IN ({marks})", keys)  # noqa: S608  # marks alone
        return {row[0]: Entry(*row) for row in rows}

    def intend(self, entries: Iterable[Entry]) -> None:
        """Write that these copies are about to be sent, and of those with an intent already that they may be sent twice."""
        values = [
            (each.key, escaped(each.message_id), each.queue, each.target, each.state, each.changed_at)
            for each in entries
        ]
        with self._transaction():
            self._database.executemany(
                "INSERT OR REPLACE INTO sent_again SELECT key, message_id, queue, target, changed_at FROM sends "
                "WHERE key = ? AND state != ?",
                [(key, SENT) for key, *_ in values],
            )
            self._database.executemany("INSERT OR REPLACE INTO sends VALUES (?, ?, ?, ?, ?, ?)", values)

    def answer(self, states: Mapping[str, str | None], now: datetime) -> None:
        """Write what the broker answered: a new state; None for a copy that it does not have."""
        gone = [(key,) for key, state in states.items() if state is None]
        changed = [(state, written(now), key) for key, state in states.items() if state is not None]
        with self._transaction():
            self._database.executemany("DELETE FROM sends WHERE key = ?", gone)
            self._database.executemany("UPDATE sends SET state = ?, changed_at = ? WHERE key = ?", changed)

    def doubts(self, before: datetime) -> Doubts:
        """Return what no operator was shown yet.

        Args:
            before: the time of the last intent that counts; one that is younger than `NO_ANSWER` may be another run's, which goes on.
        """
        unanswered = self._database.execute(
            "SELECT * FROM sends WHERE state = ? AND changed_at <= ? ORDER BY changed_at, key",
            (INTENT, written(before)),
        )
        again = self._database.execute(
            "SELECT key, message_id, queue, target, ?, changed_at FROM sent_again ORDER BY changed_at, key", (SENT,)
        )
        return Doubts(tuple(Entry(*row) for row in unanswered), tuple(Entry(*row) for row in again))

    def note_shown(self, doubts: Doubts) -> None:
        """Write that an operator was shown these doubts."""
        with self._transaction():
            self._database.executemany(
                "UPDATE sends SET state = ? WHERE key = ? AND state = ? AND changed_at = ?",
                [(NAMED, each.key, INTENT, each.changed_at) for each in doubts.unanswered],
            )
            self._database.executemany(
                "DELETE FROM sent_again WHERE key = ? AND changed_at = ?",
                [(each.key, each.changed_at) for each in doubts.sent_again],
            )

    def begin_run(self, queue: str, began: datetime, hides_until: datetime) -> int:
        """Write that a run looks at a queue and hides its messages until then at least. Return the run's number."""
        values = queue, written(began), written(hides_until)
        with self._transaction():
            number = self._database.execute("INSERT INTO runs VALUES (NULL, ?, ?, ?)", values).lastrowid
        assert number is not None  # SQLite, "Rowid Tables"
        return number

    def hide(self, run: int, until: datetime) -> None:
        """Write until when a run hides messages."""
        self._database.execute("UPDATE runs SET hides_until = ? WHERE id = ?", (written(until), run))

    def end_run(self, run: int) -> None:
        """Write that a run hides nothing any more."""
        self._database.execute("DELETE FROM runs WHERE id = ?", (run,))

    def hiding(self, queue: str, now: datetime, *, but: int) -> list[tuple[datetime, datetime]]:
        """Return when other runs on this machine began that still hide messages of a queue, and until when they do."""
        rows = self._database.execute(
            "SELECT began, hides_until FROM runs WHERE queue = ? AND id != ? AND hides_until > ? ORDER BY began",
            (queue, but, written(now)),
        )
        return [(datetime.fromisoformat(began), datetime.fromisoformat(until)) for began, until in rows]

    def forget_old(self, now: datetime) -> None:
        """Remove what is older than any message; an intent stays until an operator was shown it."""
        old = written(now - KEPT_FOR)
        self._database.execute("DELETE FROM sends WHERE changed_at < ? AND state != ?", (old, INTENT))
        self._database.execute("DELETE FROM runs WHERE hides_until < ?", (written(now),))

    def entries(self) -> list[Entry]:
        """Return all entries, the oldest first."""
        return [Entry(*row) for row in self._database.execute("SELECT * FROM sends ORDER BY changed_at, key")]

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write all of it or nothing."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._database.execute("COMMIT")
        except BaseException:
            self._database.rollback()
            raise


def written(moment: datetime) -> str:
    """Return the moment as the journal writes it."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def default_path(environment: Mapping[str, str]) -> str:
    """Return where the journal is when nothing else is said (XDG Base Directory Specification)."""
    state = environment.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(state, "recoverable", "errors.sqlite")
