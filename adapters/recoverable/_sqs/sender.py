"""Send batches to the queues of any region outside an invocation's settling, and say what SQS took, what it refused for good, and what may be sent later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from recoverable._sqs.answers import Failure, call_failure
from recoverable._sqs.batches import SEND, Entry, Result, batch_failures, call_batch, send_singly
from recoverable._sqs.clients import client, default_region, given_client
from recoverable._sqs.names import destination
from recoverable._sqs.queues import Queue

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

CALL_TIMEOUT = 4.0
"""Seconds for one call."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of sending a batch, by the entries' positions.

    Args:
        sent: the entries that SQS took.
        refused: the entries that it will never take, each with the reason.
        failed: the reason why the other entries were not sent; they may be sent later. Empty when there are none.
        busy: True if SQS certainly has none of these others.
    """

    sent: Sequence[int] = ()
    refused: Mapping[int, str] = field(default_factory=dict)
    failed: str = ""
    busy: bool = False


class Sender:
    """A sender to the queues of any region.

    Args:
        client: a client for all queues; None for one client for each region, made when it is first needed.
    """

    def __init__(self, client: SQSClient | None = None) -> None:
        self._client = client
        self._urls: dict[str, str] = {}

    def send(self, to: str, entries: Sequence[Entry]) -> Sent:
        """Send up to ten entries to a queue. A batch that is refused for one of them is sent one by one.

        Args:
            to: the queue's URL, ARN or name.
            entries: without their Id.
        """
        failures = send_singly(self._call(to, entries), lambda some: self._call(to, some), entries)
        for_good = {n: failure.reason for n, failure in failures.items() if failure.is_for_good}
        others = [failure for n, failure in failures.items() if n not in for_good]
        sent = [n for n in range(len(entries)) if n not in failures]
        reasons = "; ".join(sorted({failure.reason for failure in others}))
        return Sent(sent, for_good, reasons, bool(others) and all(each.kind == "busy" for each in others))

    def _call(self, to: str, entries: Sequence[Entry]) -> Result:
        """Make one call; whatever it raises is a failure of each entry."""
        try:
            queue = destination(to, Queue(region="", account="", name=""))
        except ValueError as error:  # an ARN of something else
            failure = Failure("missing", "", str(error))
            return Result(dict.fromkeys(range(len(entries)), failure), as_a_whole=True)
        try:
            client, url = self._client_and_url(to, queue)
            answer = call_batch(client, SEND, url, entries)
        except Exception as error:  # noqa: BLE001  # the failures hold it, and the caller knows what was not sent
            return Result(dict.fromkeys(range(len(entries)), call_failure(error)), as_a_whole=True)
        return Result(batch_failures(answer, len(entries)))

    def _client_and_url(self, to: str, queue: Queue) -> tuple[SQSClient, str]:
        own: SQSClient = self._client or client("sqs", queue.region or default_region(), CALL_TIMEOUT)
        if queue.url or queue.account:
            return own, queue.url_at(own.meta.endpoint_url)
        if to not in self._urls:
            self._urls[to] = own.get_queue_url(QueueName=to)["QueueUrl"]
        return own, self._urls[to]


@lru_cache(maxsize=16)
def shared_sender(client: SQSClient | None) -> Sender:
    """Return the process's sender, which remembers the queues' URLs."""
    return Sender(given_client(client))
