"""Hold the messages that a look hides: keep them hidden, hand out the chosen ones, delete them, or give them back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from recoverable._sqs.batches import CHANGE_VISIBILITY, DELETE, MAX_ENTRIES
from recoverable_operate.errors._aws.answers import failed_entries
from recoverable_operate.errors._aws.attributes import LONGEST_HIDDEN
from recoverable_operate.errors._aws.messages import Record, failed_message
from recoverable_operate.errors._holding import Held, Holding
from recoverable_operate.errors._message import FailedMessage
from recoverable_operate.errors._queue import Clock, GivenBack, OperateError

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

RECENT = 100
"""Messages that are remembered as they were read; of the others, the chosen ones are on disk, and the rest not at all."""


class HiddenMessages:
    """The messages of an SQS queue that a look hides.

    Args:
        client: hides, deletes and gives back.
        url: the queue's URL.
        clock: tells the time.
        seconds: for how long a message is hidden at a time.
        ordered: True for a FIFO queue, of which each group is taken one message at a time.
    """

    def __init__(self, client: SQSClient, url: str, *, clock: Clock, seconds: int, ordered: bool) -> None:
        self._client, self._url, self._clock = client, url, clock
        self._seconds, self._ordered, self._held = seconds, ordered, Holding()
        self._recent: dict[str, FailedMessage] = {}

    def add(self, record: Record) -> FailedMessage | None:
        """Hold a message that was just received. Return None for one that was seen before: SQS delivers some twice."""
        now = self._clock.now().timestamp()
        held = Held(record["messageId"], record["receiptHandle"], "", None)
        group = record["attributes"].get("MessageGroupId") if self._ordered else None
        if not self._held.add(held, until=now + self._seconds, now=now, group=group):
            return None
        message = self._recent[held.id] = failed_message(record)
        if len(self._recent) > RECENT:
            self._write_oldest()
        return message

    def __len__(self) -> int:
        return len(self._held)

    def choose(self, broker_id: str, to: str) -> None:
        """Note where a message is to be sent."""
        self._held.choose(broker_id, to)

    def chosen(self) -> tuple[str, list[FailedMessage]] | None:
        """Return the next ten chosen messages with the queue that they go to; None when there are no more."""
        held = (self._held.chosen_of_groups if self._ordered else self._held.chosen)(MAX_ENTRIES)
        if not held:
            return None
        return str(held[0].target), [self._recalled(each) for each in held]

    def pass_over(self, messages: Sequence[FailedMessage]) -> None:
        """Hold the messages on, but hand them out no more."""
        self._held.pass_over([each.broker_id for each in messages])

    def chosen_count(self) -> int:
        """Return how many are chosen and not handed out."""
        return self._held.chosen_count()

    def delete(self, messages: Sequence[FailedMessage]) -> dict[str, str]:
        """Delete messages by their newest handles. Return those that were not deleted, each with the reason."""
        ids = [each.broker_id for each in messages]
        newest = self._held.newest_handles(ids)
        entries = [{"ReceiptHandle": newest.get(each, "")} for each in ids]
        failed = failed_entries(self._client, DELETE, self._url, entries, ids)
        self._held.forget([each for each in ids if each not in failed])
        return failed

    def keep(self) -> None:
        """Hide for longer what would soon be visible; what is no longer ours is held no longer."""
        now = self._clock.now().timestamp()
        while ending := self._held.ending(now + self._seconds / 4, MAX_ENTRIES):
            ids = [each[0] for each in ending]
            seconds = [max(int(min(self._seconds, LONGEST_HIDDEN - (now - first))), 0) for _, _, first in ending]
            failed = self._hide([(ids[n], ending[n][1], wait) for n, wait in enumerate(seconds)])
            self._held.forget(list(failed))
            self._held.extend([each for each in ids if each not in failed], now + min(seconds))
            if min(seconds) < self._seconds / 4:
                return

    def give_back(self) -> GivenBack:
        """Make visible what is held."""
        visible, until = 0, datetime.fromtimestamp(self._held.last_end(), UTC)
        for rows in self._held.handles():
            try:
                failed = self._hide([(name, handle, 0) for name, handle in rows])
            except OperateError as error:
                return GivenBack(visible, len(self._held), until, str(error))
            visible += len(rows) - len(failed)
            self._held.forget([name for name, _ in rows])
        return GivenBack(visible)

    def _hide(self, rows: Sequence[tuple[str, str, int]]) -> dict[str, str]:
        """Hide messages for so many seconds from now. Return the ids for which it failed, each with the reason."""
        entries = [{"ReceiptHandle": handle, "VisibilityTimeout": wait} for _, handle, wait in rows]
        return failed_entries(self._client, CHANGE_VISIBILITY, self._url, entries, [name for name, _, _ in rows])

    def _write_oldest(self) -> None:
        """Forget the oldest of those that are remembered; if it is chosen, write it to disk."""
        name = next(iter(self._recent))
        oldest = self._recent.pop(name)
        if self._held.target(name) is not None:
            self._held.write(name, json.dumps(oldest.native.record))

    def _recalled(self, held: Held) -> FailedMessage:
        """Return a held message: as it was read, or from disk."""
        return self._recent.pop(held.id) if held.id in self._recent else failed_message(json.loads(held.raw))
