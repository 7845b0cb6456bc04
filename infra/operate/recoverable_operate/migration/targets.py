"""Define what a migration moves timeouts to: SQS's own delay, another store, or another target such as Service Bus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from recoverable._sqs.batches import batches
from recoverable._sqs.sender import Sender
from recoverable.timeouts._sending import to_send_request
from recoverable.timeouts._store import DISPATCHED, WAITING, Row, Store, StoreUnavailable
from recoverable.timeouts._timeout import Timeout


class Target(Protocol):
    """Something that timeouts are moved to.

    Args:
        name: its name in messages to the user.
        address: identifies it: what a migration holds for one target is not sent to another.
    """

    name: str
    address: str

    def reason_to_skip(self, timeout: Timeout, now: datetime) -> str | None:
        """Return why it cannot take a timeout now; None when it can."""

    def send(self, timeouts: Sequence[Timeout], now: datetime) -> SendResult:
        """Take the timeouts. The target delivers each one when it is due."""


@dataclass(slots=True)
class SendResult:
    """The result of sending timeouts to a target. What it does not name was not tried, and is in the source alone.

    Args:
        ids: the ids of those that the target has.
        refused: the ids of those that it does not have, each with the reason.
        unconfirmed: the ids of those that it may have, each with the reason why that is not known.
        failed: the reason why no more can be sent now; empty when more can be sent.
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

    name = address = "SQS"

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def reason_to_skip(self, timeout: Timeout, now: datetime) -> str | None:
        """Return a reason for what is due later than SQS can delay it, or for a FIFO queue later than now; None for all else."""
        if to_send_request(Row(timeout.id, timeout), timeout, now) is None:
            return "SQS delays a message by 15 minutes at most, and one of a FIFO queue not at all"
        return None

    def send(self, timeouts: Sequence[Timeout], now: datetime) -> SendResult:
        """Send the timeouts with the remaining delay."""
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
    """Another store. A moved timeout keeps its id, so that it is there once, however often it is moved.

    Args:
        store: the store.
        name: its name in messages to the user.
    """

    def __init__(self, store: Store, name: str) -> None:
        self._store, self.name, self.address = store, name, name

    def close(self) -> None:
        """Close the store, if it can be closed."""
        getattr(self._store, "close", lambda: None)()

    def reason_to_skip(self, timeout: Timeout, now: datetime) -> str | None:  # noqa: ARG002  # the port's
        """Return None: a store takes every timeout."""
        return None

    def send(self, timeouts: Sequence[Timeout], now: datetime) -> SendResult:
        """Store the timeouts. One that is held or cancelled in the target counts as unconfirmed.

        It is not taken, for then no store would send it; nor refused, for it would be released here, and it may be finished.
        """
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
