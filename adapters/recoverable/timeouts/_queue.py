"""Handle an endpoint's timeouts queue, to which NServiceBus's senders send messages that are due later."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from recoverable._errors import MessageDeserializationError
from recoverable._message import Message
from recoverable._sqs.wire import EMPTY_BODY
from recoverable.headers import CLEAR_TIMEOUTS, MESSAGE_ID, RETRY_HEADERS, TIME_SENT, TIMEOUT_EXPIRE, read_date
from recoverable.timeouts._scheduling import RELATED_TO_TIMEOUT, SAGA_ID, Timeouts
from recoverable.timeouts._timeout import LATEST

ROUTE_TO = "NServiceBus.Timeout.RouteExpiredTimeoutTo"
REPLY_TO = "NServiceBus.ReplyToAddress"

REQUEST_HEADERS = {TIMEOUT_EXPIRE, ROUTE_TO, CLEAR_TIMEOUTS, RELATED_TO_TIMEOUT, TIME_SENT, *RETRY_HEADERS}
"""Headers for the timeouts queue itself, or set there; the receiver does not get them."""


class TimeoutsQueue:
    """A handler for the queue `{endpoint}-Timeouts`, as SQS names NServiceBus's `{endpoint}.Timeouts`: `SqsEndpoint(TimeoutsQueue(timeouts))`.

    Args:
        timeouts: stores the messages.
    """

    __name__ = "timeouts_queue"

    def __init__(self, timeouts: Timeouts) -> None:
        self._timeouts = timeouts

    def __call__(self, message: Message) -> None:
        """Store the message until its due time, or cancel the timeouts of the saga that it names.

        Raises:
            MessageDeserializationError: the headers ask for neither, or for something that can never be done; the message moves to the error queue at once.
            StoreUnavailable: the message is not stored; it is tried again.
            SendFailed: the message is due already, and SQS did not take it; it is tried again.
        """
        try:
            if CLEAR_TIMEOUTS in message.headers:
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
    """Return a queue's URL, ARN or SQS name. In a name, each character that SQS does not take becomes a hyphen, as in NServiceBus's SQS transport."""
    if address.startswith(("arn:", "https://", "http://")):
        return address
    name = address.removesuffix(".fifo")
    return re.sub("[^A-Za-z0-9_-]", "-", name) + address[len(name) :]


def parse_due_time(headers: Mapping[str, str]) -> datetime:
    """Return the due time in the message's headers.

    Raises:
        MessageDeserializationError: there is none, or it is later than 2286.
    """
    due = read_date(headers, TIMEOUT_EXPIRE)
    if due is None or due > LATEST:
        what = repr(headers[TIMEOUT_EXPIRE]) if TIMEOUT_EXPIRE in headers else "absent"
        raise MessageDeserializationError(
            f"no timeout: its header {TIMEOUT_EXPIRE} is {what}; wanted is a date until 2286, such as 2030-01-31 23:59:59:000000 Z"
        )
    return due


def first_header(headers: Mapping[str, str], *names: str) -> str:
    """Return the first of these headers that is present and not blank.

    Raises:
        MessageDeserializationError: none of them is.
    """
    for name in names:
        if value := headers.get(name, "").strip():
            return value
    raise MessageDeserializationError(f"no timeout: it lacks the header {' or '.join(names)}")
