"""Test sessions: acceptance, lock and state."""

from __future__ import annotations

from datetime import timedelta

import pytest
from azure.servicebus import NEXT_AVAILABLE_SESSION
from azure.servicebus.exceptions import (
    OperationTimeoutError,
    ServiceBusError,
    SessionCannotBeLockedError,
    SessionLockLostError,
)

from local.service_bus.bus import PATIENCE, Bus, bodies, orders, several, text
from local.service_bus.conftest import Serve

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links


@pytest.fixture
def bus(serve: Serve) -> Bus:
    return serve(orders(requires_session=True))


def test_a_receiver_gets_the_messages_of_its_session_alone(bus: Bus) -> None:
    bus.send("a1", session_id="a")
    bus.send("b1", session_id="b")
    bus.send("a2", session_id="a")

    with bus.receiver(session_id="a") as receiver:
        came = several(receiver, 2)

    assert [(text(message), message.session_id) for message in came] == [("a1", "a"), ("a2", "a")]


def test_the_holder_of_a_session_looks_into_it_alone(bus: Bus) -> None:
    bus.send("b1", session_id="b")
    bus.send("a1", session_id="a")

    with bus.receiver(session_id="a") as receiver:
        assert [text(message) for message in receiver.peek_messages(5)] == ["a1"]


def test_who_asks_for_any_session_gets_the_longest_waiting_free_one(bus: Bus) -> None:
    bus.send("a1", session_id="a")
    bus.send("b1", session_id="b")

    with (
        bus.receiver(session_id=NEXT_AVAILABLE_SESSION) as first,
        bus.receiver(session_id=NEXT_AVAILABLE_SESSION) as second,
    ):
        assert (first.session.session_id, second.session.session_id) == ("a", "b")


def test_who_asks_for_any_session_in_vain_hears_so_in_time(bus: Bus) -> None:
    receiver = bus.receiver(session_id=NEXT_AVAILABLE_SESSION, max_wait_time=1)

    with pytest.raises(OperationTimeoutError), receiver:
        pass


def test_a_session_has_one_holder(bus: Bus) -> None:
    with bus.receiver(session_id="a"), pytest.raises(SessionCannotBeLockedError), bus.receiver(session_id="a"):
        pass


def test_a_session_that_is_let_go_can_be_taken_again_and_its_messages_come_uncounted(bus: Bus) -> None:
    bus.send("hello", session_id="a")
    with bus.receiver(session_id="a") as receiver:
        receiver.receive_messages(1, max_wait_time=PATIENCE)

    with bus.receiver(session_id="a") as receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)

    assert (text(message), message.delivery_count) == ("hello", 0)


def test_a_session_whose_lock_runs_out_is_lost_with_its_messages_which_count(bus: Bus) -> None:
    bus.send("hello", session_id="a")
    with bus.receiver(session_id="a") as receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
        bus.namespace.advance(timedelta(minutes=1))
        with pytest.raises(SessionLockLostError):
            receiver.complete_message(message)

    (seen,) = bus.namespace.queue("orders").messages()
    assert (seen.state, seen.delivery_count) == ("active", 1)


def test_a_renewed_session_lasts_longer_and_so_do_its_messages(bus: Bus) -> None:
    bus.send("hello", session_id="a")
    with bus.receiver(session_id="a") as receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
        for _ in range(3):
            bus.namespace.advance(timedelta(seconds=40))
            receiver.session.renew_lock()
        receiver.complete_message(message)

    assert bus.namespace.queue("orders").messages() == []


def test_an_abandoned_message_comes_next_so_the_order_is_kept(bus: Bus) -> None:
    bus.send("first", "second", session_id="a")

    with bus.receiver(session_id="a") as receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
        receiver.abandon_message(message)
        (again,) = receiver.receive_messages(1, max_wait_time=PATIENCE)

    assert (text(again), again.delivery_count) == ("first", 1)


def test_a_sessions_state_stays(bus: Bus) -> None:
    with bus.receiver(session_id="a") as receiver:
        receiver.session.set_state("halfway")
    with bus.receiver(session_id="a") as receiver:
        states: list[bytes | None] = [receiver.session.get_state()]
        receiver.session.set_state(None)
        states.append(receiver.session.get_state())

    assert states == [b"halfway", None]


def test_deferred_messages_of_a_session_come_to_its_holder(bus: Bus) -> None:
    bus.send("hello", session_id="a")

    with bus.receiver(session_id="a") as receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
        receiver.defer_message(message)
        (again,) = receiver.receive_deferred_messages(message.sequence_number or 0)
        receiver.complete_message(again)

    assert (text(again), bus.namespace.queue("orders").messages()) == ("hello", [])


def test_a_dead_letter_leaves_its_session(bus: Bus) -> None:
    bus.send("hello", session_id="a")

    with bus.receiver(session_id="a") as receiver:
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
        receiver.dead_letter_message(message, reason="Rejected")

    with bus.receiver(sub_queue="deadletter") as receiver:
        (letter,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
    assert (text(letter), letter.session_id) == ("hello", "a")


def test_a_message_without_a_session_is_refused(bus: Bus) -> None:
    with pytest.raises(ServiceBusError, match="The SessionId was not set"):
        bus.send("hello")


def test_a_receiver_without_a_session_is_refused(bus: Bus) -> None:
    with pytest.raises(ServiceBusError, match="requires sessions"):
        bus.receive()


def test_a_queue_without_sessions_refuses_receivers_of_one(serve: Serve) -> None:
    bus = serve(orders())
    bus.send("hello", session_id="a")

    with pytest.raises(ServiceBusError, match="has no sessions"), bus.receiver(session_id="a"):
        pass

    assert bodies(bus.namespace.queue("orders").messages()) == ["hello"]
