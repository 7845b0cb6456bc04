"""Messages from sender to receiver, and what receivers do with them, through the real SDK."""

from __future__ import annotations

from typing import Any

from local.service_bus.bus import Bus, properties, text
from recoverable.local.service_bus import Depth


def test_what_is_sent_is_received(bus: Bus) -> None:
    given: dict[str, Any] = {
        "message_id": "42", "session_id": None, "correlation_id": "c", "subject": "s", "content_type": "text/plain",
        "to": "t", "reply_to": "r",
    }  # fmt: skip
    bus.send("hello", application_properties={"tenant": "north", "size": 3, "vip": True}, **given)

    message = bus.receive()

    assert {name: getattr(message, name) for name in given} == given
    assert (text(message), properties(message), message.delivery_count) == (
        "hello",
        {"tenant": "north", "size": 3, "vip": True},
        0,
    )


def test_a_completed_message_is_gone(bus: Bus) -> None:
    bus.send("hello")

    bus.receiver().complete_message(bus.receive())

    assert bus.namespace.queue("orders").depth() == Depth()
