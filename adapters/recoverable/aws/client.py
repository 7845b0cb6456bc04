"""Call SQS: send, delete and change visibility in batches, and log what failed.

No other module of the endpoint calls it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from recoverable import calls
from recoverable.aws.copies import MAX_ENTRIES, Copy, Entry, without_faults
from recoverable.aws.queues import Queue
from recoverable.observe.log import log_safely
from recoverable.recovery.delivery import Delivery

if TYPE_CHECKING:
    from boto3.session import Session
    from mypy_boto3_sqs import SQSClient

    from recoverable.aws.time_budget import TimeBudget
    from recoverable.environment import Environment

log = logging.getLogger("recoverable.settlement")

Item = tuple[Delivery, Entry]
Call = Callable[["SQSClient", str, Any], Any]


@cache
def session() -> Session:
    """Return the session of the process's clients: one of its own, which `boto3.setup_default_session` in a handler does not change."""
    import boto3

    return boto3.session.Session()


@cache
def sqs_client(region: str, timeout: float) -> SQSClient:
    """Return the process's client for a region, made at the first failure.

    It tries each call once: a resend after a lost answer would make a second copy, and an unsettled message is
    redelivered anyway.

    Args:
        region: such as "eu-central-1".
        timeout: seconds for connecting to one address and for one read; the call as a whole is bounded where it is made.
    """
    from botocore.config import Config

    config = Config(
        connect_timeout=timeout / 2, read_timeout=timeout / 2, retries={"total_max_attempts": 1, "mode": "standard"}
    )
    client: SQSClient = session().client("sqs", region_name=region, config=config)
    return client


class BatchOperation(NamedTuple):
    """A batch operation of SQS.

    `consequence` says, for the log, what happens to messages for which it failed, and what to do.
    """

    name: str
    call: Call
    consequence: str


SEND = BatchOperation(
    "SendMessageBatch",
    lambda client, url, entries: client.send_message_batch(QueueUrl=url, Entries=entries),
    "They stay on the queue and will be redelivered after their visibility timeout. "
    "Check Failed(error_queue) and the permission sqs:SendMessage.",
)
DELETE = BatchOperation(
    "DeleteMessageBatch",
    lambda client, url, entries: client.delete_message_batch(QueueUrl=url, Entries=entries),
    "They are not reported as failed: the event source mapping deletes them, or they are redelivered if the invocation "
    "fails. Check the permission sqs:DeleteMessage.",
)
CHANGE_VISIBILITY = BatchOperation(
    "ChangeMessageVisibilityBatch",
    lambda client, url, entries: client.change_message_visibility_batch(QueueUrl=url, Entries=entries),
    "It is repeated once.",
)
REPEAT_CHANGE = CHANGE_VISIBILITY._replace(
    consequence="They will be redelivered after their visibility timeout, not after the delay that was decided. "
    "Check the permission sqs:ChangeMessageVisibility."
)


class CallResult(NamedTuple):
    """The result of a call.

    Args:
        confirmed: the deliveries for which SQS confirmed it.
        refused: True if SQS refused the whole call.
        too_large: the numbers of the entries that are too large for the queue.
    """

    confirmed: list[Delivery]
    refused: bool = False
    too_large: Sequence[int] = ()


