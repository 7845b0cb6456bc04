"""Probe a paused queue: send one message at a time through the same endpoint, and repair what was left half done."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypedDict

from recoverable._observe.log import log_safely
from recoverable._rate_limit.state import Open
from recoverable._sqs.clients import client as process_client
from recoverable._sqs.clients import given_client
from recoverable._sqs.queues import queue_from_arn

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_sqs import SQSClient

    from recoverable.circuits._pause import PauseTrigger, Trigger

log = logging.getLogger("recoverable.rate_limit")

TIMEOUT = 6.0
"""Seconds for one call to the queue; a receive waits for one of them."""


class SqsProbeQueue:
    """The queue of a paused trigger.

    Args:
        queue_arn: the queue's ARN.
        client: a boto3 SQS client, instead of one of our own.

    Raises:
        ValueError: it is no ARN of an SQS queue.
    """

    def __init__(self, queue_arn: str, *, client: SQSClient | None = None) -> None:
        self._queue, self._client = queue_from_arn(queue_arn), given_client(client)

    def receive(self) -> Any | None:
        """Return one message as SQS gives it, with all its attributes; None when there is none now. It waits a second, for without that SQS asks only some of its servers."""
        sqs, url = self._client_and_url()
        answer = sqs.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=1,
            WaitTimeSeconds=1,
            AttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        return next(iter(answer.get("Messages", ())), None)

    def delete(self, message: Any) -> None:
        """Delete a message that was handled."""
        sqs, url = self._client_and_url()
        sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

    def _client_and_url(self) -> tuple[SQSClient, str]:
        sqs: SQSClient = self._client or process_client("sqs", self._queue.region, TIMEOUT)
        return sqs, self._queue.url_at(sqs.meta.endpoint_url)


class Report(TypedDict):
    """The result of one run of the probe.

    Args:
        trigger: the trigger's state now.
        probed: the number of messages that were attempted, 0 or 1.
        handled: the number of them that were handled, which ended the pause.
        enabled: True if this probe let the trigger run again.
    """

    trigger: Trigger
    probed: int
    handled: int
    enabled: bool


class Probe:
    """A Lambda handler for a fixed schedule, such as each minute.

    Args:
        endpoint: the function's own `SqsEndpoint`, with the same rate limit.
        pause: the pause of its trigger.
        queue: the queue of that trigger.
    """

    def __init__(self, endpoint: Callable[[Any, Any], Any], pause: PauseTrigger, queue: SqsProbeQueue) -> None:
        self._endpoint, self._pause, self._queue = endpoint, pause, queue

    def __call__(self, _event: object, context: Any) -> Report:
        """Repair the trigger. While it is paused, have one message attempted, and repair again, because that may have ended the pause.

        Args:
            _event: the schedule's event; not used.
            context: Lambda's context.

        Raises:
            Exception: AWS gives no answer now, or the endpoint raised: the invocation fails, and the next one tries
                again.
        """
        trigger = self._pause.repair()
        if trigger != "paused":
            return {"trigger": trigger, "probed": 0, "handled": 0, "enabled": trigger == "resumed"}
        if (message := self._queue.receive()) is None:
            log_safely(log.info, "There is no message to probe with: the trigger stays paused.")
            return {"trigger": trigger, "probed": 0, "handled": 0, "enabled": False}
        handled = self._attempt(message, context)
        trigger = self._pause.repair()
        enabled = trigger in {"running", "resumed", "changing"}
        text = "Probed with message '%s': it was %s, and the trigger %s."
        outcome = "handled" if handled else "not handled", "runs again" if enabled else "stays paused"
        log_safely(log.info, text, message["MessageId"], *outcome)
        return {"trigger": trigger, "probed": 1, "handled": int(handled), "enabled": enabled}

    def _attempt(self, message: Any, context: Any) -> bool:
        """Do what the mapping does with a batch of one. The endpoint must know that the rate is limited, to end that. True if it ended."""
        breaker = getattr(self._endpoint, "breaker", None)
        if breaker is None:
            raise TypeError(f"the endpoint is {self._endpoint!r}; write one with a RateLimit")
        breaker.refresh(self._pause.clock())
        was_limited, message_id = isinstance(breaker.snapshot.circuit, Open), message["MessageId"]
        log_safely(log.info, "Probing with message '%s'.", message_id)
        answer = self._endpoint({"Records": [lambda_record(message, self._pause.store.queue_arn)]}, context)
        if message_id not in {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}:
            self._queue.delete(message)
        return was_limited and not isinstance(breaker.snapshot.circuit, Open)


def lambda_record(message: Any, queue_arn: str) -> dict[str, Any]:
    """Return a received message as the record of an event (Lambda, "Using Lambda with Amazon SQS")."""
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message.get("Attributes", {}),
        "messageAttributes": {
            name: attribute_of(value) for name, value in message.get("MessageAttributes", {}).items()
        },
        "md5OfBody": message.get("MD5OfBody", ""),
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": queue_from_arn(queue_arn).region,
    }


def attribute_of(value: Any) -> dict[str, Any]:
    """Return a message attribute as a record has it, with bytes as base64."""
    kept: dict[str, Any] = {"dataType": value["DataType"], "stringListValues": [], "binaryListValues": []}
    if "BinaryValue" not in value:
        return {**kept, "stringValue": value.get("StringValue", "")}
    from base64 import b64encode  # few messages have bytes

    return {**kept, "binaryValue": b64encode(value["BinaryValue"]).decode("ascii")}
