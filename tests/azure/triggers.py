"""What the Functions worker hands to a function: real `azure.functions.ServiceBusMessage`s, decoded from what a host sends."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import azure.functions as func
from azure.functions.meta import Datum
from azure.functions.servicebus import ServiceBusMessageInConverter

BODY = b'{"order": 42}'
ENQUEUED = datetime(2026, 3, 14, 15, 0, 0, 123_456, tzinfo=UTC)
NEVER = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)


def trigger_message(
    body: bytes = BODY, *, properties: dict[str, Any] | None = None, text: bool = False, old: bool = False, **more: Any
) -> func.ServiceBusMessage:
    """Return one message as a trigger with cardinality one delivers it.

    Args:
        body: the body.
        properties: the application properties.
        text: whether the trigger delivers text, so that the host writes the properties of a JSON body into the metadata.
        old: whether the extension is older than 5.0, and has the application properties under their old name alone.
        more: further metadata of the host, under its names; None leaves one out.
    """
    metadata = {**defaults(), **more, "UserProperties": properties or {}}
    if not old:
        metadata["ApplicationProperties"] = metadata["UserProperties"]
    data = {name: datum(value) for name, value in metadata.items() if value is not None}
    if text:
        overwrite(data, json.loads(body))
    kind, value = ("string", body.decode()) if text else ("bytes", body)
    decoded: Any = ServiceBusMessageInConverter.decode(Datum(value, kind), trigger_metadata=data)
    assert isinstance(decoded, func.ServiceBusMessage)
    return decoded


def trigger_messages(*messages: dict[str, Any]) -> list[func.ServiceBusMessage]:
    """Return many messages as a trigger with cardinality many delivers them; what is empty is left out of arrays of text, as the host does.

    Args:
        messages: each one's `body`, `properties` and metadata.
    """
    rows = [{**defaults(number), **message} for number, message in enumerate(messages)]
    names = sorted({name for row in rows for name in row} - {"body", "properties"})
    properties = [row.get("properties", {}) for row in rows]
    data = {f"{name}Array": array([row.get(name) for row in rows]) for name in names}
    data["UserPropertiesArray"] = data["ApplicationPropertiesArray"] = datum(properties)
    bodies = Datum(SimpleNamespace(bytes=[row.get("body", BODY) for row in rows]), "collection_bytes")
    decoded: Any = ServiceBusMessageInConverter.decode(bodies, trigger_metadata=data)
    assert isinstance(decoded, list)
    return decoded


def defaults(number: int = 0) -> dict[str, Any]:
    """Return the host's metadata of each message."""
    return {
        "DeliveryCount": 1,
        "EnqueuedTimeUtc": ENQUEUED,
        "ExpiresAtUtc": NEVER,
        "LockToken": f"6a3b0a52-0000-4000-8000-00000000000{number}",
        "MessageId": f"m-{number + 1}",
        "SequenceNumber": 42 + number,
    }


def datum(value: Any) -> Datum:
    """Return the value as the host sends it: a text as text, everything else as JSON."""
    if isinstance(value, str):
        return Datum(value, "string")
    return Datum(json.dumps(written(value)), "json")


def array(values: list[Any]) -> Datum:
    """Return the values of many messages: of texts only those that are not empty, of everything else all, as JSON."""
    if all(isinstance(value, str | None) for value in values):
        return Datum(SimpleNamespace(string=[value for value in values if value]), "collection_string")
    return datum([written(value) for value in values])


def written(value: Any) -> Any:
    """Return a date as .NET writes it in JSON, to the tenth of a microsecond."""
    return value.strftime("%Y-%m-%dT%H:%M:%S.%f0Z") if isinstance(value, datetime) else value


def overwrite(metadata: dict[str, Datum], body: dict[str, Any]) -> None:
    """Overwrite metadata as the host does with a JSON body that a trigger takes as text (azure-functions-host, `Utility.ApplyBindingData`)."""
    known = {name.lower(): name for name in metadata}
    for name, value in body.items():
        if value is not None and not isinstance(value, list):
            metadata[known.get(name.lower(), name)] = datum(str(value))
