"""Keep in a header of an error copy what a retry of ServiceControl loses of a message on Service Bus, and restore it when that sends it back.

NServiceBus.Transport.AzureServiceBus makes a text of each property, and sends on no other field than content type, correlation id and reply-to.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recoverable.headers import FOLDED

if TYPE_CHECKING:
    from collections.abc import Mapping

LOST = ("partition_key", "reply_to", "reply_to_session_id", "session_id", "subject", "to")
"""The text fields that are lost, or may be."""

LONGEST_FIELD = 128
"""Characters of a session or a partition key (Service Bus quotas); also of a field that is restored, because a sender may write this header."""


class MessageWithFields:
    """A message of the trigger of which some fields are others.

    Args:
        native: the message.
        fields: the fields that are others.
    """

    __slots__ = ("_fields", "_native")

    def __init__(self, native: Any, fields: Mapping[str, Any]) -> None:
        self._native, self._fields = native, fields

    def __getattr__(self, name: str) -> Any:
        return self._fields[name] if name in self._fields else getattr(self._native, name)


def lost_in_header(native: Any, properties: Mapping[str, Any]) -> dict[str, str]:
    """Return the header that keeps the properties that are no texts, and the fields; none where there are none."""
    typed = {name: value for name, value in properties.items() if not isinstance(value, str)}
    fields = {name: text for name in LOST if (text := getattr(native, name))}
    return {FOLDED: json.dumps({"properties": typed, "fields": fields})} if typed or fields else {}


def with_lost(native: Any, properties: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return a message and its properties with those that a header keeps.

    A property or field of the message itself wins, but for a text that .NET made of a property: that one gets its type
    back, unless an operator edited it. A header of another form stays as it is.
    """
    try:
        match json.loads(str(properties.get(FOLDED))):
            case {"properties": dict(typed), "fields": dict(fields)}:
                pass
            case _:
                return native, properties
    except (ValueError, RecursionError):
        return native, properties
    others = {name: value for name, value in properties.items() if name != FOLDED}
    own = {
        name: value for name, value in typed.items() if is_text_of(others.get(name, ""), value) or name not in others
    }
    absent = {
        name: text for name, text in fields.items() if name in LOST and not getattr(native, name) and is_field(text)
    }
    every = others | own
    return MessageWithFields(native, {**absent, "application_properties": every, "user_properties": every}), every


def is_text_of(text: object, value: object) -> bool:
    """True if a text says the value as .NET writes it: `True`, a number, or nothing for null."""
    if not isinstance(text, str):
        return False
    if isinstance(value, bool) or value is None:
        return text == ("" if value is None else str(value))
    try:
        return isinstance(value, int | float) and type(value)(text) == value
    except ValueError:
        return False


def is_field(text: object) -> bool:
    """True if Service Bus takes the text as each of the fields."""
    return isinstance(text, str) and 0 < len(text) <= LONGEST_FIELD
