"""Give each broker message an id when it is sent; it keeps the id when it is dead-lettered."""

from __future__ import annotations

from recoverable import headers
from recoverable.headers import texts
from recoverable_local.service_bus.amqp import encoding
from recoverable_local.service_bus.amqp.decoding import decode
from recoverable_local.service_bus.broker.holding.content import Content
from recoverable_local.testing.azure.broker.contents import properties_of

ID = "x-opt-recoverable-world"
"""The annotation that has it; Service Bus's own sequence numbers change when a message is scheduled or forwarded."""


class Register:
    """All broker messages that were ever sent, by their ids."""

    def __init__(self) -> None:
        self.contents: dict[str, Content] = {}

    def with_id(self, content: Content, *, anew: bool = False) -> Content:
        """Return the content with its id; a new id if it has none, or if it is a copy that a subscription gets anew."""
        if anew or ID not in content.annotations:
            number = f"{len(self.contents) + 1:06}"
            content = content.with_annotations({ID: encoding.string(number)})
        self.contents[broker_id(content)] = content
        return content

    def message_id(self, of: str) -> str:
        """Return the message's id, given the broker's; any other text is returned as it is."""
        return message_id(self.contents[of]) if of in self.contents else of


def broker_id(content: Content) -> str:
    """Return the id that `Register.with_id` gave."""
    return str(decode(content.annotations[ID])[0])


def message_id(content: Content) -> str:
    """Return the id that stays the same over copies."""
    carried = texts(properties_of(content)).get(headers.MESSAGE_ID)
    return carried or str(content.value_of("message_id"))
