"""Trim the fault headers of a copy to what Service Bus takes. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from recoverable._ladder.faults import FIRST_TO_TRIM

MAX_PROPERTY = 30_719
"""Bytes of a fault header: Service Bus takes 32,767 a property, of which NServiceBus.Transport.AzureServiceBus keeps
2,048 free."""


def weight(values: Iterable[object]) -> int:
    """Return the bytes of the texts; 16 for each other value, which is the most that it can have."""
    return sum(len(value.encode(errors="replace")) if isinstance(value, str) else 16 for value in values)


def fit(properties: dict[str, Any], room: int) -> None:
    """Trim the fault headers to what Service Bus takes, each and all together; the stack trace first."""
    for name, value in properties.items():
        if name.startswith(FIRST_TO_TRIM) and isinstance(value, str):
            properties[name] = cut(value, MAX_PROPERTY)
    excess = weight(properties) + weight(properties.values()) - room
    for beginning in FIRST_TO_TRIM:
        for name in [name for name in properties if name.startswith(beginning)]:
            if excess > 0:
                excess -= shorten(properties, name, excess)


def shorten(properties: dict[str, Any], name: str, by: int) -> int:
    """Cut so many bytes off a property, remove it when it gets empty, and return how many bytes fewer there are."""
    before = weight([properties[name]])
    properties[name] = cut(str(properties[name]), before - by)
    if properties[name]:
        return before - weight([properties[name]])
    del properties[name]
    return before + weight([name])


def cut(text: str, size: int) -> str:
    """Return the text's first so many bytes, without a character that is cut in two."""
    return text.encode()[: max(size, 0)].decode(errors="ignore")
