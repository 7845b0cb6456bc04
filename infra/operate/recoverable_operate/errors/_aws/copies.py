"""Send copies to SQS queues of any region, in as many calls as their size needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from recoverable._sqs.batches import batches, size
from recoverable._sqs.queues import Queue, queue_from_arn
from recoverable._sqs.sender import Sender, Sent
from recoverable_operate.errors._aws.messages import Unsendable, entry_for
from recoverable_operate.errors._queue import PAUSES, Copy, SendResult

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class Ready(NamedTuple):
    """A copy to a queue as an entry for SendMessageBatch, without its Id, and its original's broker id."""

    original: str
    to: str
    entry: dict[str, Any]

    @property
    def weight(self) -> int:
        """Return the bytes of the entry."""
        return size(self.entry)


class CopySender:
    """A sender of copies.

    Args:
        source: the error queue.
        sender_for: returns a client that tries each send once, for a region; None for the process's own.
        sleep: waits before a busy SQS is asked again; None to ask once.
    """

    def __init__(
        self, source: Queue, sender_for: Callable[[str], SQSClient | None], sleep: Callable[[float], None] | None = None
    ) -> None:
        self._source, self._sender_for, self._sleep = source, sender_for, sleep
        self._senders: dict[str, Sender] = {}

    def send(self, to: str, copies: Sequence[Copy], delay: timedelta | None) -> SendResult:
        """Send up to ten copies to a queue, by its ARN."""
        result, ready = SendResult(), list[Ready]()
        target = queue_from_arn(to)
        for copy in copies:
            try:
                entry = entry_for(copy, source=self._source, to=target, delay=delay)
                ready.append(Ready(copy.message.broker_id, to, entry))
            except Unsendable as error:
                result.refused[copy.message.broker_id] = str(error)
        for batch in batches(ready):
            self._send(to, target.region, batch, result)
        return result

    def _send(self, to: str, region: str, batch: Sequence[Ready], result: SendResult) -> None:
        if region not in self._senders:
            self._senders[region] = Sender(self._sender_for(region))
        outcome = self._try(to, region, batch, result)
        for pause in PAUSES:
            if self._sleep is None or not outcome.busy:
                break
            self._sleep(pause)
            batch = [each for n, each in enumerate(batch) if n not in (*outcome.sent, *outcome.refused)]
            outcome = self._try(to, region, batch, result)
        result.unanswered = result.unanswered or outcome.failed

    def _try(self, to: str, region: str, batch: Sequence[Ready], result: SendResult) -> Sent:
        outcome = self._senders[region].send(to, [each.entry for each in batch])
        result.sent += [batch[n].original for n in outcome.sent]
        result.refused |= {batch[n].original: why for n, why in outcome.refused.items()}
        return outcome
