"""Send stored timeouts when they are due."""

from __future__ import annotations

from recoverable.timeouts._dispatching.dispatcher import Dispatcher
from recoverable.timeouts._dispatching.outage import CriticalError
from recoverable.timeouts._dispatching.report import Report

__all__ = ["CriticalError", "Dispatcher", "Report"]
