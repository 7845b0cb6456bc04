"""What a function gets for messages: told by the host's names and types as the local Functions host tells it, decoded by azure-functions as in its worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from azure.functions.meta import Datum
from azure.functions.servicebus import ServiceBusMessageInConverter
from azure.servicebus import ServiceBusReceivedMessage

from recoverable_local.functions_host.extension.metadata import batch_metadata, body_of, data_of, message_metadata
from recoverable_local.functions_host.worker.rpc import Typed, to_metadata, to_rpc


class Decoder(ServiceBusMessageInConverter, binding=None):
    """The worker's decoder; it remembers the seconds that it has read, for it tries thirteen forms before the one that the host writes."""

    @staticmethod
    def _parse_datetime(datetime_str: str | None) -> datetime | None:
        second, _, fraction = (datetime_str or "").partition(".")
        if not fraction.isdecimal():  # not written by the host, which gives no zone
            return read_by_worker(datetime_str)
        moment = read_by_worker(second)
        return moment and moment.replace(microsecond=int(f"{fraction:0<6.6}"))


@lru_cache(maxsize=1024)
def read_by_worker(text: str | None) -> datetime | None:
    """The date as the worker reads it."""
    return ServiceBusMessageInConverter._parse_datetime(text)  # noqa: SLF001  # its own


def decoded(wires: Sequence[bytes], *, binary: bool, many: bool) -> Any:
    """The trigger's argument.

    Args:
        wires: one message as it came over the wire, or as many as there are in the batch.
        binary: whether the trigger asks for binary data; a JSON body otherwise overwrites the metadata.
        many: whether the trigger's cardinality is many.
    """
    received = [ServiceBusReceivedMessage.from_bytes(wire) for wire in wires]
    data, metadata = in_batch(received, binary=binary) if many else alone(received[0], binary=binary)
    found = {name: datum(value) for name, value in to_metadata(metadata).items()}
    return Decoder.decode(datum(to_rpc(data)), trigger_metadata=found)


def alone(message: ServiceBusReceivedMessage, *, binary: bool) -> tuple[Any, Mapping[str, Any]]:
    """Data and metadata of one message."""
    return data_of(message, text=not binary), message_metadata(message, text=not binary)


def in_batch(messages: Sequence[ServiceBusReceivedMessage], *, binary: bool) -> tuple[Any, Mapping[str, Any]]:
    """Data and metadata of a batch; its bodies stay apart even if they are empty."""
    bodies = [body_of(message) for message in messages]
    data = (
        Typed("collection_bytes", bodies) if binary else Typed("collection_string", [body.decode() for body in bodies])
    )
    return data, batch_metadata(messages)


def datum(typed: Typed) -> Datum:
    """A value as the worker passes it on to its converters."""
    kind = typed.kind
    is_array = kind.startswith("collection_")
    value = SimpleNamespace(**{kind.removeprefix("collection_"): typed.value}) if is_array else typed.value
    return Datum(value, kind)
