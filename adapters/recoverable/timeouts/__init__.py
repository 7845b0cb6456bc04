"""Send messages at any later time, with a store where the broker's own delay is too short: NServiceBus's Timeout Manager, serverless."""

from __future__ import annotations

from recoverable.timeouts._scheduling import Timeouts
from recoverable.timeouts._stores.rows import StoreUnavailable, TooLarge
from recoverable.timeouts._timeout import Timeout

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from recoverable.timeouts._client import SendFailed
    from recoverable.timeouts._dispatching.dispatcher import Dispatcher
    from recoverable.timeouts._dispatching.outage import CriticalError
    from recoverable.timeouts._dispatching.report import Report
    from recoverable.timeouts._queue import TimeoutsQueue
    from recoverable.timeouts._stores.dynamodb.store import DynamoDBStore
    from recoverable.timeouts._stores.port import Store
    from recoverable.timeouts._stores.sqlite.store import SqliteStore

__all__ = [
    "CriticalError",
    "Dispatcher",
    "DynamoDBStore",
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
        from recoverable.timeouts import _dispatching as dispatching  # noqa: PLC0415

        return getattr(dispatching, name)
    if name == "SendFailed":
        from recoverable.timeouts._client import SendFailed  # noqa: PLC0415

        return SendFailed
    if name == "TimeoutsQueue":
        from recoverable.timeouts._queue import TimeoutsQueue  # noqa: PLC0415

        return TimeoutsQueue
    if name in {"DynamoDBStore", "SqliteStore", "Store"}:
        return _store(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")


def _store(name: str) -> object:
    """Import one store without the others."""
    if name == "DynamoDBStore":
        from recoverable.timeouts._stores.dynamodb.store import DynamoDBStore  # noqa: PLC0415

        return DynamoDBStore
    if name == "SqliteStore":
        from recoverable.timeouts._stores.sqlite.store import SqliteStore  # noqa: PLC0415

        return SqliteStore
    from recoverable.timeouts._stores.port import Store  # noqa: PLC0415

    return Store
