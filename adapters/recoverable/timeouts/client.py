"""The only talk with SQS here: sends batches, and tells what was taken, what never will be, and what may be taken later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from recoverable.aws.client import describe_error, is_answer, sqs_client
from recoverable.aws.copies import destination
from recoverable.aws.queues import Queue
from recoverable.timeouts.sending import Entry, to_send_request
from recoverable.timeouts.stores.rows import Row
from recoverable.timeouts.timeout import Timeout

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
    """What became of a batch, by the entries' places.

    Args:
        sent: those that SQS has.
        refused: those that it will not take, and why.
        failed: why the others are not sent, but may be later; empty when there are none.
    """

    sent: Sequence[int] = ()
    refused: Mapping[int, str] = field(default_factory=dict)
    failed: str = ""


class Sender:
    """Sends to the queues of any region.

    Args:
        client: a client for all of them; None for one a region, made when it is first needed.
    """

    def __init__(self, client: SQSClient | None = None) -> None:
        self._client = client
        self._urls: dict[str, str] = {}

    def send(self, to: str, entries: Sequence[Entry]) -> Outcome:
        """Send up to ten entries to a queue; a batch that is refused whole is sent one by one, for one bad entry must not hold back nine.

        Args:
            to: the queue's URL, ARN or name.
            entries: without their Id.
        """
        try:
            client, url = self._client_and_url(to)
            numbered: Any = [{"Id": str(n), **entry} for n, entry in enumerate(entries)]
            answer = client.send_message_batch(QueueUrl=url, Entries=numbered)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is told, and the caller knows what was not done
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
        SendFailed: SQS has not taken it, as far as is known.
    """
    ready = to_send_request(Row(timeout.id, timeout), timeout, now)
    assert ready is not None, timeout.id  # who calls has compared the delay with SQS's limit
    outcome = shared_sender(client).send(timeout.to, [ready.entry])
    if not outcome.sent:
        why = outcome.failed or outcome.refused[0]
        raise SendFailed(f"the message for '{timeout.to}' is not sent: {why}")


class SendFailed(Exception):
    """SQS has not taken a message that was to be sent at once, or within what SQS delays itself."""


@lru_cache(maxsize=16)
def shared_sender(client: SQSClient | None) -> Sender:
    """The process's sender, which remembers the queues' URLs."""
    return Sender(client)


@cache
def default_region() -> str:
    """The region of queues whose name does not say it: that of the process."""
    import os

    import boto3

    return os.environ.get("AWS_REGION") or boto3.session.Session().region_name or ""


def parse_response(answer: Mapping[str, Any], count: int) -> Outcome:
    """What an answer says about each entry; what it does not name is not known to be sent."""
    sent = [int(done["Id"]) for done in answer.get("Successful", ())]
    whys = {int(f["Id"]): f"{f.get('Code')} {f.get('Message', '')}".strip() for f in answer.get("Failed", ())}
    refused = {int(f["Id"]): whys[int(f["Id"])] for f in answer.get("Failed", ()) if is_permanent(f)}
    others = {why for n, why in whys.items() if n not in refused}
    unnamed = len(sent) + len(whys) < count
    failed = "; ".join(sorted(others)) or ("its answer does not name them" if unnamed else "")
    return Outcome(sent, refused, failed)


def is_permanent(failed: Mapping[str, Any]) -> bool:
    """Whether the entry will not be taken later either."""
    return bool(failed.get("SenderFault")) and failed.get("Code") not in TRANSIENT_CODES


def is_refusal(error: Exception) -> bool:
    """Whether SQS said that it will not take this, or boto3 that it cannot be sent at all."""
    from botocore.exceptions import ParamValidationError

    if isinstance(error, ValueError | ParamValidationError):
        return True
    if not is_answer(error):
        return False
    answer: Any = getattr(error, "response", {})
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", SERVER_ERRORS)
    return status < SERVER_ERRORS and answer.get("Error", {}).get("Code") not in TRANSIENT_CODES


def is_queue_error(error: Exception) -> bool:
    """Whether a refusal concerns the queue, and so whatever is sent to it."""
    answer: Any = getattr(error, "response", {})
    code = str(answer.get("Error", {}).get("Code", ""))
    return any(word in code for word in ("NonExistentQueue", "QueueDoesNotExist", "AccessDenied", "InvalidAddress"))
