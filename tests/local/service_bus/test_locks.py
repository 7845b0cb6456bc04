"""Test locks on messages: duration, renewal and expiry."""

from __future__ import annotations

from datetime import timedelta

import pytest
from azure.servicebus import AutoLockRenewer
from azure.servicebus.exceptions import MessageLockLostError

from deadlines import eventually
from local.service_bus.bus import PATIENCE, RENEWED_SOON, Bus, client_of, orders, text
from local.service_bus.conftest import Serve

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links

HALF = timedelta(seconds=40)  # of a lock of 60 s, and some more


def test_a_message_whose_lock_runs_out_comes_again_and_counts(bus: Bus) -> None:
    bus.send("hello")
    bus.receive()

    bus.namespace.advance(timedelta(minutes=1))

    again = bus.receive()
    assert (text(again), again.delivery_count) == ("hello", 1)


def test_a_renewed_lock_lasts_longer(bus: Bus) -> None:
    bus.send("hello")
    message = bus.receive()

    bus.namespace.advance(HALF)
    bus.receiver().renew_message_lock(message)
    bus.namespace.advance(HALF)

    bus.receiver().complete_message(message)
    assert bus.namespace.queue("orders").depth().total == 0


def test_a_lost_lock_cannot_be_renewed(bus: Bus) -> None:
    bus.send("hello")
    message = bus.receive()
    bus.namespace.advance(timedelta(minutes=1))

    with pytest.raises(MessageLockLostError):
        bus.receiver().renew_message_lock(message)


def test_settling_with_a_lost_lock_changes_nothing(bus: Bus) -> None:
    bus.send("hello")
    message = bus.receive()
    bus.namespace.advance(timedelta(minutes=1))

    with pytest.raises(MessageLockLostError):
        bus.receiver().complete_message(message)

    assert [each.state for each in bus.namespace.queue("orders").messages()] == ["active"]


def test_a_lock_outlives_the_connection_on_which_it_was_got(dropping: Bus) -> None:
    dropping.send("hello")

    with client_of(dropping.namespace, retries=3) as client, client.get_queue_receiver("orders") as receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
        dropping.namespace.drop_connections()
        receiver.complete_message(message)

    assert dropping.namespace.queue("orders").depth().total == 0


def test_the_sdks_renewer_holds_a_message_beyond_its_lock(serve: Serve) -> None:
    bus = serve(orders(lock_duration=RENEWED_SOON))
    bus.send("hello")
    message = bus.receive()
    first = message.locked_until_utc

    with AutoLockRenewer() as renewer:
        renewer.register(bus.receiver(), message, max_lock_renewal_duration=PATIENCE)
        eventually(lambda: first is not None and (message.locked_until_utc or first) > first, "the lock is renewed")

    bus.receiver().complete_message(message)
    assert bus.namespace.queue("orders").depth().total == 0
