"""Build the headers of failed messages."""

from __future__ import annotations

AT = "2026-11-22 10:00:00:000000 Z"
FRAME = "   at orders.place_order() in /var/task/orders.py:line 12"


def fault_headers(queue: str = "orders", **changes: str | None) -> dict[str, str]:
    """Return the headers of a message that failed at a queue; `None` leaves one out.

    Keywords are headers by their last part: `type`, `message`, `trace`, `at`, `id`.
    """
    kind = changes.pop("type", "bank.BankUnavailable")
    headers = {
        "NServiceBus.MessageId": changes.pop("id", "order-1"),
        "NServiceBus.FailedQ": queue,
        "NServiceBus.ExceptionInfo.ExceptionType": kind,
        "NServiceBus.ExceptionInfo.Message": changes.pop("message", "no answer"),
        "NServiceBus.ExceptionInfo.StackTrace": changes.pop("trace", f"{kind}: no answer\n{FRAME}"),
        "NServiceBus.TimeOfFailure": changes.pop("at", AT),
        "NServiceBus.ProcessingEndpoint": queue,
        **changes,
    }
    return {name: text for name, text in headers.items() if text is not None}
