"""Look at an SQS error queue by receiving from it, hide what it holds meanwhile, and take from it what is chosen."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from recoverable._sqs.batches import CHANGE_VISIBILITY, DELETE, MAX_ENTRIES
from recoverable._sqs.queues import queue_from_arn
from recoverable_operate.errors._aws.answers import call_error, failed_entries
from recoverable_operate.errors._aws.attributes import (
    LONGEST_HIDDEN,
    LONGEST_SWEEP,
    MOST_IN_FLIGHT,
    RECEIVES_LEFT,
    hidden_for,
    looking_notes,
    read_attributes,
    read_backlog,
    read_sources,
)
from recoverable_operate.errors._aws.copies import CopySender
from recoverable_operate.errors._aws.messages import Record, arn_of, failed_message, line_of, message_of, record_of
from recoverable_operate.errors._holding import Holding
from recoverable_operate.errors._journal import Journal
from recoverable_operate.errors._message import FailedMessage
from recoverable_operate.errors._queue import Backlog, Clock, Copy, GivenBack, OperateError, SendResult, Stop

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

COUNTS_SETTLE = 5
"""Seconds between two reads of how many messages are in flight: SQS counts late (GetQueueAttributes, "eventual consistency")."""

EMPTY_POLLS = 3
"""Empty long polls after which a look has seen all: a receive asks some of SQS's servers, a long poll all of them."""

MOST_KEPT = 100
"""Chosen messages that are kept in memory: as many as wait at most where messages are sent while the look goes on."""


