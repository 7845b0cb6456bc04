"""What Service Bus and senders can do to a message on its way through the ladder: it is processed, or it ends in the error queue."""

from __future__ import annotations

import socket
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from azure.servicebus import ServiceBusReceiver
from azure.servicebus.exceptions import MessageLockLostError, ServiceBusServerBusyError, SessionLockLostError

from azure.namespace import BRIEF, SESSIONS, SETTING, Bus, called
from azure.sdk_versions import settlements_are_answered
from builders import ERROR_QUEUE, QUEUE, Boom, recoverability, seconds
from deadlines import DEADLINE
from recoverable import Message, Recoverability
from recoverable._ladder.faults import EXCEPTION_TYPE, FAILED_QUEUE
from recoverable.azure import CopyNotSent, ServiceBusEndpoint
from recoverable.headers import DELAYED_RETRIES, DELAYED_RETRY_AT, DUE_AT, PRIOR_ATTEMPTS
from recoverable_local.service_bus import Operation

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service_bus")]

LOCK = timedelta(minutes=1)


class Orders:
    """A handler that notes rounds and attempts, lets something happen, and fails by default."""

    def __init__(self, meanwhile: Callable[[], None] = lambda: None, *, fails: bool = True) -> None:
        self.seen: list[tuple[int, int]] = []
        self._meanwhile, self._fails = meanwhile, fails

    def __call__(self, message: Message) -> None:
        self.seen.append((message.round, message.attempt))
        self._meanwhile()
        if self._fails:
            raise Boom("it broke")


def endpoint(handler: Any, settings: Recoverability | None = None, **parts: Any) -> ServiceBusEndpoint[Any]:
    """Return an endpoint without retries, with a client of its own."""
    return ServiceBusEndpoint(
        handler,
        settings or recoverability(0, 0),
        **{"queue": QUEUE, "connection": SETTING, "resend_for": seconds(0), **parts},
    )


def served(receiver: ServiceBusReceiver, serving: ServiceBusEndpoint[Any]) -> type[BaseException] | None:
    """Be a host for one message; gives why it could not be settled."""
    [message] = receiver.receive_messages(1, max_wait_time=DEADLINE)
    error = called(serving, [message], batch=False)
    try:
        (receiver.complete_message if error is None else receiver.abandon_message)(message)
    except (MessageLockLostError, SessionLockLostError) as lost:
        return type(lost)
    return None


def once(act: Callable[[], None]) -> Callable[[], None]:
    """Return a function that raises the first time alone."""
    waiting = [act]
    return lambda: waiting.pop()() if waiting else None


def bodies(bus: Bus, queue: str) -> list[bytes]:
    return [each.body for each in bus.seen(queue)]


STRANGE: dict[str, Any] = {
    "a number": 1,
    "a negative number": -1,
    "a fraction": 1.5,
    "a truth": True,
    "no number": "one",
    "a large number": {"TYPE": "LONG", "VALUE": 2**40},
}


def test_headers_that_are_no_texts_do_not_make_a_message_retry_for_ever(bus: Bus) -> None:
    headers = (DELAYED_RETRIES, PRIOR_ATTEMPTS, DELAYED_RETRY_AT, DUE_AT, FAILED_QUEUE)
    for name, value in STRANGE.items():
        bus.send(name, application_properties=dict.fromkeys(headers, value))
    orders = Orders()

    bus.serve(
        endpoint(orders, recoverability(1, 1, time_increase=seconds(0.1))),
        lambda: len(bus.seen(ERROR_QUEUE)) == len(STRANGE),
    )

    assert sorted(bodies(bus, ERROR_QUEUE)) == sorted(name.encode() for name in STRANGE)
    assert {each.application_properties[FAILED_QUEUE] for each in bus.seen(ERROR_QUEUE)} == {QUEUE}
    assert len(orders.seen) <= 4 * len(STRANGE)


@settlements_are_answered
def test_a_lock_that_ends_while_the_handler_works_costs_one_run_and_no_copy(bus: Bus) -> None:
    bus.send("order 42")
    orders = Orders(once(lambda: bus.namespace.advance(LOCK)))
    failing = endpoint(orders)

    with bus.client.get_queue_receiver(QUEUE) as receiver:
        ends = [served(receiver, failing) for _ in range(2)]

    assert (ends, len(orders.seen)) == ([MessageLockLostError, None], 2)
    assert (bodies(bus, QUEUE), bodies(bus, ERROR_QUEUE)) == ([], [b"order 42"])