class Broker:
    """A queue's broker, SQS, with the calls that settling needs.

    Args:
        queue: the queue that the messages came from.
        environment: has the user's client; None for the process's own.
        time: the invocation's.
    """

    def __init__(self, queue: Queue, environment: Environment, time: TimeBudget) -> None:
        self.queue, self.time = queue, time
        self._client: SQSClient | None = environment.client
        self._call_within = environment.call_within or calls.call_within

    def send(self, batch: list[Copy]) -> list[Delivery]:
        """Send a batch of copies to their queue, and return the deliveries whose copy is confirmed.

        A refused batch is resent one by one, for one bad entry must not hold back nine good ones; a lost answer is no
        refusal. A queue may take smaller messages than SQS's limit (`MaximumMessageSize`): a copy that is too large is
        resent without the fault headers that may be trimmed.
        """
        result = self._send_batch(batch)
        if result.refused and len(batch) > 1:
            return [delivery for copy in batch for delivery in self.send([copy])]
        smaller = [copy for n in result.too_large if (copy := without_faults(batch[n]))]
        return result.confirmed + (self._send_batch(smaller).confirmed if smaller else [])

    def delete(self, deliveries: list[Delivery]) -> None:
        """Delete the messages."""
        self._call_in_batches(DELETE, [(delivery, receipt(delivery)) for delivery in deliveries])

    def change_visibility(self, deliveries: list[tuple[Delivery, int]]) -> None:
        """Have each message redelivered after its number of seconds.

        What is not confirmed is repeated once: nothing else remembers the delay of a message that is only redelivered.
        """
        items = [(delivery, {**receipt(delivery), "VisibilityTimeout": after}) for delivery, after in deliveries]
        changed = set(self._call_in_batches(CHANGE_VISIBILITY, items))
        self._call_in_batches(REPEAT_CHANGE, [item for item in items if item[0] not in changed])

    def _send_batch(self, batch: list[Copy]) -> CallResult:
        return self._call(SEND, batch[0].to, [(copy.delivery, copy.entry) for copy in batch])

    def _call_in_batches(self, operation: BatchOperation, items: list[Item]) -> list[Delivery]:
        """Make the calls, and return the deliveries for which they are confirmed."""
        batches = [items[start : start + MAX_ENTRIES] for start in range(0, len(items), MAX_ENTRIES)]
        return [delivery for batch in batches for delivery in self._call(operation, self.queue, batch).confirmed]

    def _call(self, operation: BatchOperation, queue: Queue, items: list[Item]) -> CallResult:
        """Make one call, log what failed, and return its result."""
        if not self.time.for_call():
            log_failed_call(operation, queue, items, "no time is left for the call")
            return CallResult([])
        entries = [{"Id": str(n), **entry} for n, (_, entry) in enumerate(items)]
        try:
            client = self._client_for(queue.region)
            url = queue.url_at(client.meta.endpoint_url)
            response = self._call_within(self.time.call_timeout, lambda: operation.call(client, url, entries))
        except Exception as error:  # noqa: BLE001  # logged, and the result confirms nothing
            log_failed_call(operation, queue, items, describe_error(error))
            refused = is_answer(error)
            return CallResult([], refused=refused, too_large=[0] if refused and is_for_size(str(error)) else [])
        finally:
            self.time.note_call()
        return split_response(operation, queue, items, response)

    def _client_for(self, region: str) -> SQSClient:
        """Return the client; making one may take all the time but that of a call, for reading boto3 is slow on a small function."""
        if self._client is not None:
            return self._client
        seconds, timeout = self.time.before_call(), self.time.call_timeout
        client: SQSClient = self._call_within(seconds, lambda: sqs_client(region, timeout))
        return client


def split_response(operation: BatchOperation, queue: Queue, items: list[Item], response: Any) -> CallResult:
    """Split a batch response into confirmed deliveries and logged failures."""
    reasons = {f.get("Id"): f"{f.get('Code')} {f.get('Message', '')}" for f in response.get("Failed", ())}
    confirmed = {done["Id"] for done in response.get("Successful", ())}
    if missed := [item for n, item in enumerate(items) if str(n) not in confirmed]:
        reason = "; ".join(sorted(set(reasons.values()))) or "its answer does not name them"
        log_failed_call(operation, queue, missed, reason)
    return CallResult(
        [delivery for n, (delivery, _) in enumerate(items) if str(n) in confirmed],
        too_large=[n for n in range(len(items)) if is_for_size(reasons.get(str(n), ""))],
    )


def receipt(delivery: Delivery) -> Entry:
    """Return the fields of an entry by which SQS knows this delivery."""
    return {"ReceiptHandle": delivery.native["receiptHandle"]}


def log_failed_call(operation: BatchOperation, queue: Queue, items: list[Item], reason: str) -> None:
    """Log that a call failed for some messages, what happens to them, and what to do."""
    messages = [delivery.message for delivery, _ in items]
    source = messages[0].queue
    name = operation.name if queue.name == source else f"{operation.name} to '{queue.name}'"
    text = "SQS %s failed for %d messages from '%s' (%s). %s"
    extra = {"message_ids": [message.id for message in messages], "queue": queue.name}
    log_safely(log.warning, text, name, len(messages), source, reason, operation.consequence, extra=extra)


def describe_error(error: Exception) -> str:
    """Return a text about an error for the log.

    It is the text of AWS's answer. Of any other error it is the type alone, for its text may quote what was to be sent.
    """
    if isinstance(error, TimeoutError):
        return "no answer in the time that is kept for it; SQS may still do it"
    if isinstance(error, ModuleNotFoundError):
        return f"{error}; Lambda's runtimes bring boto3, elsewhere: pip install 'recoverable[aws]'"
    return str(error) if is_answer(error) else type(error).__name__


def is_for_size(reason: str) -> bool:
    """True if a message was refused because it is too large for its queue; SQS has no code of its own for that."""
    return "must be shorter than" in reason


def is_answer(error: Exception) -> bool:
    """True if AWS answered with the error; a connection error of botocore has a `response` too, but no dict."""
    return isinstance(getattr(error, "response", None), dict)
