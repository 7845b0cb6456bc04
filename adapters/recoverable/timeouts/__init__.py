"""Send messages at any later time, with a store where the broker's own delay is too short: NServiceBus's Timeout Manager, serverless."""

from __future__ import annotations

from recoverable._errors import StoreUnavailable, TooLarge
from recoverable.timeouts._scheduling import Timeouts
from recoverable.timeouts._store import Row, Store
from recoverable.timeouts._timeout import Timeout

__all__ = [
    "CriticalError", "Dispatcher", "DynamoDbStore", "Report", "Row", "SendFailed", "Store", "StoreUnavailable",
    "Timeout", "Timeouts", "TimeoutsQueue", "TooLarge",
]  # fmt: skip

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from recoverable.timeouts._dispatcher import CriticalError, Dispatcher, Report
    from recoverable.timeouts._dynamodb_store import DynamoDbStore
    from recoverable.timeouts._queue import TimeoutsQueue
    from recoverable.timeouts._sending import SendFailed
else:
    from recoverable._lazy import attach

    __getattr__, __dir__ = attach(
        __name__,
        __all__,
        {
            "recoverable.timeouts._dispatcher": ("CriticalError", "Dispatcher", "Report"),
            "recoverable.timeouts._dynamodb_store": ("DynamoDbStore",),
            "recoverable.timeouts._queue": ("TimeoutsQueue",),
            "recoverable.timeouts._sending": ("SendFailed",),
        },
    )
