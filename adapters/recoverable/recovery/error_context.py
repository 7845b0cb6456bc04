"""Define the failed attempt as a policy sees it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from recoverable.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorContext:
    """A failed attempt, as a policy sees it.

    Args:
        exception: what the handler raised.
        message: the message that failed.
        immediate_processing_failures: failed attempts of this round, this one included; the first is 1.
        delayed_deliveries_performed: delayed retries made so far.
        receive_address: the queue that the message came from.
        now: the time of the failure.
    """

    exception: BaseException
    message: Message
    immediate_processing_failures: int
    delayed_deliveries_performed: int
    receive_address: str
    now: datetime
