"""Check messages against the size limits of Service Bus. All are in bytes, from "Service Bus quotas"."""

from __future__ import annotations

from recoverable_local.service_bus.broker.holding.content import Content
from recoverable_local.service_bus.broker.refusals import bad_argument, internal_error, too_large

MAX_MESSAGE = 256 * 1024  # Basic and Standard
MAX_PROPERTY = 32 * 1024
MAX_PROPERTIES = 64 * 1024
MAX_MESSAGE_ID = 128  # characters


def check_size(size: int, *, most: int) -> None:
    """Check the size of a message or a batch.

    Raises:
        RefusedError: It is too large.
    """
    if size > most:
        raise too_large(size, most)


def check_content(content: Content) -> None:
    """Check the sizes of a message's properties and id.

    Raises:
        RefusedError: One of them is too large.
    """
    for name, value in content.application.items():
        if len(value) > MAX_PROPERTY:
            raise internal_error(f"the property '{name}' takes {len(value)} bytes; {MAX_PROPERTY} are allowed")
    total = sum(len(name.encode()) + len(value) for name, value in content.application.items())
    total += sum(len(value) for value in content.properties)
    if total > MAX_PROPERTIES:
        raise bad_argument(f"The properties take {total} bytes together; {MAX_PROPERTIES} are allowed.")
    length = len(str(content.value_of("message_id")))
    if length > MAX_MESSAGE_ID:
        raise bad_argument(f"The message id has {length} characters; {MAX_MESSAGE_ID} are allowed.")
