"""Send what a function gave to its Service Bus output bindings, before its messages are completed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient

from recoverable_local.functions_host.app.triggers import Output
from recoverable_local.functions_host.worker.rpc import Typed


@dataclass(frozen=True, slots=True)
class Outputs:
    """The output bindings of one function.

    Args:
        bindings: The bindings, by their names.
        clients: The clients, by the names of the bindings' connections.
    """

    bindings: Mapping[str, Output]
    clients: Mapping[str, ServiceBusClient]

    async def send(self, values: Sequence[tuple[str, Typed]]) -> None:
        """Send the values, each to the queue or topic of its binding.

        Args:
            values: What the function gave, by the bindings' names.

        Raises:
            ServiceBusError: The broker refuses a message, or does not answer. The host then fails the invocation.
            ValueError: A text begins like JSON and cannot be parsed.
        """
        for name, value in values:
            binding = self.bindings[name]
            messages = [ServiceBusMessage(body) for body in bodies_of(value)]
            async with self.clients[binding.connection].get_queue_sender(binding.entity) as sender:
                await sender.send_messages(messages)


def bodies_of(value: Typed) -> list[str | bytes]:
    """Return the bodies of the messages that the host makes of a value.

    A JSON text is parsed and written again; an array becomes a message for each of its elements (azure-functions-host,
    `FunctionBinding.ReadAsEnumerable`).

    Raises:
        ValueError: A text begins like JSON and cannot be parsed.
    """
    match value.value:
        case str(text) if _is_json(text):
            found = json.loads(text)
            return [_as_dotnet(each) for each in (found if isinstance(found, list) else [found])]
        case str() | bytes() as body:
            return [body]
        case several:
            return [each if isinstance(each, str | bytes) else str(each) for each in several]


def _is_json(text: str) -> bool:
    """True if the host takes a text for JSON (azure-functions-host, `Utility.IsJson`)."""
    text = text.strip()
    return (text[:1], text[-1:]) in (("{", "}"), ("[", "]"))


def _as_dotnet(value: Any) -> str:
    """Convert a JSON value to text as Json.NET's `JToken.ToString` does."""
    match value:
        case str() | bool():
            return str(value)
        case None:
            return ""
        case _:
            return json.dumps(value, indent=2, ensure_ascii=False)
