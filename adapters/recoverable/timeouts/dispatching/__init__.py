"""Send stored timeouts when they are due."""

from __future__ import annotations

from recoverable.timeouts.dispatching.dispatcher import Dispatcher
from recoverable.timeouts.dispatching.outage import CriticalError
from recoverable.timeouts.dispatching.report import Report

__all__ = ["CriticalError", "Dispatcher", "Report"]
