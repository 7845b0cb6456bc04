"""Keep a message as the sender encoded it, and decode the few fields that the broker needs."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from recoverable_local.service_bus.amqp import encoding as e
from recoverable_local.service_bus.amqp.decoding import decode
from recoverable_local.service_bus.amqp.slices import elements, values
from recoverable_local.service_bus.amqp.types import MalformedError

_HEADER, _DELIVERY, _ANNOTATIONS, _PROPERTIES = 0x70, 0x71, 0x72, 0x73
_APPLICATION, _DATA, _FOOTER = 0x74, 0x75, 0x78
_BROKER_ANNOTATIONS = (  # a client that sends on a received message sends these, too; they are dropped
    "x-opt-enqueued-time", "x-opt-sequence-number", "x-opt-locked-until", "x-opt-message-state",
    "x-opt-enqueue-sequence-number", "x-opt-deadletter-source",
)  # fmt: skip
_FIELDS = (
    "message_id", "user_id", "to", "subject", "reply_to", "correlation_id", "content_type", "content_encoding",
    "absolute_expiry_time", "creation_time", "session_id", "group_sequence", "reply_to_session_id",
)  # fmt: skip
_DEFAULT_PRIORITY = 4  # AMQP 1.0, 3.2.1


@dataclass(frozen=True, slots=True)
class Content:
    """One message in AMQP's sections.

    Args:
        header: Encoded fields: durable, priority, time to live, ...
        delivery: Names of delivery annotations with their encoded values.
        annotations: Names of message annotations with their encoded values, without those that the broker writes.
        properties: Encoded fields in the order of AMQP: message id, user id, to, ...
        application: Names of application properties with their encoded values.
        body: The encoded sections of the body.
        footer: The encoded footer, if there is one.
    """

    header: tuple[bytes, ...] = ()
    delivery: Mapping[str, bytes] = field(default_factory=dict)
    annotations: Mapping[str, bytes] = field(default_factory=dict)
    properties: tuple[bytes, ...] = ()
    application: Mapping[str, bytes] = field(default_factory=dict)
    body: bytes = b""
    footer: bytes = b""

    def value_of(self, name: str) -> Any:
        """Return one of AMQP's properties, decoded; `session_id` is AMQP's group-id."""
        index = _FIELDS.index(name)
        return decode(self.properties[index])[0] if index < len(self.properties) else None

    @property
    def time_to_live(self) -> int | None:
        """Return the time to live that the sender set, in milliseconds."""
        ttl: int | None = decode(self.header[2])[0] if len(self.header) > 2 else None  # noqa: PLR2004
        return ttl

    @property
    def scheduled(self) -> int | None:
        """Return the scheduled enqueue time, in milliseconds since 1970."""
        encoded = self.annotations.get("x-opt-scheduled-enqueue-time")
        return decode(encoded)[0] if encoded else None

    def application_properties(self) -> dict[str, Any]:
        """Return the application properties, decoded; as bytes where Python has no value for one, such as a map with a list for a key."""
        return {name: _decoded(value) for name, value in self.application.items()}

    def data(self) -> bytes:
        """Return the body's bytes if it is binary, else its encoded sections."""
        parts = [decode(section)[0] for section in values(self.body)]
        return b"".join(each.value for each in parts) if all(each.code == _DATA for each in parts) else self.body

    def with_application(self, added: Mapping[str, bytes]) -> Content:
        """Return a copy with more application properties, encoded."""
        return replace(self, application={**self.application, **added})

    def with_properties(self, properties: Mapping[str, bytes]) -> Content:
        """Return a copy with these application properties, encoded."""
        return replace(self, application=dict(properties))

    def with_field(self, name: str, value: str | None) -> Content:
        """Return a copy with another text in one of AMQP's properties; None for none."""
        fields = [*self.properties, *[e.NULL] * (len(_FIELDS) - len(self.properties))]
        fields[_FIELDS.index(name)] = e.NULL if value is None else e.string(value)
        return replace(self, properties=tuple(fields))

    def with_annotations(self, added: Mapping[str, bytes], *, without: Iterable[str] = ()) -> Content:
        """Return a copy with more annotations, encoded, and without some."""
        kept = {name: value for name, value in self.annotations.items() if name not in without}
        return replace(self, annotations={**kept, **added})

    def encode(
        self, *, delivery_count: int, annotations: Mapping[str, bytes], delivery: Mapping[str, bytes] | None = None
    ) -> bytes:
        """Encode the message for a receiver, with the broker's annotations and the delivery count."""
        durable, priority, ttl = (*self.header, *[e.NULL] * 3)[:3]
        default = e.ubyte(_DEFAULT_PRIORITY)
        head = [e.FALSE if durable == e.NULL else durable, default if priority == e.NULL else priority, ttl, e.NULL]
        header = e.described(_HEADER, e.sequence([*head, e.uint(delivery_count)]))
        delivered = _symbols(_DELIVERY, {**self.delivery, **(delivery or {})})
        noted = _symbols(_ANNOTATIONS, {**self.annotations, **annotations})
        properties = e.described(_PROPERTIES, e.sequence(self.properties))
        return header + delivered + noted + properties + self._application_section() + self.body + self.footer

    def _application_section(self) -> bytes:
        if not self.application:
            return b""
        return e.described(_APPLICATION, e.mapping((e.string(name), value) for name, value in self.application.items()))


def parse(data: bytes) -> Content:
    """Parse a message. One without a message id gets one, as Service Bus does.

    Raises:
        MalformedError: The bytes are not an AMQP message.
    """
    sections, body = _sections(data)
    properties = elements(_first(sections, _PROPERTIES)) or [e.NULL]
    noted = _named(_first(sections, _ANNOTATIONS))
    if properties[0] == e.NULL:
        properties[0] = e.string(uuid.uuid4().hex)
    for each in properties:
        decode(each)  # what the broker cannot read is refused here, and not when it is looked at
    return Content(
        header=tuple(elements(_first(sections, _HEADER))),
        delivery=_named(_first(sections, _DELIVERY)),
        annotations={name: noted[name] for name in noted if name not in _BROKER_ANNOTATIONS},
        properties=tuple(properties),
        application=_named(_first(sections, _APPLICATION)),
        body=body,
        footer=_first(sections, _FOOTER),
    )


def _sections(data: bytes) -> tuple[dict[int, list[bytes]], bytes]:
    """Split a message into its sections by descriptor, without the descriptors, and the body's sections with theirs."""
    sections: dict[int, list[bytes]] = {}
    body = b""
    for section in values(data):
        code, start = decode(section, 1)
        if section[0] != 0 or not isinstance(code, int):
            raise MalformedError(f"a message's section begins with {section[:4].hex(' ')}, which is no descriptor")
        if _DATA <= code < _FOOTER:
            body += section
        sections.setdefault(code, []).append(section if code == _FOOTER else section[start:])
    return sections, body


def _decoded(value: bytes) -> Any:
    try:
        return decode(value)[0]
    except MalformedError:
        return value


def _symbols(code: int, named: Mapping[str, bytes]) -> bytes:
    pairs = [(e.symbol(name), value) for name, value in named.items()]
    return e.described(code, e.mapping(pairs)) if pairs else b""


def _first(sections: Mapping[int, list[bytes]], code: int) -> bytes:
    return sections.get(code, [b""])[0]


def _named(section: bytes) -> dict[str, bytes]:
    flat = elements(section)
    return {str(decode(name)[0]): value for name, value in zip(flat[::2], flat[1::2], strict=True)}
