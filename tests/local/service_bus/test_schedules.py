"""Test scheduled messages, and messages with a time to live."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from azure.servicebus import ServiceBusMessage, ServiceBusMessageState
from azure.servicebus.exceptions import MessageNotFoundError

from local.service_bus.bus import Bus, bodies, orders, text
from local.service_bus.conftest import Serve
from recoverable_local.service_bus import Depth

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links

HOUR = timedelta(hours=1)


def in_an_hour() -> datetime:
    return datetime.now(UTC) + HOUR


@pytest.mark.parametrize("by_operation", [True, False], ids=["by its operation", "by the message's own field"])
def test_a_scheduled_message_comes_at_its_time_with_a_number_of_its_own(bus: Bus, *, by_operation: bool) -> None:
    if by_operation:
        assert bus.sender().schedule_messages(ServiceBusMessage("later"), in_an_hour()) == [1]
    else:
        bus.send("later", scheduled_enqueue_time_utc=in_an_hour())

    assert (bus.nothing_comes(), bus.namespace.queue("orders").depth()) == (True, Depth(scheduled=1))
    bus.pass_time(HOUR + timedelta(seconds=1))
    message = bus.receive()
    assert (text(message), message.sequence_number) == ("later", 2)


def test_a_scheduled_message_comes_without_being_asked_for(bus: Bus) -> None:
    bus.send("soon", scheduled_enqueue_time_utc=datetime.now(UTC) + timedelta(seconds=1))

    assert text(bus.receive()) == "soon"


def test_a_received_message_can_be_scheduled_again(bus: Bus) -> None:
    bus.send("hello", subject="placed")
    message = bus.receive()
    when = in_an_hour().replace(microsecond=0)
    bus.sender().schedule_messages([message], when)
    bus.receiver().complete_message(message)

    bus.pass_time(HOUR + timedelta(seconds=1))

    again = bus.receive()
    assert (text(again), again.subject, again.scheduled_enqueue_time_utc) == ("hello", "placed", when)


def test_who_looks_sees_scheduled_and_deferred_messages_as_such(bus: Bus) -> None:
    bus.send("deferred")
    bus.receiver().defer_message(bus.receive())
    bus.sender().schedule_messages(ServiceBusMessage("scheduled"), in_an_hour())

    seen = {text(message): message.state for message in bus.receiver().peek_messages(5, sequence_number=1)}

    assert seen == {"deferred": ServiceBusMessageState.DEFERRED, "scheduled": ServiceBusMessageState.SCHEDULED}


def test_a_cancelled_message_never_comes(bus: Bus) -> None:
    numbers = bus.sender().schedule_messages([ServiceBusMessage("a"), ServiceBusMessage("b")], in_an_hour())
    bus.sender().cancel_scheduled_messages(numbers[0])

    bus.namespace.advance(2 * HOUR)

    assert bodies(bus.namespace.queue("orders").messages()) == ["b"]


def test_messages_are_cancelled_all_or_none(bus: Bus) -> None:
    (number,) = bus.sender().schedule_messages(ServiceBusMessage("a"), in_an_hour())

    with pytest.raises(MessageNotFoundError):
        bus.sender().cancel_scheduled_messages([number, 99])

    assert bus.namespace.queue("orders").depth() == Depth(scheduled=1)


def test_a_message_is_gone_after_its_time_to_live(bus: Bus) -> None:
    bus.send("brief", time_to_live=timedelta(minutes=1))

    bus.namespace.advance(timedelta(minutes=2))

    assert bus.namespace.queue("orders").depth() == Depth()


def test_the_queues_time_to_live_limits_that_of_its_messages(serve: Serve) -> None:
    bus = serve(orders(default_message_time_to_live=timedelta(minutes=1)))
    bus.send("long", time_to_live=HOUR)
    bus.send("without")

    bus.namespace.advance(timedelta(minutes=2))

    assert bus.namespace.queue("orders").depth() == Depth()


def test_what_expires_is_dead_lettered_when_the_queue_is_set_so(serve: Serve) -> None:
    bus = serve(orders(dead_lettering_on_message_expiration=True))
    bus.send("brief", time_to_live=timedelta(minutes=1))

    bus.namespace.advance(timedelta(minutes=2))

    (letter,) = bus.namespace.queue("orders").dead_letters()
    assert letter.application_properties["DeadLetterReason"] == "TTLExpiredException"


def test_the_time_to_live_does_not_run_out_under_a_lock_but_as_soon_as_it_ends(bus: Bus) -> None:
    bus.send("brief", time_to_live=timedelta(seconds=30))
    message = bus.receive()

    bus.namespace.advance(timedelta(seconds=40))

    assert bus.namespace.queue("orders").depth() == Depth(locked=1)
    bus.receiver().abandon_message(message)
    assert bus.namespace.queue("orders").depth() == Depth()
