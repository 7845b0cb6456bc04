"""Read an SQS error queue, hide what was read, and send, delete or give back."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from recoverable.aws.copies import MAX_SIZE, size
from recoverable.aws.queues import queue_from_arn
from recoverable.operate.aws import visibility
from recoverable.operate.aws.answers import call_error, failed_entries, numbered
from recoverable.operate.aws.messages import Unsendable, arn_of, checked_record, entry_for, failed_message, record_of
from recoverable.operate.failed import FailedMessage
from recoverable.operate.holding import Held, Holding
from recoverable.operate.port import Clock, Copy, GivenBack, OperateError, SendResult, Stop
from recoverable.timeouts.client import Sender

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

EMPTY_POLLS = 3
"""Empty long polls after which a look has seen all: a receive asks some of SQS's servers, a long poll all of them."""

BATCH = 10

RECENT = 200
"""Messages that are remembered as they were read; the others are on disk alone."""


class SqsErrorQueue:
    """An SQS error queue.

    Args:
        client: reads it.
        url: its URL.
        sender_for: returns a client that tries each send once, for a region.
        clock: tells the time.
        stop: ends a look.
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
        rate: float = 0,
        poll: int = 2,
    ) -> None:
        self._client, self._url, self._clock, self._stop, self._poll = client, url, clock, stop, poll
        self._attributes = self._read_attributes()
        self._source = queue_from_arn(self._attributes.arn)
        self._hidden = visibility.hidden_for(self._attributes.depth, rate)
        self._sender_for, self._senders = sender_for, dict[str, Sender]()
        self._held, self._began, self._seen, self._lost = Holding(), self._seconds(), 0, 0
        self._ended: str | None = None
        self._recent: dict[str, FailedMessage] = {}

    @property
    def address(self) -> str:
        """Return the queue's ARN."""
        return self._attributes.arn

    @property
    def ordered(self) -> bool:
        """True if it is a FIFO queue."""
        return self._attributes.fifo

    @property
    def sends_along(self) -> bool:
        """True for a standard queue: of a FIFO queue, a group is looked at before any of it is sent."""
        return not self.ordered

    @property
    def depth(self) -> int:
        """Return about how many messages it holds."""
        return self._attributes.depth

    def canonical(self, queue: str) -> str:
        """Return the ARN of a queue."""
        return arn_of(queue, self.address)

    def sources(self) -> list[str]:
        """Return the ARNs of the queues whose dead-letter target this one is (ListDeadLetterSourceQueues)."""
        with call_error(self._url):
            urls: list[str] = []
            more: dict[str, Any] = {}
            while True:
                answer: Any = self._client.list_dead_letter_source_queues(QueueUrl=self._url, **more)
                urls += answer.get("queueUrls", [])
                if not (token := answer.get("NextToken")):
                    return sorted(map(self.canonical, urls))
                more = {"NextToken": token, "MaxResults": 1000}

    def notes(self) -> list[str]:
        """Return what looking does to the queue."""
        return visibility.notes(self._attributes, self._hidden)

    def look(self) -> Generator[FailedMessage, None, None]:
        """Receive each message once, and hide it; end after three polls without a new one."""
        empty, self._ended = 0, None
        most = self._attributes.max_receives
        if most is not None and most <= visibility.RECEIVES_LEFT:
            raise OperateError(
                f"{self.address} dead-letters a message after {most} receives, so looking would move it away"
            )
        while empty < EMPTY_POLLS and not self._stop.requested:
            self._ended = self._reason_to_end()
            if self._ended:
                return
            new = [record for record in self._receive(self._poll) if self._hold(record)]
            empty = 0 if new else empty + 1
            self.keep()
            for record in new:
                message = self._recent[record["messageId"]] = self._checked(failed_message(record))
                yield message
            while len(self._recent) > RECENT:
                del self._recent[next(iter(self._recent))]
            if new and self.ordered and self._seen > len(self._held):
                return  # what is gone since the first look let more of its groups appear: they are sent before others

    def ending(self) -> str | None:
        """Return why the look ended early."""
        return self._ended

    def unseen(self) -> int:
        """Return how many messages the queue may hold that the look has not seen."""
        return max(self._attributes.depth - self._seen, 0)

    def choose(self, message: FailedMessage, to: str) -> None:
        """Note where a message is to be sent."""
        self._held.choose(message.broker_id, to)

    def take(self) -> Iterator[tuple[str, list[FailedMessage]]]:
        """Yield the chosen messages, which are hidden from others; of a FIFO group one at a time."""
        find = self._held.chosen_of_groups if self.ordered else self._held.chosen
        while held := find(BATCH):
            if self._seconds() - self._began > visibility.LONGEST_SWEEP:
                self._ended = "SQS hides no message for more than 12 hours"
                return
            yield str(held[0].target), [self._looked_at(each) for each in held]
            self._held.pass_over([each.id for each in held])

    def missed(self) -> str | None:
        """Return what was chosen and not taken."""
        if not (count := self._held.chosen_count()):
            return None
        why = self._ended or "an earlier message of their group stays"
        return f"{count} messages were not reached: {why}"

    def send(self, to: str, copies: Sequence[Copy], delay: timedelta) -> SendResult:
        """Send the copies, in as many calls as their size needs."""
        result, batch, total = SendResult(), list[tuple[str, dict[str, Any]]](), 0
        target = queue_from_arn(to)
        for copy in copies:
            try:
                entry = entry_for(copy, source=self._source, to=target, delay=delay)
            except Unsendable as error:
                result.refused[copy.message.broker_id] = str(error)
                continue
            if batch and total + size(entry) > MAX_SIZE:
                self._send_batch(to, batch, result)
                batch, total = [], 0
            batch.append((copy.message.broker_id, entry))
            total += size(entry)
        if batch:
            self._send_batch(to, batch, result)
        return result

    def delete(self, messages: Sequence[FailedMessage]) -> dict[str, str]:
        """Delete messages by their newest handles."""
        ids = [each.broker_id for each in messages]
        newest = self._held.newest_handles(ids)
        handles = [{"ReceiptHandle": newest.get(each, "")} for each in ids]
        failed = failed_entries(
            lambda: self._client.delete_message_batch(QueueUrl=self._url, Entries=numbered(handles)), ids, self._url
        )
        self._held.forget([each for each in ids if each not in failed])
        return failed

    def to_line(self, message: FailedMessage) -> dict[str, Any]:
        """Return the record as Lambda writes it, without what only this receive had."""
        return {name: value for name, value in message.native.items() if name != "receiptHandle"}

    def from_line(self, line: Mapping[str, Any]) -> FailedMessage:
        """Return the message of a record."""
        return failed_message(checked_record(line))

    def keep(self) -> None:
        """Hide for longer what would soon be visible; what is no longer ours is held no longer."""
        now = self._seconds()
        while ending := self._held.ending(now + self._hidden / 4, BATCH):
            ids = [each[0] for each in ending]
            seconds = [int(min(self._hidden, 12 * 3600 - 60 - (now - first))) for _, _, first in ending]
            entries = [
                {"ReceiptHandle": handle, "VisibilityTimeout": max(wait, 0)}
                for (_, handle, _), wait in zip(ending, seconds, strict=True)
            ]
            failed = self._hide(entries, ids)
            self._held.forget(list(failed))
            self._lost += len(failed)
            self._held.extend([each for each in ids if each not in failed], now + min(seconds))
            if min(seconds) < self._hidden / 4:
                return

    def arrivals(self) -> Iterator[FailedMessage]:
        """Receive what has come since the look."""
        while received := self._receive(self._poll):
            for record in received:
                if self._hold(record):
                    yield failed_message(record)

    def give_back(self) -> GivenBack:
        """Make visible what is held."""
        visible = 0
        until = datetime.fromtimestamp(self._held.last_end(), UTC)
        for rows in self._held.handles():
            ids = [each[0] for each in rows]
            entries = [{"ReceiptHandle": handle, "VisibilityTimeout": 0} for _, handle in rows]
            try:
                failed = self._hide(entries, ids)
            except OperateError as error:
                return GivenBack(visible, len(self._held), until, str(error))
            visible += len(ids) - len(failed)
            self._held.forget(ids)
        return GivenBack(visible)

    def _hide(self, entries: list[dict[str, Any]], ids: list[str]) -> dict[str, str]:
        return failed_entries(
            lambda: self._client.change_message_visibility_batch(QueueUrl=self._url, Entries=numbered(entries)),
            ids,
            self._url,
        )

    def _send_batch(self, to: str, batch: list[tuple[str, dict[str, Any]]], result: SendResult) -> None:
        region = queue_from_arn(to).region
        if region not in self._senders:
            self._senders[region] = Sender(self._sender_for(region))
        outcome = self._senders[region].send(to, [entry for _, entry in batch])
        result.sent += [batch[n][0] for n in outcome.sent]
        result.refused |= {batch[n][0]: why for n, why in outcome.refused.items()}
        result.unanswered = result.unanswered or outcome.failed

    def _receive(self, wait: int) -> list[dict[str, Any]]:
        with call_error(self._url):
            answer = self._client.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=BATCH,
                WaitTimeSeconds=wait,
                VisibilityTimeout=self._hidden,
                MessageSystemAttributeNames=["All"],
                MessageAttributeNames=["All"],
            )
        return [record_of(each) for each in answer.get("Messages", [])]

    def _looked_at(self, held: Held) -> FailedMessage:
        """Return a held message: as it was read when it was looked at, if that was just now."""
        return self._recent.pop(held.id, None) or failed_message(json.loads(held.raw))

    def _hold(self, record: dict[str, Any]) -> bool:
        """Hold a message. Return False for one that was seen before: SQS delivers some twice."""
        now = self._seconds()
        held = Held(record["messageId"], record["receiptHandle"], json.dumps(record), None)
        group = record["attributes"].get("MessageGroupId") if self.ordered else None
        new = self._held.add(held, until=now + self._hidden, now=now, group=group)
        self._seen += new
        return new

    def _checked(self, message: FailedMessage) -> FailedMessage:
        """Return the message; end the look when another one would dead-letter it."""
        most = self._attributes.max_receives
        if most is not None and message.receives > most - visibility.RECEIVES_LEFT:
            raise OperateError(
                f"message {message.id} was received {message.receives} times, and {self.address} dead-letters it after {most}; "
                "raise maxReceiveCount of its redrive policy, or remove the policy, before you look again"
            )
        return message

    def _reason_to_end(self) -> str | None:
        if len(self._held) >= visibility.MOST_IN_FLIGHT:
            return (
                f"{visibility.MOST_IN_FLIGHT:,} messages are held, and SQS takes about 120,000 in flight; run it again"
            )
        if self._seconds() - self._began > visibility.LONGEST_SWEEP:
            return "SQS hides no message for more than 12 hours; run it again"
        return None

    def _seconds(self) -> float:
        return self._clock.now().timestamp()

    def _read_attributes(self) -> visibility.Attributes:
        with call_error(self._url):
            answer: Any = self._client.get_queue_attributes(QueueUrl=self._url, AttributeNames=["All"])
        found = answer["Attributes"]
        policy = json.loads(found.get("RedrivePolicy") or "{}")
        numbers = ("", "NotVisible", "Delayed")
        return visibility.Attributes(
            found["QueueArn"],
            sum(int(found.get(f"ApproximateNumberOfMessages{each}", 0)) for each in numbers),
            int(policy["maxReceiveCount"]) if "maxReceiveCount" in policy else None,
            int(found.get("MessageRetentionPeriod", 345_600)),
        )
