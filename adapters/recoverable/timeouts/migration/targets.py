"""Where a migration can move timeouts to: what a target is and answers, and, beside Service Bus, SQS's own delay and another store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from recoverable.timeouts.client import Sender
from recoverable.timeouts.sending import batches, to_send_request
from recoverable.timeouts.stores.port import Store
from recoverable.timeouts.stores.rows import DISPATCHED, WAITING, Row, StoreUnavailable
from recoverable.timeouts.timeout import Timeout


class Target(Protocol):
    """Where timeouts are moved to."""

    name: str

    def reason_to_skip(self, timeout: Timeout, now: datetime) -> str | None:
        """Why it cannot take a timeout now; None when it can."""

    def send(self, timeouts: Sequence[Timeout], now: datetime) -> SendResult:
        """Take them; what it takes it delivers when it is due."""


@dataclass(slots=True)
class SendResult:
    """What became of timeouts that were sent to a target; what it does not name was not tried, and is in the store alone.

    Args:
        ids: those that the target has.
        refused: those that it has not, and why.
        unconfirmed: those that it may have, and why that is not known.
        failed: why no more can be sent now; empty when it can.
    """

    ids: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    unconfirmed: dict[str, str] = field(default_factory=dict)
    failed: str = ""


class SqsTarget:
    """SQS's own delay, for what is due within 15 minutes.

    Args:
        sender: sends to the queues.
    """

    name = "SQS"

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def reason_to_skip(self, timeout: Timeout, now: datetime) -> str | None:
        """What is due later than SQS can delay, or for a FIFO queue later than now, must stay."""
        if to_send_request(Row(timeout.id, timeout), timeout, now) is None:
            return "SQS delays a message by 15 minutes at most, and one of a FIFO queue not at all"
        return None

    def send(self, timeouts: Sequence[Timeout], now: datetime) -> SendResult:
        """Send them with the delay that is left."""
        ready = [to_send_request(Row(timeout.id, timeout), timeout, now) for timeout in timeouts]
        sent = SendResult()
        for batch in batches(each for each in ready if each is not None):
            outcome = self._sender.send(batch[0].to, [each.entry for each in batch])
            ids = [each.row.id for each in batch]
            sent.ids |= {ids[n] for n in outcome.sent}
            sent.refused |= {ids[n]: why for n, why in outcome.refused.items()}
            if outcome.failed:
                unknown = set(ids) - sent.ids - sent.refused.keys()
                sent.unconfirmed |= dict.fromkeys(sorted(unknown), outcome.failed)
                sent.failed = outcome.failed
                break
        return sent


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

    def reason_to_skip(self, timeout: Timeout, now: datetime) -> str | None:  # noqa: ARG002  # the port's
        """It takes all."""
        return None

    def send(self, timeouts: Sequence[Timeout], now: datetime) -> SendResult:
        """Store them; what is held or cancelled there is not taken, for it would come from neither store, nor shown here, for it may be done with."""
        sent = SendResult()
        for timeout in timeouts:
            try:
                state = self._store.put(timeout, now=now)
            except ValueError as error:  # too large, say: of this one alone
                sent.refused[timeout.id] = str(error)
            except StoreUnavailable as error:
                sent.unconfirmed[timeout.id] = sent.failed = str(error)
                break
            else:
                if state in (WAITING, DISPATCHED):
                    sent.ids.add(timeout.id)
                else:
                    sent.unconfirmed[timeout.id] = f"it is {state} there"
        return sent
