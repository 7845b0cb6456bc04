"""Define the settings of the Functions host, with their defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from recoverable_local.service_bus import Queue, Topic


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the Functions host.

    Args:
        app_settings: App settings; they override those of `local.settings.json` and of the environment.
        connection_string: A namespace for all of the app's Service Bus connections. When None, a namespace is started here for the
            connections that the app settings do not have.
        all_local: True to start a namespace here for all connections, also those that the app settings have.
        queues: Further queues of that namespace, or other settings for those that the triggers read.
        topics: Topics of that namespace. `("events", "orders")` is the topic events with a subscription that forwards to the queue orders,
            and whose dead letters go to the error queue.
        error_queue: The queue that gets the dead letters of that namespace. When None: the error queues of the app's endpoints, else the
            app setting `RECOVERABLE_ERROR_QUEUE`, else "error".
        max_delivery_count: The maximum delivery count of its queues.
        lock_duration: The lock duration of its queues.
        port: Its port on 127.0.0.1; 0 means any free port.
        python_path: Further folders on the import path of the app.
        retry_log: False to leave out of the functions' log what endpoints log of retries, which the entries `Decided` have too.

    Raises:
        ValueError: Both `connection_string` and `all_local` are given.
    """

    app_settings: Mapping[str, str] = field(default_factory=dict)
    connection_string: str | None = None
    all_local: bool = False
    queues: Sequence[Queue | str] = ()
    topics: Sequence[Topic | tuple[str, str]] = ()
    error_queue: str | None = None
    max_delivery_count: int = 100
    lock_duration: timedelta = timedelta(minutes=1)
    port: int = 0
    python_path: Sequence[str | Path] = ()
    retry_log: bool = True

    def __post_init__(self) -> None:
        """Check that one namespace is named, not two."""
        if self.all_local and self.connection_string is not None:
            raise ValueError(
                "all_local starts a namespace here, and connection_string names another; write one of the two"
            )
