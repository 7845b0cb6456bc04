"""`TimeoutsQueue`: the handler of an endpoint's timeouts queue, to which NServiceBus's senders send what is to come later."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from recoverable.aws.wire import EMPTY_BODY
from recoverable.errors import MessageDeserializationError
from recoverable.headers import MESSAGE_ID, RETRY_HEADERS, TIME_SENT, read_date
from recoverable.message import Message
from recoverable.timeouts.ids import LATEST
from recoverable.timeouts.requests import RELATED_TO_TIMEOUT
from recoverable.timeouts.scheduling import SAGA_ID, Timeouts

EXPIRE = "NServiceBus.Timeout.Expire"
ROUTE_TO = "NServiceBus.Timeout.RouteExpiredTimeoutTo"
CLEAR = "NServiceBus.ClearTimeouts"
REPLY_TO = "NServiceBus.ReplyToAddress"

REQUEST_HEADERS = {EXPIRE, ROUTE_TO, CLEAR, RELATED_TO_TIMEOUT, TIME_SENT, *RETRY_HEADERS}
"""What a message says to the timeouts queue, or got there, and no more to its receiver."""


class TimeoutsQueue:
    """A handler for the queue `{endpoint}-Timeouts`, as SQS names NServiceBus's `{endpoint}.Timeouts`: `SqsEndpoint(TimeoutsQueue(timeouts))`.

    Args:
        timeouts: where what comes is stored.
    """

    __name__ = "timeouts_queue"

    def __init__(self, timeouts: Timeouts) -> None:
        self._timeouts = timeouts

    def __call__(self, message: Message) -> None:
        """Store what the message says, or clear what it names.

        Raises:
            MessageDeserializationError: it says neither, or what can never be done; it moves to the error queue at once.
            StoreUnavailable: it is not stored; it is tried again.
            SendFailed: it is due already, and SQS has not taken it; it is tried again.
        """
        try:
            if CLEAR in message.headers:
                self._timeouts.cancel_for(first_header(message.headers, SAGA_ID))
            else:
                self._schedule(message)
        except (TypeError, ValueError) as error:  # no queue, too large, of a body that SQS does not take
            raise MessageDeserializationError(f"no timeout: {error}") from error

    def _schedule(self, message: Message) -> None:
        kept = {name: value for name, value in message.headers.items() if name not in REQUEST_HEADERS}
        self._timeouts.schedule(
            to_queue_address(first_header(message.headers, ROUTE_TO, REPLY_TO)),
            message.text or EMPTY_BODY,
            at=parse_due_time(message.headers),
            headers={MESSAGE_ID: message.id, **kept},
            key=message.id,
        )


def to_queue_address(address: str) -> str:
    """The queue that an address means: where it is a name, what SQS does not take in one is a hyphen, as in NServiceBus's SQS transport."""
    if address.startswith(("arn:", "https://", "http://")):
        return address
    name = address.removesuffix(".fifo")
    return re.sub("[^A-Za-z0-9_-]", "-", name) + address[len(name) :]


def parse_due_time(headers: Mapping[str, str]) -> datetime:
    """When the message is to come.

    Raises:
        MessageDeserializationError: it does not say.
    """
    due = read_date(headers, EXPIRE)
    if due is None or due > LATEST:
        what = repr(headers[EXPIRE]) if EXPIRE in headers else "absent"
        raise MessageDeserializationError(
            f"no timeout: its header {EXPIRE} is {what}; wanted is a date until 2286, such as 2030-01-31 23:59:59:000000 Z"
        )
    return due


def first_header(headers: Mapping[str, str], *names: str) -> str:
    """The first of the headers that is there.

    Raises:
        MessageDeserializationError: none is.
    """
    for name in names:
        if value := headers.get(name, "").strip():
            return value
    raise MessageDeserializationError(f"no timeout: it lacks the header {' or '.join(names)}")