@settlements_are_answered
def test_what_succeeds_after_its_lock_has_ended_runs_again(bus: Bus) -> None:
    bus.send("order 42")
    orders = Orders(once(lambda: bus.namespace.advance(LOCK)), fails=False)

    with bus.client.get_queue_receiver(QUEUE) as receiver:
        ends = [served(receiver, endpoint(orders)) for _ in range(2)]

    assert (ends, orders.seen) == ([MessageLockLostError, None], [(0, 1), (0, 2)])
    assert (bodies(bus, QUEUE), bodies(bus, ERROR_QUEUE)) == ([], [])


@settlements_are_answered
def test_a_session_that_is_lost_before_its_message_is_settled_costs_one_run_and_no_copy(bus: Bus) -> None:
    bus.send("order 42", to=SESSIONS, session_id="customer-7")
    orders = Orders(once(lambda: bus.namespace.advance(LOCK)))
    failing = endpoint(orders, queue=SESSIONS, sessions=True)
    ends = []

    for _ in range(2):
        with bus.client.get_queue_receiver(SESSIONS, session_id="customer-7") as receiver:
            ends.append(served(receiver, failing))

    assert (ends, len(orders.seen)) == ([SessionLockLostError, None], 2)
    assert (bodies(bus, SESSIONS), bodies(bus, ERROR_QUEUE)) == ([], [b"order 42"])


def test_a_sender_that_cannot_connect_leaves_the_message_where_it_is(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    bus.send("order 42")
    failing = endpoint(Orders())
    right = bus.namespace.connection_string
    with socket.socket() as deaf:  # bound, so that nobody else gets the port, but not listening
        deaf.bind(("127.0.0.1", 0))
        port = deaf.getsockname()[1]
        monkeypatch.setenv(SETTING, right.replace(str(bus.namespace.port), str(port)))

        why = bus.serve(failing, lambda: bus.seen(QUEUE)[0].delivery_count)
    monkeypatch.setenv(SETTING, right)
    why += bus.serve(failing, lambda: bus.seen(ERROR_QUEUE))

    assert [type(error) for error in why] == [CopyNotSent]
    assert (bodies(bus, QUEUE), bodies(bus, ERROR_QUEUE)) == ([], [b"order 42"])


def test_a_namespace_that_throttles_for_a_moment_costs_a_message_nothing(bus: Bus) -> None:
    bus.send("order 42")
    bus.namespace.fail(Operation.SEND, path=ERROR_QUEUE)
    orders = Orders()

    why = bus.serve(endpoint(orders), lambda: bus.seen(ERROR_QUEUE))

    assert (why, orders.seen, bodies(bus, ERROR_QUEUE)) == ([], [(0, 1)], [b"order 42"])


def test_while_a_namespace_throttles_the_message_stays(bus: Bus) -> None:
    bus.send("order 42")
    bus.namespace.fail(Operation.SEND, times=None)
    failing = endpoint(Orders())

    why = bus.serve(failing, lambda: bus.seen(QUEUE)[0].delivery_count)
    bus.namespace.heal()
    bus.serve(failing, lambda: bus.seen(ERROR_QUEUE))

    assert [type(error.__cause__) for error in why] == [ServiceBusServerBusyError]
    assert (bodies(bus, QUEUE), bodies(bus, ERROR_QUEUE)) == ([], [b"order 42"])


def test_a_message_that_leaves_no_room_for_a_copy_reaches_the_error_queue_by_the_broker(bus: Bus) -> None:
    body = "x" * (256 * 1024 - 70)
    bus.send(body, to=BRIEF, message_id="m-1")

    why = bus.serve(endpoint(Orders(), queue=BRIEF), lambda: bus.seen(ERROR_QUEUE))

    [arrived] = bus.seen(ERROR_QUEUE)
    assert [type(error) for error in why] == [CopyNotSent, CopyNotSent]
    assert (arrived.body.decode(), arrived.application_properties["DeadLetterReason"]) == (
        body,
        "MaxDeliveryCountExceeded",
    )


def test_properties_that_leave_no_room_for_fault_headers_arrive_whole(bus: Bus) -> None:
    mine = {"a": "x" * 30_000, "b": "y" * 30_000}
    bus.send("order 42", application_properties=mine)

    bus.serve(endpoint(Orders()), lambda: bus.seen(ERROR_QUEUE))

    [arrived] = bus.seen(ERROR_QUEUE)
    properties = arrived.application_properties
    assert {name: properties[name] for name in mine} == mine
    assert (properties[FAILED_QUEUE], EXCEPTION_TYPE in properties) == (QUEUE, True)
