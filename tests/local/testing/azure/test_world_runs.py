"""Run whole ladders on Service Bus and Functions in virtual time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import azure.functions as func
import pytest

from local.testing.azure.apps import ERRORS, QUEUE, app, attempts, decline, endpoint, happened, seconds
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import EndlessRun, ServiceBusWorld


def test_a_message_climbs_the_ladder_and_ends_in_the_error_queue(service_bus_world: ServiceBusWorld) -> None:
    world, began = service_bus_world, service_bus_world.now
    world.serve(QUEUE, endpoint())
    world.send(QUEUE, {"id": 1})
    world.run()
    declined = "CardDeclined: do not honour"
    assert attempts(world) == [(0, declined), (0, declined), (10, declined), (10, declined)]
    assert (world.queue(QUEUE), world.now - began) == ([], seconds(10))
    [order] = world.queue(ERRORS)
    assert (order.exception_type, order.exception_message, order.failed_queue, order.json()) == (
        "local.testing.azure.apps.CardDeclined",
        "do not honour",
        QUEUE,
        {"id": 1},
    )


def test_the_default_ladder_has_24_attempts_in_a_minute(service_bus_world: ServiceBusWorld) -> None:
    def fail(_message: Message) -> None:
        raise ValueError

    world, began = service_bus_world, service_bus_world.now
    world.serve(QUEUE, ServiceBusEndpoint(fail, Recoverability(), queue=QUEUE, connection="ServiceBus"))
    world.send(QUEUE, "x")
    world.run()
    assert (len(attempts(world)), world.now - began) == (24, timedelta(seconds=60))
    assert len(world.queue("error")) == 1


def test_a_coroutine_climbs_as_a_plain_handler_does(service_bus_world: ServiceBusWorld) -> None:
    async def fail(_message: Message) -> None:
        raise ValueError("no")

    service_bus_world.serve(QUEUE, endpoint(fail))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert attempts(service_bus_world) == [(at, "ValueError: no") for at in (0, 0, 10, 10)]
    assert len(service_bus_world.queue(ERRORS)) == 1


def test_a_function_runs_behind_the_trigger_that_its_app_declares(service_bus_world: ServiceBusWorld) -> None:
    orders, got = endpoint(), list[Any]()

    def function(message: func.ServiceBusMessage) -> None:
        got.append(type(message))
        orders(message)

    service_bus_world.serve(QUEUE, app(function))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert got == [func.ServiceBusMessage.__subclasses__()[0]] * 4
    assert len(service_bus_world.queue(ERRORS)) == 1


def test_an_app_is_served_in_one_world_after_the_other() -> None:
    served = app(endpoint(immediate=0, delayed=0))
    for _ in range(2):
        world = ServiceBusWorld()
        world.serve(QUEUE, served)
        world.send(QUEUE, "x")
        world.run()
        assert len(world.queue(ERRORS)) == 1


def test_a_queue_that_no_function_reads_is_an_error_that_names_the_others(service_bus_world: ServiceBusWorld) -> None:
    with pytest.raises(LookupError, match="no function of this app reads 'bills', but orders"):
        service_bus_world.serve("bills", endpoint())


def test_a_queues_name_may_have_slashes(service_bus_world: ServiceBusWorld) -> None:
    world, name, errors = service_bus_world, "sales/orders", "sales/error"
    ladder = Recoverability(Immediate(0), Delayed(1), Failed(errors))
    world.serve(name, ServiceBusEndpoint(decline, ladder, queue=name, connection="ServiceBus"))
    world.send(name, "x")
    world.run()
    [failed] = world.queue(errors)
    assert (failed.failed_queue, len(attempts(world))) == (name, 2)
    with pytest.raises(LookupError, match="there is no queue 'orders', but sales/error, sales/orders"):
        world.queue("orders")


def test_what_is_no_app_is_not_served(service_bus_world: ServiceBusWorld) -> None:
    handler: Any = print
    with pytest.raises(TypeError, match=r"^serve\(app\) is <built-in function print>; write your function_app.app"):
        service_bus_world.serve(QUEUE, handler)


def test_a_function_with_another_binding_is_not_served(service_bus_world: ServiceBusWorld) -> None:
    made = func.FunctionApp()

    @made.service_bus_queue_trigger("message", "X", QUEUE, data_type=func.DataType.BINARY)
    @made.service_bus_queue_output("invoice", "X", "invoices")
    def orders(message: func.ServiceBusMessage, invoice: func.Out[str]) -> None:
        invoice.set(str(message))

    with pytest.raises(
        ValueError, match=r"^'orders' has a binding beside its trigger, 'invoice' \(serviceBus\), which"
    ):
        service_bus_world.serve(QUEUE, made)


def test_a_setting_names_the_queue_of_a_trigger(
    service_bus_world: ServiceBusWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORDERS", QUEUE)
    service_bus_world.serve(QUEUE, app(lambda _message: None, queue_name="%ORDERS%"))
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert service_bus_world.queue(QUEUE) == []


def test_a_function_that_returns_a_value_fails_as_the_worker_lets_it(service_bus_world: ServiceBusWorld) -> None:
    made = func.FunctionApp()

    @made.service_bus_queue_trigger(
        arg_name="message", queue_name=QUEUE, connection="X", data_type=func.DataType.BINARY
    )
    def orders(message: func.ServiceBusMessage, context: func.Context) -> str:
        return context.function_name

    service_bus_world.create_queue(QUEUE, max_delivery_count=1)
    service_bus_world.serve(QUEUE, made)
    service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    [(_, _, error)] = happened(service_bus_world, "invocation failed")
    assert error == "RuntimeError: function 'orders' without a $return binding returned a value"


def test_what_comes_back_for_ever_is_an_error(service_bus_world: ServiceBusWorld) -> None:
    def fail(_message: Any) -> None:
        raise ValueError

    world = ServiceBusWorld(most_invocations=50)
    world.create_queue(QUEUE, max_delivery_count=1000)
    world.serve(QUEUE, app(fail))
    world.send(QUEUE, "x")
    with pytest.raises(EndlessRun, match="50 invocations"):
        world.run()


def test_a_dead_letter_is_forwarded_to_the_error_queue(service_bus_world: ServiceBusWorld) -> None:
    def fail(_message: Any) -> None:
        raise ValueError

    world = service_bus_world
    world.create_queue(QUEUE, max_delivery_count=3, dead_letter_queue=ERRORS)
    world.serve(QUEUE, app(fail))
    message = world.send(QUEUE, "x", attributes={"tenant": "a"})
    world.run()
    [dead] = world.queue(ERRORS)
    assert (dead.id, dead.attributes) == (
        message,
        {
            "tenant": "a",
            "DeadLetterReason": "MaxDeliveryCountExceeded",
            "DeadLetterErrorDescription": "Message could not be consumed after 3 delivery attempts.",
        },
    )
    assert [what for _, what, _ in happened(world)][-2:] == ["abandoned", "dead-lettered"]


def test_a_dead_letter_that_is_forwarded_nowhere_stays_with_its_queue(service_bus_world: ServiceBusWorld) -> None:
    def fail(_message: Any) -> None:
        raise ValueError

    service_bus_world.create_queue(QUEUE, max_delivery_count=1)
    service_bus_world.serve(QUEUE, app(fail))
    message = service_bus_world.send(QUEUE, "x")
    service_bus_world.run()
    assert service_bus_world.queue(QUEUE) == []
    assert [dead.id for dead in service_bus_world.dead_letters(QUEUE)] == [message]


def test_each_run_is_the_same() -> None:
    def printed() -> str:
        world = ServiceBusWorld()
        world.serve(QUEUE, endpoint())
        for body in ("a", "b", "c"):
            world.send(QUEUE, body)
        world.run()
        return str(world.timeline())

    assert printed() == printed()
