"""Send one message at once, with the delay that SQS can do."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from recoverable._sqs.sender import shared_sender
from recoverable.timeouts._sending import to_send_request
from recoverable.timeouts._store import Row
from recoverable.timeouts._timeout import Timeout

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


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
