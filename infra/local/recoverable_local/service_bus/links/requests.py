"""Parse the request messages of `$cbs` and `$management`, and encode the messages that answer them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recoverable_local.service_bus.amqp import encoding as e
from recoverable_local.service_bus.amqp.decoding import decode
from recoverable_local.service_bus.broker.holding.content import parse

_PROPERTIES, _APPLICATION, _VALUE = 0x73, 0x74, 0x77
_CORRELATION = 5  # the index of the correlation id among the properties


@dataclass(frozen=True, slots=True)
class Request:
    """A request.

    Args:
        message_id: Its id, encoded; the answer's correlation id.
        reply_to: The address for the answer.
        operation: The name of the operation.
        properties: Its application properties.
        body: Its arguments.
        token: What it has instead of arguments: a token as text.
    """

    message_id: bytes
    reply_to: str
    operation: str
    properties: Mapping[str, Any]
    body: Mapping[str, Any]
    token: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; `value` is encoded, `condition` is the error condition, if any."""

    status: int
    description: str
    value: bytes = e.NULL
    condition: str | None = None


def parse_request(data: bytes) -> Request:
    """Parse a request message.

    Raises:
        MalformedError: The bytes are not an AMQP message.
    """
    content = parse(data)
    given = content.application_properties()
    body = decode(content.body)[0].value if content.body else None
    return Request(
        message_id=content.properties[0] if content.properties else e.NULL,
        reply_to=content.value_of("reply_to") or "",
        operation=str(given.get("operation", "")).removeprefix("com.microsoft:"),
        properties=given,
        body=body if isinstance(body, dict) else {},
        token=body.decode(errors="replace") if isinstance(body, bytes) else str(body),
    )


def encode_answer(request: Request, answer: Answer, *, status: str, description: str) -> bytes:
    """Encode the message that answers a request; `status` and `description` are the names of the properties for these."""
    given = [(e.string(status), e.int32(answer.status)), (e.string(description), e.string(answer.description))]
    if answer.condition is not None:
        given.append((e.string("errorCondition"), e.symbol(answer.condition)))
    properties = e.sequence([*[e.NULL] * _CORRELATION, request.message_id])
    return b"".join(
        e.described(code, value)
        for code, value in ((_PROPERTIES, properties), (_APPLICATION, e.mapping(given)), (_VALUE, answer.value))
    )
