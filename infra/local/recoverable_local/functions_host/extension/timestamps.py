"""Write AMQP's dates as .NET's JSON has them."""

from __future__ import annotations

from datetime import UTC, datetime

from recoverable_local.functions_host.worker.rpc import format_time


def timestamp_text(value: int) -> str:
    """Return a timestamp as .NET's JSON has it, such as `2026-01-02T03:04:05.6Z`; as a number if it lies outside of the calendar."""
    try:
        moment = datetime.fromtimestamp(value / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return str(int(value))
    return format_time(moment) + "Z"
