"""What comes back of an error copy on Service Bus through ServiceControl, as the model of .NET's readers sends it."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from aws.nservicebus.dotnet import Refused, imported_of, read_service_bus, retried_on_service_bus
from recoverable.headers import FOLDED
from recoverable.nservicebus.folding import LOST, with_lost

RENAMED = {"NServiceBus.CorrelationId", "NServiceBus.ContentType", "NServiceBus.ReplyToAddress"}
"""Headers over which the message's own fields win."""


def retry_problem(body: bytes, properties: Mapping[str, Any], fields: Mapping[str, Any]) -> str:
    """Return why ServiceControl cannot import an error copy, or how a retry differs from what failed; nothing where all is well.

    What a copy has no room to keep may be lost.
    """
    try:
        back, headers, own = retried_on_service_bus(imported_of(read_service_bus(body, properties, fields)))
    except Refused as refused:
        return f"ServiceControl refuses it: {refused}"
    if back != body:
        return f"its body {body!r:.80} comes back as {back!r:.80}"
    native, restored = with_lost(SimpleNamespace(**dict.fromkeys(LOST) | own), dict(headers))
    typed = {name: value for name, value in properties.items() if not isinstance(value, str)}
    if typed and FOLDED not in properties:
        return ""
    lost = {
        name for name in typed if restored.get(name) != typed[name] or type(restored[name]) is not type(typed[name])
    }
    lost |= {name for name in LOST if fields.get(name) and getattr(native, name) != fields[name]}
    return f"{sorted(lost)} are lost" if lost else ""
