"""Test many sessions at once: listed, distributed to receivers, scheduled, and held for a long time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from azure.servicebus import NEXT_AVAILABLE_SESSION, AutoLockRenewer, ServiceBusMessage, ServiceBusReceiveMode

from deadlines import eventually
from local.service_bus.bus import PATIENCE, RENEWED_SOON, Bus, orders, several, text
from local.service_bus.conftest import Serve
from recoverable_local.service_bus import Depth

pytestmark = pytest.mark.slow  # the SDK takes a second to open and close its links


@pytest.fixture
def bus(serve: Serve) -> Bus:
    return serve(orders(requires_session=True))


def test_sessions_with_messages_or_a_state_are_listed(bus: Bus) -> None:
    bus.send("hello", session_id="a")
    with bus.receiver(session_id="b") as receiver:
        receiver.session.set_state("halfway")

    assert list(bus.client.list_queue_sessions("orders")) == ["a", "b"]


def test_sessions_whose_state_has_changed_since_a_time_are_listed(bus: Bus) -> None:
    with bus.receiver(session_id="old") as receiver:
        receiver.session.set_state("halfway")
    bus.namespace.advance(timedelta(hours=2))
    bus.send("hello", session_id="without a state")
    with bus.receiver(session_id="new") as receiver:
        receiver.session.set_state("halfway")

    since = datetime.now(UTC) + timedelta(hours=1)
    assert list(bus.client.list_queue_sessions("orders", state_updated_after=since)) == ["new"]


def test_messages_of_a_session_are_scheduled_and_cancelled(bus: Bus) -> None:
    later = [ServiceBusMessage(body, session_id="a") for body in ("first", "second")]
    first, _ = bus.sender().schedule_messages(later, datetime.now(UTC) + timedelta(hours=1))
    bus.sender().cancel_scheduled_messages(first)
    bus.namespace.advance(timedelta(hours=2))

    with bus.receiver(session_id="a") as receiver:
        (came,) = receiver.receive_messages(1, max_wait_time=PATIENCE)

    assert (text(came), bus.namespace.queue("orders").depth().total) == ("second", 1)


def test_a_session_can_be_received_and_deleted(bus: Bus) -> None:
    bus.send("first", "second", session_id="a")

    with bus.receiver(session_id="a", receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE) as receiver:
        came = several(receiver, 2)

    assert ([text(message) for message in came], bus.namespace.queue("orders").depth()) == (
        ["first", "second"],
        Depth(),
    )


def test_receivers_of_any_session_share_all_sessions(bus: Bus) -> None:
    for name in "abc":
        bus.send(f"{name}1", f"{name}2", session_id=name)

    def share() -> list[str]:
        with bus.receiver(session_id=NEXT_AVAILABLE_SESSION, max_wait_time=PATIENCE) as receiver:
            messages = several(receiver, 2)
            for message in messages:
                receiver.complete_message(message)
            return [text(message) for message in messages]

    with ThreadPoolExecutor() as beside:
        came = sorted(each.result() for each in [beside.submit(share) for _ in "abc"])

    assert came == [["a1", "a2"], ["b1", "b2"], ["c1", "c2"]]


def test_the_sdks_renewer_holds_a_session_beyond_its_lock(serve: Serve) -> None:
    bus = serve(orders(requires_session=True, lock_duration=RENEWED_SOON))
    bus.send("hello", session_id="a")

    with AutoLockRenewer() as renewer, bus.receiver(session_id="a") as receiver:
        first: Any = receiver.session.locked_until_utc
        renewer.register(receiver, receiver.session, max_lock_renewal_duration=PATIENCE)
        eventually(lambda: receiver.session.locked_until_utc != first, "the session's lock is renewed")
        (message,) = receiver.receive_messages(1, max_wait_time=PATIENCE)
        receiver.complete_message(message)

    assert bus.namespace.queue("orders").depth() == Depth()
