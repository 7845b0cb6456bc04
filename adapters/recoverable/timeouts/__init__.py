"""Messages for later, without a ceiling: NServiceBus's Timeout Manager, serverless."""

from __future__ import annotations

from .scheduling import Timeouts
from .store import StoreUnavailable, TooLarge
from .timeout import Timeout

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from .circuit import CriticalError
    from .client import SendFailed
    from .dispatcher import Dispatcher
    from .dynamodb_store import DynamoDBStore
    from .port import Store
    from .queue import TimeoutsQueue
    from .report import Report
    from .sqlite_store import SqliteStore

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

_LATER = {
    "CriticalError": "circuit",
    "SendFailed": "client",
    "DynamoDBStore": "dynamodb_store",
    "SqliteStore": "sqlite_store",
    "Store": "port",
    "TimeoutsQueue": "queue",
    "Dispatcher": "dispatcher",
    "Report": "report",
}


def __getattr__(name: str) -> object:
    """What a function does not name is not imported at its cold start (PEP 562)."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(f".{_LATER[name]}", __name__), name)
