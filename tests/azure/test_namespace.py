"""The ladder through the real SDK, on a Service Bus namespace on loopback."""

from __future__ import annotations

import asyncio
import gc
from datetime import timedelta
from typing import Any

import pytest

from azure.namespace import BRIEF, INVOICES, NEXT_SESSION, SESSIONS, SETTING, Bus, called, properties_of
from builders import ERROR_QUEUE, QUEUE, Boom, recoverability, seconds
from deadlines import DEADLINE
from recoverable import Message, Recoverability
from recoverable._ladder.faults import EXCEPTION_TYPE, FAILED_QUEUE
from recoverable.azure import ServiceBusEndpoint
from recoverable.headers import DELAYED_RETRIES, MESSAGE_ID, REFUSED_SENDS
from recoverable_local.service_bus import DropConnection, Operation, Refuse

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service_bus")]

LADDER = [(0, 1), (0, 2), (1, 1), (1, 2)]


class Orders:
    """A handler that notes rounds and attempts, and fails."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []

    def __call__(self, message: Message) -> None:
        self.seen.append((message.round, message.attempt))
        raise Boom(message.text)


def endpoint(handler: Any, settings: Recoverability | None = None, **parts: Any) -> ServiceBusEndpoint[Any]:
    """Return an endpoint with one immediate and one delayed retry, with a client of its own."""
    settings = settings or recoverability(1, 1, time_increase=seconds(1))
    return ServiceBusEndpoint(
        handler,
        settings,
        **{"queue": QUEUE, "connection": SETTING, "resend_for": seconds(0), "lock": seconds(60), **parts},
    )


def test_a_message_gets_all_its_retries_and_arrives_with_all_it_had(bus: Bus) -> None:
    mine = {"tenant": "north", "count": 2**40, "share": 0.5, "urgent": True, "small": 7}
    sent: dict[str, Any] = {**mine, "count": {"TYPE": "LONG", "VALUE": 2**40}}
    bus.send("order 42", message_id="m-1", application_properties=sent, correlation_id="c-1", subject="placed")
    orders = Orders()

    why = bus.serve(endpoint(orders), lambda: bus.seen(ERROR_QUEUE))

    with bus.client.get_queue_receiver(ERROR_QUEUE) as receiver:
        [arrived] = receiver.receive_messages(1, max_wait_time=DEADLINE)
    properties = properties_of(arrived)
    assert (orders.seen, [str(error) for error in why]) == (LADDER, ["order 42"] * 2)
    assert (str(arrived), arrived.correlation_id, arrived.subject) == ("order 42", "c-1", "placed")
    assert {name: properties[name] for name in mine} == mine
    assert (properties[MESSAGE_ID], properties[FAILED_QUEUE]) == ("m-1", QUEUE)
    assert bus.seen(QUEUE) == []


def test_a_coroutine_handler_gets_all_retries_too(bus: Bus) -> None:
    orders = Orders()

    async def handle(message: Message) -> None:
        await asyncio.sleep(0)
        orders(message)

    bus.send("order 42")
    bus.serve(endpoint(handle), lambda: bus.seen(ERROR_QUEUE))

    assert orders.seen == LADDER


def test_a_send_that_is_denied_as_a_link_to_its_own_queue_is_costs_no_attempt(bus: Bus) -> None:
    attempts: list[int] = []

    def handle(message: Message) -> None:
        attempts.append(message.attempt)
        message.send(INVOICES, "invoice")
        for path, times in {INVOICES: 2, QUEUE: 1}.items():
            bus.namespace.fail(Operation.ATTACH, Refuse("amqp:unauthorized-access"), path=path, times=times)

    bus.send("order 42")
    why = bus.serve(endpoint(handle, resend_for=seconds(10)), lambda: bus.seen(INVOICES))

    assert (attempts, why, bus.seen(QUEUE)) == ([1], [], [])


def test_each_message_of_a_batch_is_retried_by_itself(bus: Bus) -> None:
    attempts: dict[str, int] = {}

    def handle(message: Message) -> None:
        attempts[message.text] = attempts.get(message.text, 0) + 1
        if message.text.startswith("bad"):
            raise Boom(message.text)

    bus.send("good 1", "bad 1", "good 2", "bad 2")
    why = bus.serve(endpoint(handle, batch=True), lambda: len(bus.seen(ERROR_QUEUE)) == 2, batch=True)

    assert (attempts, why) == ({"good 1": 1, "bad 1": 4, "good 2": 1, "bad 2": 4}, [])
    assert bus.seen(QUEUE) == []


def test_a_retry_that_breaks_a_limit_multiplies_no_neighbour_in_its_batch(bus: Bus) -> None:
    runs: dict[str, int] = {}

    def handle(message: Message) -> None:
        runs[message.text[:1]] = runs.get(message.text[:1], 0) + 1
        raise Boom(message.text[:1])

    bus.send("A" * 250_000)
    bus.send("B", application_properties={"a": "x" * 32_000, "b": "x" * 32_000, "c": "x" * 1_400})
    why = bus.serve(endpoint(handle, batch=True), lambda: len(bus.seen(ERROR_QUEUE)) == 2, batch=True)

    assert (runs, why, bus.seen(QUEUE)) == ({"A": 4, "B": 1}, [], [])


def test_a_sessions_message_is_retried_in_its_session(bus: Bus) -> None:
    orders = Orders()
    bus.send("order 42", to=SESSIONS, session_id="customer-7")

    bus.serve(endpoint(orders, queue=SESSIONS, sessions=True), lambda: bus.seen(ERROR_QUEUE), **NEXT_SESSION)

    [arrived] = bus.seen(ERROR_QUEUE)
    assert (orders.seen, arrived.session_id) == (LADDER, "customer-7")
    assert arrived.application_properties[FAILED_QUEUE] == SESSIONS


def test_a_delayed_retry_waits_in_the_queue(bus: Bus) -> None:
    bus.send("order 42")
    settings = recoverability(0, 1, time_increase=timedelta(hours=1))

    bus.serve(endpoint(Orders(), settings), lambda: [each.state for each in bus.seen(QUEUE)] == ["scheduled"])

    [waiting] = bus.seen(QUEUE)
    assert waiting.application_properties[DELAYED_RETRIES] == "1"


def test_a_dropped_connection_costs_a_message_nothing(bus: Bus) -> None:
    bus.send("order 1", "order 2", "order 3")
    failing = endpoint(Orders(), recoverability(0, 0))
    why = bus.serve(failing, lambda: bus.seen(ERROR_QUEUE))

    for number, done in ((2, False), (3, True)):
        bus.namespace.fail(Operation.SEND, DropConnection(done=done), path=ERROR_QUEUE)
        why += bus.serve(failing, lambda number=number: len(bus.seen(ERROR_QUEUE)) >= number)  # type: ignore[misc]  # bound now

    gc.collect()  # to which the SDK leaves the socket of a connection that was dropped
    bodies = [each.body for each in bus.seen(ERROR_QUEUE)]
    assert (why, bodies) == ([], [b"order 1", b"order 2", b"order 3"])  # it sends once more, under the same id


def test_a_message_that_fails_again_although_its_copy_was_sent_has_one_copy_where_duplicates_are_detected(
    bus: Bus,
) -> None:
    bus.send("order 42")
    failing = endpoint(Orders(), recoverability(0, 0))
    with bus.client.get_queue_receiver(QUEUE) as receiver:
        messages = receiver.receive_messages(1, max_wait_time=DEADLINE)

        ends = [called(failing, messages, batch=False) for _ in range(2)]

    assert (ends, [each.body for each in bus.seen(ERROR_QUEUE)]) == ([None, None], [b"order 42"])


def test_while_the_error_queue_refuses_the_copy_waits_in_its_own_queue_and_no_handler_runs(bus: Bus) -> None:
    bus.send("order 42")
    bus.namespace.fail(Operation.SEND, Refuse("amqp:unauthorized-access"), path=ERROR_QUEUE, times=None)
    orders = Orders()
    failing = endpoint(orders, recoverability(0, 0))

    refused = bus.serve(failing, lambda: waiting(bus) == ["1"])
    bus.namespace.advance(timedelta(seconds=3))
    refused += bus.serve(failing, lambda: waiting(bus) == ["2"])
    bus.namespace.heal()
    bus.namespace.advance(timedelta(seconds=6))
    refused += bus.serve(failing, lambda: bus.seen(ERROR_QUEUE))

    [arrived] = bus.seen(ERROR_QUEUE)
    assert (refused, orders.seen, bus.seen(QUEUE)) == ([], [(0, 1)], [])
    assert arrived.application_properties[EXCEPTION_TYPE] == "builders.Boom"
    assert REFUSED_SENDS not in arrived.application_properties


def waiting(bus: Bus) -> list[str]:
    """Return how often the copies that wait in the queue were refused."""
    return [each.application_properties.get(REFUSED_SENDS, "") for each in bus.seen(QUEUE)]


def test_a_large_message_reaches_the_error_queue_with_fewer_fault_headers(bus: Bus) -> None:
    bus.send("x" * 253_000)

    def handle(message: Message) -> None:
        raise Boom("y" * 16_000)

    bus.serve(endpoint(handle, recoverability(0, 0)), lambda: bus.seen(ERROR_QUEUE))

    [arrived] = bus.seen(ERROR_QUEUE)
    assert (len(arrived.body), arrived.application_properties[FAILED_QUEUE]) == (253_000, QUEUE)


def test_a_message_that_nobody_settles_ends_in_the_error_queue_too(bus: Bus) -> None:
    bus.send("order 42", to=BRIEF)
    bus.namespace.fail(Operation.SEND, Refuse("amqp:unauthorized-access"), times=None)

    bus.serve(endpoint(Orders(), recoverability(0, 0), queue=BRIEF), lambda: bus.seen(ERROR_QUEUE))

    assert [each.body for each in bus.seen(ERROR_QUEUE)] == [b"order 42"]
