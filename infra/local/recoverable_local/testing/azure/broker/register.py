"""Which broker messages there ever were: each has an id from its send on, which it keeps when it is dead-lettered."""

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
    """The ids, and the contents that they stand for."""

    def __init__(self) -> None:
        self.contents: dict[str, Content] = {}

    def entered(self, content: Content) -> Content:
        """The content with its id, a new one if it has none."""
        if ID not in content.annotations:
            number = f"{len(self.contents) + 1:06}"
            content = content.with_annotations({ID: encoding.string(number)})
        self.contents[broker_id(content)] = content
        return content

    def message_id(self, of: str) -> str:
        """The message's id, given the broker's; what is no id of the broker's comes back as it is."""
        return message_id(self.contents[of]) if of in self.contents else of


def broker_id(content: Content) -> str:
    """The id of a message that was entered."""
    return str(decode(content.annotations[ID])[0])


def message_id(content: Content) -> str:
    """The id that stays the same over copies."""
    carried = texts(properties_of(content)).get(headers.MESSAGE_ID)
    return carried or str(content.value_of("message_id"))
