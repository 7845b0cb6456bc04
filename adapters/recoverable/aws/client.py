"""The only talk with SQS: three verbs over a boto3 client, each telling what the broker did not do."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from recoverable.aws.copies import MAX_ENTRIES, Copy, Entry, without_faults
from recoverable.aws.queues import Queue
from recoverable.observe.log import log_safely
from recoverable.recovery.delivery import Delivery

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

    from recoverable.aws.time_budget import TimeBudget

log = logging.getLogger("recoverable.settlement")

Item = tuple[Delivery, Entry]
Call = Callable[["SQSClient", str, Any], Any]


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
        connect_timeout=patience / 2, read_timeout=patience / 2, retries={"total_max_attempts": 1, "mode": "standard"}
    )
    client: SQSClient = boto3.client("sqs", region_name=region, config=config)
    return client


class Verb(NamedTuple):
    """A batch operation of SQS, and what becomes of a message for which it failed."""

    call: Call
    otherwise: str


SEND = Verb(
    lambda client, url, entries: client.send_message_batch(QueueUrl=url, Entries=entries),
    "they were not forwarded, and come back after their visibility timeout",
)
DELETE = Verb(
    lambda client, url, entries: client.delete_message_batch(QueueUrl=url, Entries=entries),
    "they were not deleted here; they are not reported either, so the event source mapping deletes them, or they come back if the invocation fails",
)
CHANGE_VISIBILITY = Verb(
    lambda client, url, entries: client.change_message_visibility_batch(QueueUrl=url, Entries=entries),
    "they come back not when wanted, but after their visibility timeout",
)


class Answer(NamedTuple):
    """What came of a call: the deliveries for which it is confirmed, whether it was refused whole, and whose entries were too large."""

    done: list[Delivery]
    refused: bool = False
    too_large: Sequence[int] = ()


class Broker:
    """SQS, as far as settling needs it.

    Args:
        queue: the queue that the messages came from.
        client: the user's; None for the process's own.
        time: the invocation's.
    """

    def __init__(self, queue: Queue, client: SQSClient | None, time: TimeBudget) -> None:
        self.queue, self._client, self.time = queue, client, time

    def send(self, batch: list[Copy]) -> list[Delivery]:
        """Send a batch of copies to their queue; the deliveries whose copy is confirmed come back.

        A refused batch is resent one by one, for one bad entry must not hold back nine good ones; a lost answer is no refusal.
        A queue may take less than we reckon with (`MaximumMessageSize`): what is too large for it is resent without the details.
        """
        answer = self._sent(batch)
        if answer.refused and len(batch) > 1:
            return [delivery for copy in batch for delivery in self.send([copy])]
        smaller = [copy for n in answer.too_large if (copy := without_faults(batch[n]))]
        return answer.done + (self._sent(smaller).done if smaller else [])

    def delete(self, deliveries: list[Delivery]) -> None:
        """Delete the messages."""
        self._in_batches(DELETE, [(delivery, receipt(delivery)) for delivery in deliveries])

    def change_visibility(self, deliveries: list[tuple[Delivery, int]]) -> None:
        """Have the messages delivered again after so many seconds."""
        self._in_batches(
            CHANGE_VISIBILITY,
            [(delivery, {**receipt(delivery), "VisibilityTimeout": after}) for delivery, after in deliveries],
        )

    def _sent(self, batch: list[Copy]) -> Answer:
        return self._called(SEND, batch[0].to, [(copy.delivery, copy.entry) for copy in batch])

    def _in_batches(self, verb: Verb, items: list[Item]) -> None:
        for start in range(0, len(items), MAX_ENTRIES):
            self._called(verb, self.queue, items[start : start + MAX_ENTRIES])

    def _called(self, verb: Verb, queue: Queue, items: list[Item]) -> Answer:
        """Make one call, and tell what it did not do."""
        if not self.time.for_call():
            log_failed_call(verb, queue, items, "no time is left for the call")
            return Answer([])
        try:
            client = self._client or sqs_client(queue.region, self.time.call_timeout)
            url = queue.url_at(client.meta.endpoint_url)
            entries = [{"Id": str(n), **entry} for n, (_, entry) in enumerate(items)]
            answer = self.time.measure(lambda: verb.call(client, url, entries))
        except Exception as error:  # noqa: BLE001  # whatever it is, it is told, and the caller knows what was not done
            log_failed_call(verb, queue, items, describe_error(error))
            heard = is_answer(error)
            return Answer([], refused=heard, too_large=[0] if heard and is_for_size(str(error)) else [])
        return answered(verb, queue, items, answer)


def answered(verb: Verb, queue: Queue, items: list[Item], answer: Any) -> Answer:
    """What an answer confirms; of the rest it is told why."""
    whys = {f.get("Id"): f"{f.get('Code')} {f.get('Message', '')}" for f in answer.get("Failed", ())}
    confirmed = {done["Id"] for done in answer.get("Successful", ())}
    if missed := [item for n, item in enumerate(items) if str(n) not in confirmed]:
        why = "; ".join(sorted(set(whys.values()))) or "its answer does not name them"
        log_failed_call(verb, queue, missed, why)
    return Answer(
        [delivery for n, (delivery, _) in enumerate(items) if str(n) in confirmed],
        too_large=[n for n in range(len(items)) if is_for_size(whys.get(str(n), ""))],
    )


def receipt(delivery: Delivery) -> Entry:
    """What names this delivery to SQS."""
    return {"ReceiptHandle": delivery.message.native["receiptHandle"]}


def log_failed_call(verb: Verb, queue: Queue, items: list[Item], why: str) -> None:
    """Log what did not happen, and what becomes of the messages."""
    ids = [delivery.message.id for delivery, _ in items]
    text = "SQS could not be told about %d messages ('%s'): %s. As a result, %s."
    extra = {"message_ids": ids, "queue": queue.name}
    log_safely(log.warning, text, len(ids), queue.name, why, verb.otherwise, extra=extra)


def describe_error(error: Exception) -> str:
    """What a log may say: the broker's own answer, but of other errors only the type, for some quote what was to be sent."""
    if isinstance(error, ModuleNotFoundError):
        return f"{error}; Lambda's runtimes bring boto3, elsewhere: pip install 'recoverable[aws]'"
    return str(error) if is_answer(error) else type(error).__name__


def is_for_size(why: str) -> bool:
    """Whether a message was refused because its queue takes no such large ones; SQS has no code of its own for that."""
    return "must be shorter than" in why


def is_answer(error: Exception) -> bool:
    """Whether the broker itself said so; botocore's errors of a connection have a `response` too, which holds nothing."""
    return isinstance(getattr(error, "response", None), dict)
