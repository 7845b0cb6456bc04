"""The only talk with SQS: three verbs over a boto3 client, each telling what the broker did not do."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from .copies import Copy, batches
from .queues import Queue

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

log = logging.getLogger("recoverable.settlement")

T = TypeVar("T")
Record = dict[str, Any]
Entry = dict[str, Any]

MAX_ENTRIES = 10
"""Entries a batch can have (DeleteMessageBatch, ChangeMessageVisibilityBatch)."""


@cache
def sqs_client(region: str, patience: float) -> SQSClient:
    """The process's client for a region, made at the first failure.

    It tries each call once: a resend after a lost answer would make a second copy, and what is not settled comes back anyway.

    Args:
        region: such as "eu-central-1".
        patience: seconds for one call; must end before the reserve kept for settling does.
    """
    import boto3
    from botocore.config import Config

    config = Config(
        connect_timeout=patience / 2,
        read_timeout=patience / 2,
        retries={"total_max_attempts": 1, "mode": "standard"},
    )
    client: SQSClient = boto3.client("sqs", region_name=region, config=config)
    return client


class Broker:
    """SQS, as far as settling needs it.

    Args:
        queue: the queue that the records came from.
        client_for: gives the client for a region.
        has_time: whether another call can still be made.
    """

    def __init__(
        self, queue: Queue, client_for: Callable[[str], SQSClient], has_time: Callable[[], bool]
    ) -> None:
        self.queue, self._client_for, self._has_time = queue, client_for, has_time

    def send(self, copies: list[Copy]) -> list[Copy]:
        """Send the copies, as few calls as can be; those that the broker did not confirm come back."""
        return [copy for batch in batches(copies) for copy in self._sent_or_singly(batch)]

    def delete(self, records: list[Record]) -> list[Record]:
        """Delete the messages; those that the broker did not confirm come back."""
        client, url = self._own()
        return self._in_batches(
            records,
            lambda entries: client.delete_message_batch(QueueUrl=url, Entries=entries),  # type: ignore[arg-type]
            lambda record: {"ReceiptHandle": record["receiptHandle"]},
        )

    def show_again(self, records: list[tuple[Record, int]]) -> list[tuple[Record, int]]:
        """Have the messages delivered again after so many seconds; those that the broker did not confirm come back."""
        client, url = self._own()
        return self._in_batches(
            records,
            lambda entries: client.change_message_visibility_batch(QueueUrl=url, Entries=entries),  # type: ignore[arg-type]
            lambda pair: {"ReceiptHandle": pair[0]["receiptHandle"], "VisibilityTimeout": pair[1]},
        )

    def _own(self) -> tuple[SQSClient, str]:
        client = self._client_for(self.queue.region)
        return client, self.queue.url_at(client.meta.endpoint_url)

    def _sent_or_singly(self, batch: list[Copy]) -> list[Copy]:
        """A refused batch is resent one by one: one bad entry must not hold back nine good ones. A lost answer is no refusal."""
        unsent, refused = self._send(batch)
        if not refused or len(batch) == 1:
            return unsent
        return [copy for copy in batch for copy in self._send([copy])[0]]

    def _send(self, batch: list[Copy]) -> tuple[list[Copy], bool]:
        to = batch[0].to
        client = self._client_for(to.region)
        url = to.url_at(client.meta.endpoint_url)
        return self._called(
            batch,
            lambda entries: client.send_message_batch(QueueUrl=url, Entries=entries),  # type: ignore[arg-type]
            lambda copy: copy.entry,
        )

    def _in_batches(
        self, items: list[T], call: Callable[[list[Entry]], Any], entry: Callable[[T], Entry]
    ) -> list[T]:
        rows = [items[start : start + MAX_ENTRIES] for start in range(0, len(items), MAX_ENTRIES)]
        return [item for row in rows for item in self._called(row, call, entry)[0]]

    def _called(
        self, items: Sequence[T], call: Callable[[list[Entry]], Any], entry: Callable[[T], Entry]
    ) -> tuple[list[T], bool]:
        """Make one call; what it did not do, and whether the broker refused it whole."""
        if not self._has_time():
            log.warning(
                "No time is left for a call to SQS about %d messages of '%s'. They come back.",
                len(items),
                self.queue.name,
            )
            return list(items), False
        try:
            answer = call([{"Id": str(number), **entry(item)} for number, item in enumerate(items)])
        except Exception as error:  # noqa: BLE001  # whatever it is, the messages come back: the caller is told which
            log.warning(
                "A call to SQS about %d messages of '%s' failed: %s", len(items), self.queue.name, told(error)
            )
            return list(items), hasattr(error, "response")
        failed = {failure["Id"]: failure for failure in answer.get("Failed", ())}
        for failure in failed.values():
            log.warning(
                "SQS refused one message of '%s': %s",
                self.queue.name,
                f"{failure.get('Code')} {failure.get('Message', '')}",
            )
        return [item for number, item in enumerate(items) if str(number) in failed], False


def told(error: Exception) -> str:
    """What a log may say: the broker's own answer, but of other errors only the type, for some quote what was to be sent."""
    return str(error) if hasattr(error, "response") else type(error).__name__
