"""Parse the address of a Service Bus entity: namespace, queue or subscription, and its dead letters. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from recoverable._service_bus.app_settings import is_connection_string, shown
from recoverable_operate.errors._queue import OperateError

DEAD_LETTERS = "/$deadletterqueue"
SUBSCRIPTIONS = "/subscriptions/"
DOMAIN = ".servicebus.windows.net"


@dataclass(frozen=True, slots=True)
class Entity:
    """A queue or a subscription, or its dead-letter subqueue.

    Args:
        namespace: the fully qualified name of its namespace.
        path: the name of the queue, or `topic/subscriptions/name`.
        dead_letters: True for its dead-letter subqueue.
    """

    namespace: str
    path: str
    dead_letters: bool

    @property
    def subscription(self) -> tuple[str, str] | None:
        """Return topic and name of a subscription; None for a queue."""
        topic, found, name = self.path.partition(SUBSCRIPTIONS)
        return (topic, name) if found else None

    @property
    def address(self) -> str:
        """Return the full address."""
        tail = DEAD_LETTERS if self.dead_letters else ""
        return f"sb://{self.namespace}/{self.path}{tail}"


def entity_of(address: str) -> Entity:
    """Return the entity of an address such as `sb://shop.servicebus.windows.net/orders-error`.

    Raises:
        OperateError: it is none.
    """
    namespace, _, path = address.removeprefix("sb://").strip("/").lower().partition("/")
    dead_letters = path.endswith(DEAD_LETTERS)
    path = path.removesuffix(DEAD_LETTERS)
    if not namespace or not path or "$" in path or is_connection_string(address):
        raise OperateError(
            f"{shown(address)} is no queue; write sb://NAMESPACE/QUEUE, sb://NAMESPACE/QUEUE/$deadletterqueue, "
            "or sb://NAMESPACE/TOPIC/subscriptions/NAME/$deadletterqueue"
        )
    named = namespace if "." in namespace or ":" in namespace or namespace == "localhost" else namespace + DOMAIN
    return Entity(named, path, dead_letters)
