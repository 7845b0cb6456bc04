"""Send messages at any later time, with a store where the broker's own delay is too short: NServiceBus's Timeout Manager, serverless."""

from __future__ import annotations

from recoverable.timeouts._scheduling import Timeouts
from recoverable.timeouts._store import Store, StoreUnavailable, TooLarge
from recoverable.timeouts._timeout import Timeout

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from recoverable.timeouts._client import SendFailed
    from recoverable.timeouts._dispatcher import CriticalError, Dispatcher
    from recoverable.timeouts._dispatcher_run import Report
    from recoverable.timeouts._dynamodb_store import DynamoDbStore
    from recoverable.timeouts._queue import TimeoutsQueue
    from recoverable.timeouts._sqlite import SqliteStore

__all__ = [
    "CriticalError",
    "Dispatcher",
    "DynamoDbStore",
    "Report",
    "SendFailed",
    "SqliteStore",
    "Store",
    "StoreUnavailable",
    "Timeout",
    "Timeouts",
    "TimeoutsQueue",
    "TooLarge",
]


def __getattr__(name: str) -> object:
    """Import a name when it is first used, not at each cold start (PEP 562)."""
    if name in {"CriticalError", "Dispatcher", "Report"}:
        from recoverable.timeouts import _dispatcher as dispatcher  # noqa: PLC0415

        return getattr(dispatcher, name)
    if name == "SendFailed":
        from recoverable.timeouts._client import SendFailed  # noqa: PLC0415

        return SendFailed
    if name == "TimeoutsQueue":
        from recoverable.timeouts._queue import TimeoutsQueue  # noqa: PLC0415

        return TimeoutsQueue
    if name == "DynamoDbStore":
        from recoverable.timeouts._dynamodb_store import DynamoDbStore  # noqa: PLC0415

        return DynamoDbStore
    if name == "SqliteStore":
        from recoverable.timeouts._sqlite import SqliteStore  # noqa: PLC0415

        return SqliteStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
