"""Build a trigger's argument: data and metadata as the local Functions host sends them, decoded by azure-functions as in its worker."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from azure.functions.meta import Datum
from azure.functions.servicebus import ServiceBusMessageInConverter
from azure.servicebus import ServiceBusReceivedMessage

from recoverable_local.functions_host.extension.metadata import batch_metadata, body_of, data_of, message_metadata
from recoverable_local.functions_host.worker.rpc import Typed, to_metadata, to_rpc
from recoverable_local.testing.azure.sdk.client import received_message

HOST_DATE = re.compile(r"\d{4}(-\d\d){2}T\d\d(:\d\d){2}(\.\d{1,7})?", re.ASCII)
"""A date as the host writes it, without a zone."""


class Decoder(ServiceBusMessageInConverter, binding=None):
    """The worker's decoder, without the thirteen other formats that it tries before the host's."""

    @staticmethod
    def _parse_datetime(datetime_str: str | None) -> datetime | None:
        if datetime_str and HOST_DATE.fullmatch(datetime_str):
            return datetime.fromisoformat(datetime_str)
        return ServiceBusMessageInConverter._parse_datetime(datetime_str)  # noqa: SLF001  # its own


def decode_trigger(wires: Sequence[bytes], *, binary: bool, many: bool) -> Any:
    """Return the trigger's argument.

    Args:
        wires: one message as it came over the wire, or as many as there are in the batch.
        binary: True if the trigger asks for binary data; a JSON body otherwise overwrites the metadata.
        many: True if the trigger's cardinality is many.
    """
    received = [received_message(wire) for wire in wires]
    data, metadata = batch_data(received, binary=binary) if many else single_data(received[0], binary=binary)
    found = {name: to_datum(value) for name, value in to_metadata(metadata).items()}
    return Decoder.decode(to_datum(to_rpc(data)), trigger_metadata=found)


def single_data(message: ServiceBusReceivedMessage, *, binary: bool) -> tuple[Any, Mapping[str, Any]]:
    """Return data and metadata of one message."""
    return data_of(message, text=not binary), message_metadata(message, text=not binary)


def batch_data(messages: Sequence[ServiceBusReceivedMessage], *, binary: bool) -> tuple[Any, Mapping[str, Any]]:
    """Return data and metadata of a batch; its bodies stay separate even if they are empty."""
    bodies = [body_of(message) for message in messages]
    data = (
        Typed("collection_bytes", bodies) if binary else Typed("collection_string", [body.decode() for body in bodies])
    )
    return data, batch_metadata(messages)


def to_datum(typed: Typed) -> Datum:
    """Convert a value as the worker does for its converters."""
    kind = typed.kind
    is_array = kind.startswith("collection_")
    value = SimpleNamespace(**{kind.removeprefix("collection_"): typed.value}) if is_array else typed.value
    return Datum(value, kind)