class SqsErrorQueue:
    """An SQS error queue.

    Args:
        client: reads it.
        url: its URL.
        sender_for: returns a client that tries each send once, for a region.
        clock: tells the time.
        stop: ends a look.
        metrics_for: returns a client of CloudWatch for a region, which knows the age of messages; None to leave it out.
        journal: knows which other runs on this machine hide messages, and tells them of this one; None for one that nobody kills.
        rate: messages that will be sent a second, for the time that they are hidden.
        poll: seconds of a long poll.
    """

    trusted_source = False

    def __init__(
        self,
        client: SQSClient,
        url: str,
        *,
        sender_for: Callable[[str], SQSClient],
        clock: Clock,
        stop: Stop,
        metrics_for: Callable[[str], Any] = lambda _: None,
        journal: Journal | None = None,
        rate: float = 0,
        poll: int = 2,
    ) -> None:
        self._client, self._url, self._clock, self._stop, self._poll = client, url, clock, stop, poll
        self._attributes = read_attributes(client, url)
        self.address, self.ordered, self.depth = self._attributes.arn, self._attributes.fifo, self._attributes.depth
        self.sends_along = not self.ordered  # of a FIFO queue, a group is looked at before any of it is sent
        self._seconds = hidden_for(self._attributes.depth, rate)
        self._held, self._kept = Holding(), dict[str, FailedMessage]()
        self._sender_for, self._metrics_for = sender_for, metrics_for
        self._copies = CopySender(queue_from_arn(self.address), sender_for, clock.sleep)
        self._began, self._seen = clock.now(), 0
        self._journal = journal or Journal(":memory:")
        self._run = self._journal.begin_run(self.address, self._began, self._began + timedelta(seconds=self._seconds))
        self._ended: str | None = None

    def canonical(self, queue: str) -> str:
        """Return the ARN of a queue."""
        return arn_of(queue, self.address)

    def sources(self) -> list[str]:
        """Return the ARNs of the queues whose dead-letter target this one is."""
        return read_sources(self._client, self._url, self.address)

    def backlog(self, queue: str) -> Backlog:
        """Return how much another queue holds."""
        region = queue_from_arn(queue).region
        return read_backlog(self._sender_for(region), self._metrics_for(region), queue, self._clock.now())

    def notes(self) -> list[str]:
        """Return what looking does to the queue."""
        return looking_notes(self._attributes, self._seconds)

    def look(self) -> Generator[FailedMessage, None, None]:
        """Receive each message once, and hide it; end after three polls without a new one."""
        self._check_receives(1)
        empty, self._ended = 0, None
        while empty < EMPTY_POLLS and not self._stop.requested:
            new = self._receive()
            empty = 0 if new else empty + 1
            if not new:
                continue  # three polls last a minute at most, less than what `keep` leaves of a message's time
            self.keep()
            for message in new:
                self._check_receives(message.receives)
                yield message
            self._ended = self._reason_to_end()
            if self._ended:
                return
            if self.ordered and self._seen > len(self._held):
                return  # what is gone since the first look let more of its groups appear: they are sent before others
        if not self._stop.requested:
            self._ended = self._hidden_by_others()

    def ending(self) -> str | None:
        """Return why the look ended early."""
        return self._ended

    def choose(self, message: FailedMessage, to: str) -> None:
        """Note where a message is to be sent, and keep it: a few in memory, which saves their reading again, the others on disk."""
        if is_kept := len(self._kept) < MOST_KEPT:
            self._kept[message.broker_id] = message
        self._held.choose(message.broker_id, to, "" if is_kept else json.dumps(message.native.record))

    def take(self) -> Iterator[tuple[str, list[FailedMessage]]]:
        """Yield the chosen messages, which are hidden from others; of a FIFO group one at a time."""
        while chosen := self._held.chosen(MAX_ENTRIES):
            if self._too_long():
                self._ended = "SQS hides no message for more than 12 hours"
                return
            yield chosen[0].target, [self._kept.get(each.id) or failed_message(json.loads(each.raw)) for each in chosen]
            self._held.pass_over([each.id for each in chosen])
            for each in chosen:
                self._kept.pop(each.id, None)

    def missed(self) -> str | None:
        """Return what was chosen and not taken."""
        if not (count := self._held.chosen_count()):
            return None
        why = self._ended or "an earlier message of their group stays"
        return f"{count} messages were not reached: {why}"

    def send(self, to: str, copies: Sequence[Copy], delay: timedelta | None) -> SendResult:
        """Send the copies."""
        return self._copies.send(to, copies, delay)

    def delete(self, messages: Sequence[FailedMessage]) -> dict[str, str]:
        """Delete messages by their newest handles."""
        ids = [each.broker_id for each in messages]
        newest = self._held.newest_handles(ids)
        entries = [{"ReceiptHandle": newest.get(each, "")} for each in ids]
        failed = failed_entries(self._client, DELETE, self._url, entries, ids)
        self._held.forget([each for each in ids if each not in failed])
        return failed

    def to_line(self, message: FailedMessage) -> dict[str, Any]:
        """Return the record of a message."""
        return line_of(message)

    def from_line(self, line: Mapping[str, Any], body: bytes | None) -> FailedMessage:
        """Return the message of a record with this body."""
        return message_of(line, body)

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

    def arrivals(self) -> Iterator[FailedMessage]:
        """Receive what has come since the look."""
        while received := self._received():
            yield from map(failed_message, filter(self._hold, received))

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
        self._journal.end_run(self._run)
        return GivenBack(visible)

    def _hide(self, rows: Sequence[tuple[str, str, int]]) -> dict[str, str]:
        """Hide messages for so many seconds from now. Return the ids for which it failed, each with the reason."""
        entries = [{"ReceiptHandle": handle, "VisibilityTimeout": wait} for _, handle, wait in rows]
        return failed_entries(self._client, CHANGE_VISIBILITY, self._url, entries, [name for name, _, _ in rows])

    def _receive(self) -> list[FailedMessage]:
        """Return the messages of a receive that were not seen before."""
        new = [failed_message(each) for each in self._received() if self._hold(each)]
        if new:
            self._journal.hide(self._run, self._clock.now() + timedelta(seconds=self._seconds))
        self._seen += len(new)
        return new

    def _hold(self, record: Record) -> bool:
        """Hold a message that was just received. Return False for one that was seen before: SQS delivers some twice."""
        now = self._clock.now().timestamp()
        group = record["attributes"].get("MessageGroupId") if self.ordered else None
        return self._held.add(
            record["messageId"], record["receiptHandle"], until=now + self._seconds, now=now, group=group
        )

    def _received(self) -> list[Record]:
        with call_error(self._url):
            answer = self._client.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=MAX_ENTRIES,
                WaitTimeSeconds=self._poll,
                VisibilityTimeout=self._seconds,
                MessageSystemAttributeNames=["All"],
                MessageAttributeNames=["All"],
            )
        return [record_of(each) for each in answer.get("Messages", [])]

    def _check_receives(self, receives: int) -> None:
        """Refuse if a look more or two would dead-letter a message that was received so often.

        Raises:
            OperateError: they would.
        """
        most = self._attributes.max_receives
        if most is not None and receives > most - RECEIVES_LEFT:
            raise OperateError(
                f"{self.address} dead-letters a message after {most} receives, so looking at one that was received "
                f"{receives} times might move it away; raise maxReceiveCount of its redrive policy, or remove the policy"
            )

    def _hidden_by_others(self) -> str | None:
        """Return how many messages another reader hides from this look, and until when; None when there are none."""
        if (count := self._in_flight_elsewhere()) < 1:
            return None
        self._clock.sleep(COUNTS_SETTLE)
        self.keep()
        if (count := min(count, self._in_flight_elsewhere())) < 1:
            return None
        if runs := self._journal.hiding(self.address, self._clock.now(), but=self._run):
            began, until = runs[0][0], max(end for _, end in runs)
            by = f"an earlier run on this machine, which began at {began:%H:%M:%S} UTC; they come back by {until:%H:%M:%S} UTC"
        else:
            by = "another reader; SQS hides a message for 12 hours at most"
        return f"{count} messages are hidden by {by}"

    def _in_flight_elsewhere(self) -> int:
        return read_attributes(self._client, self._url).in_flight - len(self._held)

    def _reason_to_end(self) -> str | None:
        if len(self._held) >= MOST_IN_FLIGHT:
            return f"{MOST_IN_FLIGHT:,} messages are held, and SQS takes about 120,000 in flight; run it again"
        return "SQS hides no message for more than 12 hours; run it again" if self._too_long() else None

    def _too_long(self) -> bool:
        return (self._clock.now() - self._began).total_seconds() > LONGEST_SWEEP
