"""Let azure-servicebus tell dates from numbers among a message's properties: it decodes both as int, .NET does not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from recoverable_local.functions_host.worker.rpc import format_time
from recoverable_local.service_bus.amqp.types import Timestamp

_TIMESTAMP = 0x83  # AMQP 1.0, "timestamp"


def mark_timestamps() -> None:
    """Make the SDK of this process decode AMQP timestamps as `Timestamp`, which is an int like the one that it decodes otherwise.

    The SDK has no public way to ask for a property's type. A version without this table keeps decoding dates as numbers.
    """
    from azure.servicebus._pyamqp import _decode  # its table of decoders

    table: list[Any] | None = getattr(_decode, "_DECODE_BY_CONSTRUCTOR", None)
    if table is not None:
        table[_TIMESTAMP] = decode_timestamp


def decode_timestamp(buffer: memoryview, _depth: int = 0) -> tuple[memoryview, Timestamp]:
    """Decode a timestamp as the SDK does; return what is left of the buffer too."""
    return buffer[8:], Timestamp(int.from_bytes(buffer[:8], "big", signed=True))


def timestamp_text(value: Timestamp) -> str:
    """Return a timestamp as .NET's JSON has it, such as `2026-01-02T03:04:05.6Z`; as a number if it lies outside of the calendar."""
    try:
        moment = datetime.fromtimestamp(value / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return str(int(value))
    return format_time(moment) + "Z"
