"""How an app is run here: what its reader may choose, with the defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from recoverable_local.service_bus import Queue


@dataclass(frozen=True, slots=True)
class Settings:
    """How an app is run here.

    Args:
        app_settings: App settings, over those of `local.settings.json` and of the environment.
        connection_string: A namespace for all of the app's Service Bus connections. When None, those that the app settings do not
            have lead to a namespace that is served here.
        queues: Further queues of that namespace, or other settings for those that the triggers read.
        error_queue: Where the dead letters of its queues go; where the app setting `RECOVERABLE_ERROR_QUEUE` says, else to "error",
            when None.
        max_delivery_count: Of its queues.
        lock_duration: Of its queues.
        port: Where it listens on 127.0.0.1; 0 lets the kernel choose.
        python_path: Further folders in which the app's modules are looked for.
    """

    app_settings: Mapping[str, str] = field(default_factory=dict)
    connection_string: str | None = None
    queues: Sequence[Queue | str] = ()
    error_queue: str | None = None
    max_delivery_count: int = 100
    lock_duration: timedelta = timedelta(minutes=1)
    port: int = 0
    python_path: Sequence[str | Path] = ()
