"""Send batches to SQS, and say what it took, what it refused for good, and what may be sent later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from recoverable._sqs.answers import describe_error, is_answer
from recoverable._sqs.clients import sqs_client
from recoverable._sqs.names import destination
from recoverable._sqs.queues import Queue
from recoverable.timeouts._sending import Entry, to_send_request
from recoverable.timeouts._store import Row
from recoverable.timeouts._timeout import Timeout

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

CALL_TIMEOUT = 4.0
"""Seconds for one call."""

TRANSIENT_CODES = {
    "ExpiredToken",
    "ExpiredTokenException",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "KmsThrottled",
    "OverLimit",
    "RequestAbortedException",
    "RequestExpired",
    "RequestThrottled",
    "RequestTimeoutException",
    "SignatureDoesNotMatch",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
    "UnrecognizedClientException",
}
"""Answers that say nothing about the message or its queue (Amazon SQS API reference, common errors)."""

SERVER_ERRORS = 500


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of sending a batch, by the entries' positions.

    Args:
        sent: the entries that SQS took.
        refused: the entries that it will never take, each with the reason.
        failed: the reason why the other entries were not sent; they may be sent later. Empty when there are none.
    """

    sent: Sequence[int] = ()
    refused: Mapping[int, str] = field(default_factory=dict)
    failed: str = ""


class Sender:
    """A sender to the queues of any region.

    Args:
        client: a client for all queues; None for one client for each region, made when it is first needed.
    """

    def __init__(self, client: SQSClient | None = None) -> None:
        self._client = client
        self._urls: dict[str, str] = {}

    def send(self, to: str, entries: Sequence[Entry]) -> Outcome:
        """Send up to ten entries to a queue. A batch that is refused as a whole is sent one by one: one bad entry must not hold back nine.

        Args:
            to: the queue's URL, ARN or name.
            entries: without their Id.
        """
        try:
            client, url = self._client_and_url(to)
            numbered: Any = [{"Id": str(n), **entry} for n, entry in enumerate(entries)]
            answer = client.send_message_batch(QueueUrl=url, Entries=numbered)
        except Exception as error:  # noqa: BLE001  # whatever it is, the outcome holds it, and the caller knows what was not sent
            return self._outcome_of_error(to, entries, error)
        return parse_response(answer, len(entries))

    def _outcome_of_error(self, to: str, entries: Sequence[Entry], error: Exception) -> Outcome:
        if not is_refusal(error):
            return Outcome(failed=describe_error(error))
        if len(entries) == 1 or is_queue_error(error):
            return Outcome(refused=dict.fromkeys(range(len(entries)), describe_error(error)))
        singles = [self.send(to, [entry]) for entry in entries]
        return Outcome(
            sent=[n for n, single in enumerate(singles) if single.sent],
            refused={n: single.refused[0] for n, single in enumerate(singles) if single.refused},
            failed="; ".join(sorted({single.failed for single in singles if single.failed})),
        )

    def _client_and_url(self, to: str) -> tuple[SQSClient, str]:
        queue = destination(to, Queue(region="", account="", name=""))
        client = self._client or sqs_client(queue.region or default_region(), CALL_TIMEOUT)
        if queue.url or queue.account:
            return client, queue.url_at(client.meta.endpoint_url)
        if to not in self._urls:
            self._urls[to] = client.get_queue_url(QueueName=to)["QueueUrl"]
        return client, self._urls[to]


def send_now(timeout: Timeout, now: datetime, client: SQSClient | None) -> None:
    """Send one message, with the delay that SQS can do.

    Raises:
        SendFailed: SQS refused the message, or gave no answer; it may then have taken it.
    """
    ready = to_send_request(Row(timeout.id, timeout), timeout, now)
    assert ready is not None, timeout.id  # the caller has compared the delay with SQS's limit
    outcome = shared_sender(client).send(timeout.to, [ready.entry])
    if not outcome.sent:
        why = outcome.failed or outcome.refused[0]
        raise SendFailed(f"the message for '{timeout.to}' is not sent: {why}")


class SendFailed(Exception):
    """Raised when SQS did not take a message that it was to deliver at once or delay itself."""

    __module__ = "recoverable.timeouts"  # the name under which users import it


@lru_cache(maxsize=16)
def shared_sender(client: SQSClient | None) -> Sender:
    """Return the process's sender, which remembers the queues' URLs."""
    return Sender(client)


@cache
def default_region() -> str:
    """Return the process's region, for queues whose name does not say their region."""
    import os

    import boto3

    return os.environ.get("AWS_REGION") or boto3.session.Session().region_name or ""


def parse_response(answer: Mapping[str, Any], count: int) -> Outcome:
    """Return the outcome for each entry. An entry that the response does not name counts as not sent."""
    sent = [int(done["Id"]) for done in answer.get("Successful", ())]
    whys = {int(f["Id"]): f"{f.get('Code')} {f.get('Message', '')}".strip() for f in answer.get("Failed", ())}
    refused = {int(f["Id"]): whys[int(f["Id"])] for f in answer.get("Failed", ()) if is_permanent(f)}
    others = {why for n, why in whys.items() if n not in refused}
    unnamed = len(sent) + len(whys) < count
    failed = "; ".join(sorted(others)) or ("its answer does not name them" if unnamed else "")
    return Outcome(sent, refused, failed)


def is_permanent(failed: Mapping[str, Any]) -> bool:
    """True if SQS will not take the entry later either."""
    return bool(failed.get("SenderFault")) and failed.get("Code") not in TRANSIENT_CODES


def is_refusal(error: Exception) -> bool:
    """True if SQS answered that it does not take this, or boto3 that it cannot be sent at all."""
    from botocore.exceptions import ParamValidationError

    if isinstance(error, ValueError | ParamValidationError):
        return True
    if not is_answer(error):
        return False
    answer: Any = getattr(error, "response", {})
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", SERVER_ERRORS)
    return status < SERVER_ERRORS and answer.get("Error", {}).get("Code") not in TRANSIENT_CODES


def is_queue_error(error: Exception) -> bool:
    """True if a refusal concerns the queue, and so everything that is sent to it."""
    answer: Any = getattr(error, "response", {})
    code = str(answer.get("Error", {}).get("Code", ""))
    return any(word in code for word in ("NonExistentQueue", "QueueDoesNotExist", "AccessDenied", "InvalidAddress"))
