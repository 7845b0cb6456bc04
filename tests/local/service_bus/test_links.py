"""Test links that end while messages on them are locked or prefetched."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from azure.servicebus.exceptions import MessageLockLostError, MessagingEntityDisabledError, ServiceBusError

from deadlines import eventually
from local.service_bus.bus import PATIENCE, Bus, bodies, text
from recoverable_local.service_bus import Depth

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links


def test_what_was_got_on_a_link_that_has_ended_can_be_settled_without_it(bus: Bus) -> None:
    bus.send("hello")
    with bus.receiver(prefetch_count=0) as receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
        handler: Any = receiver._handler
        handler._link.detach()

        receiver.complete_message(message)

    assert bus.namespace.queue("orders").depth() == Depth()


def test_a_message_of_a_closed_receiver_stays_locked(bus: Bus) -> None:
    bus.send("hello")
    with bus.receiver(prefetch_count=0) as receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)

    with pytest.raises(ValueError, match="shutdown"):
        receiver.complete_message(message)
    assert bus.namespace.queue("orders").depth() == Depth(locked=1)


def test_what_was_fetched_ahead_too_long_ago_cannot_be_settled_and_comes_again_counted(bus: Bus) -> None:
    bus.send("first", "second")
    with bus.receiver(prefetch_count=2) as receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
        receiver.complete_message(message)
        eventually(lambda: bus.namespace.queue("orders").depth() == Depth(locked=1), "the other is fetched")
        bus.namespace.advance(timedelta(minutes=1))
        (stale,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
        with pytest.raises(MessageLockLostError):
            receiver.complete_message(stale)

    (seen,) = bus.namespace.queue("orders").messages()
    assert (text(stale), stale.delivery_count, seen.delivery_count) == ("second", 0, 1)


def test_many_hundred_messages_come_through_one_link(bus: Bus) -> None:
    """More than the link's first credit and than the windows that peers grant at once."""
    for _ in range(3):
        bus.send(*(str(number) for number in range(700)))
    came = 0

    with bus.receiver(prefetch_count=100) as receiver:
        while came < 2_100 and (messages := receiver.receive_messages(500, max_wait_time=PATIENCE)):
            came += len(messages)
            for message in messages:
                receiver.complete_message(message)

    assert (came, bus.namespace.queue("orders").depth()) == (2_100, Depth())


def test_a_disabled_queue_ends_its_open_links_until_it_is_enabled(bus: Bus) -> None:
    bus.send("before")
    bus.namespace.disable("orders")
    with pytest.raises(ServiceBusError):  # the SDK knows only that its link has ended
        bus.send("meanwhile")
    with pytest.raises(MessagingEntityDisabledError, match="'orders' is currently disabled"):
        bus.send("meanwhile")
    bus.namespace.enable("orders")
    bus.send("after")

    assert bodies(bus.namespace.queue("orders").messages()) == ["before", "after"]
