"""Define what a message of Service Bus holds, and how large it may be. Pure, but for the SDK's class."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from recoverable.headers import sendable

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusMessage

MAX_PROPERTY = 30_719
"""Bytes of a header that can be trimmed: Service Bus takes 32,767 a property, of which NServiceBus.Transport.AzureServiceBus
keeps 2,048 free."""

MAX_PROPERTIES = 61_440
"""Bytes of all properties: Service Bus takes 64 KB with its own (Service Bus quotas), for which 4 KB are kept."""

LARGEST_PROPERTY, LARGEST_PROPERTIES = 32_768, 65_536
"""Bytes of a property, and of all properties with their names and the message's own fields, that Service Bus takes (Service Bus quotas)."""

TEXT_PREFIX = 5
"""Bytes in front of a text on the wire (AMQP 1.0, str32-utf8)."""

EPOCH, MILLISECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(milliseconds=1)

SMALLEST_LONG, SMALLEST_INT, LARGEST_INT, LARGEST_LONG, LARGEST_ULONG = (
    -(2**63), -(2**31), 2**31 - 1, 2**63 - 1, 2**64 - 1,
)  # fmt: skip


class Copy(NamedTuple):
    """A message to send.

    Args:
        of: the id of the message that it is of.
        to: its queue or topic.
        fields: the arguments of azure.servicebus.ServiceBusMessage.
        trims: how the names of properties begin that it can go without, in the order in which they are left out.
    """

    of: str
    to: str
    fields: dict[str, Any]
    trims: tuple[str, ...] = ()

    @property
    def properties(self) -> dict[str, Any]:
        """Return the application properties."""
        properties: dict[str, Any] = self.fields["application_properties"]
        return properties


def origin_of(broker_id: str, enqueued_at: datetime | None) -> str:
    """Return which message an original was, in one form for triggers of one and of many messages.

    Sequence numbers alone do not say it: those of a queue that is made anew begin at 1 again.

    Args:
        broker_id: its sequence number; its MessageId where the host gives no number.
        enqueued_at: when Service Bus took it, with a zone.
    """
    return f"{broker_id}@{(enqueued_at - EPOCH) // MILLISECOND}" if broker_id and enqueued_at else broker_id


def sdk_message(copy: Copy) -> ServiceBusMessage:
    """Return the copy as a message of azure-servicebus."""
    from azure.servicebus import ServiceBusMessage

    return ServiceBusMessage(**copy.fields)


def smaller(copy: Copy) -> Copy | None:
    """Return the copy without the property that it can go without next; None when it has none."""
    for beginning in copy.trims:
        kept = {name: value for name, value in copy.properties.items() if not name.startswith(beginning)}
        if len(kept) < len(copy.properties):
            return copy._replace(fields=copy.fields | {"application_properties": kept})
    return None


def check_properties(call: str, fields: Mapping[str, Any]) -> None:
    """Check what a handler sends against what Service Bus takes, which answers to it only by an error of its own.

    Args:
        call: the handler's, for the error.
        fields: the message's, with the headers of this package among its properties.

    Raises:
        ValueError: a property, or all of them, are too large.
    """
    properties = fields["application_properties"]
    own = [value for name, value in fields.items() if name not in ("application_properties", "body")]
    sizes = {f"the property {name!r}": TEXT_PREFIX + weight([value]) for name, value in properties.items()}
    total = weight((*properties, *own)) + sum(sizes.values()) + TEXT_PREFIX * len(own)
    for what, size in {**sizes, "properties and headers": total}.items():
        if size > (most := LARGEST_PROPERTY if what in sizes else LARGEST_PROPERTIES):
            raise ValueError(f"{call} has {what} of {size:,} bytes; Service Bus takes {most:,}: put some into the body")


def changed(properties: Mapping[str, Any], changes: Mapping[str, str | None]) -> dict[str, Any]:
    """Return the properties with the headers changed; the user's keep value and type."""
    kept = {name: typed(value) for name, value in properties.items() if name not in changes}
    return sendable(kept | {name: text for name, text in changes.items() if text is not None})


def typed(value: Any) -> Any:
    """Return the value so that azure-servicebus sends it with its AMQP type.

    An integer that does not fit 32 bits must name its type.
    """
    match value:
        case str() | bool() | float() | None:
            return value
        case int() if SMALLEST_INT <= value <= LARGEST_INT:
            return value
        case int() if SMALLEST_LONG <= value <= LARGEST_LONG:
            return {"TYPE": "LONG", "VALUE": value}
        case int() if LARGEST_LONG < value <= LARGEST_ULONG:
            return {"TYPE": "ULONG", "VALUE": value}
        case _:
            return json.dumps(value)  # no AMQP property has such a value: a text, so that there is a copy


def in_milliseconds(moment: datetime) -> datetime:
    """Return the moment rounded up to AMQP's milliseconds: the SDK rounds down, which would end a delay too early."""
    return moment + timedelta(microseconds=-moment.microsecond % 1000)


def weight(values: Iterable[object]) -> int:
    """Return the bytes of texts and bytes; 16 for each other value, which is the most that it can have."""
    texts = (value.encode(errors="replace") if isinstance(value, str) else value for value in values)
    return sum(len(text) if isinstance(text, bytes) else 16 for text in texts)


def excess(copy: Copy, others: Iterable[str]) -> int:
    """Return how many bytes the properties of a copy have above what Service Bus takes, with its further texts."""
    properties = copy.properties
    return weight(others) + weight(properties) + weight(properties.values()) - MAX_PROPERTIES


def fit(copy: Copy, others: Iterable[str]) -> None:
    """Trim the properties that a copy can go without to what Service Bus takes, each and all together.

    Args:
        copy: the copy.
        others: its further texts, which share the room of the properties.
    """
    properties = copy.properties
    for name, value in properties.items():
        if name.startswith(copy.trims) and isinstance(value, str):
            properties[name] = cut(value, MAX_PROPERTY)
    left = excess(copy, others)
    for beginning in copy.trims:
        for name in [name for name in properties if name.startswith(beginning)]:
            if left > 0:
                left -= shorten(properties, name, left)


def add_where_room(copy: Copy, properties: Mapping[str, str], others: Iterable[str]) -> None:
    """Add properties to a copy that Service Bus then still takes; else add none.

    Args:
        copy: the copy, which fits.
        properties: the further properties.
        others: as for `fit`.
    """
    fits = all(weight([text]) <= MAX_PROPERTY for text in properties.values())
    if fits and excess(copy, (*others, *properties, *properties.values())) <= 0:
        copy.properties.update(properties)


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
