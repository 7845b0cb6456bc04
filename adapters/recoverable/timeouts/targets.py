"""Where a migration can move timeouts to, beside Service Bus: SQS's own delay, and another store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from .client import Sender
from .migration import Sent
from .port import Store
from .sending import batches, outgoing
from .store import DISPATCHED, WAITING, Row, StoreUnavailable
from .timeout import Timeout


class SqsTarget:
    """SQS's own delay, for what is due within 15 minutes.

    Args:
        sender: sends to the queues.
    """

    name = "SQS"

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def objection(self, timeout: Timeout, now: datetime) -> str | None:
        """What is due later than SQS can delay, or for a FIFO queue later than now, must stay."""
        if outgoing(Row(timeout.id, timeout), timeout, now) is None:
            return "SQS delays a message by 15 minutes at most, and one of a FIFO queue not at all"
        return None

    def send(self, timeouts: Sequence[Timeout], now: datetime) -> Sent:
        """Send them with the delay that is left."""
        ready = [outgoing(Row(timeout.id, timeout), timeout, now) for timeout in timeouts]
        ids: set[str] = set()
        failed: set[str] = set()
        for batch in batches(each for each in ready if each is not None):
            outcome = self._sender.send(batch[0].to, [each.entry for each in batch])
            ids |= {batch[n].row.id for n in outcome.sent}
            failed |= {*outcome.refused.values(), *filter(None, [outcome.failed])}
        return Sent(frozenset(ids), "; ".join(sorted(failed)))


class StoreTarget:
    """Another store: what is moved keeps its id, so that it is there once however often it is moved.

    Args:
        store: the store.
        name: what it is called in what is said.
    """

    def __init__(self, store: Store, name: str) -> None:
        self._store, self.name = store, name

    def close(self) -> None:
        """Close the store, if it is one to close."""
        getattr(self._store, "close", lambda: None)()

    def objection(self, timeout: Timeout, now: datetime) -> str | None:  # noqa: ARG002  # the port's
        """It takes all."""
        return None

    def send(self, timeouts: Sequence[Timeout], now: datetime) -> Sent:
        """Store them; what is held or cancelled there is not taken, for it would come from neither store."""
        ids: set[str] = set()
        failed: set[str] = set()
        for timeout in timeouts:
            try:
                state = self._store.put(timeout, now=now)
            except (StoreUnavailable, ValueError) as error:
                failed.add(str(error))
                continue
            if state in (WAITING, DISPATCHED):
                ids.add(timeout.id)
            else:
                failed.add(f"it is {state} there")
        return Sent(frozenset(ids), "; ".join(sorted(failed)))
