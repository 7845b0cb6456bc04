"""A message that kills its worker, or that makes its batch come again and again: what is beside it is processed, and is there once."""

from __future__ import annotations

from datetime import timedelta

import azure.functions as func
import pytest

from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.azure import ServiceBusEndpoint
from recoverable.headers import write_date
from recoverable_local.testing import ServiceBusWorld

QUEUE, ERROR = "orders", "error"
SETTINGS = Recoverability(Immediate(2), Delayed(2), Failed(ERROR))


def served(world: ServiceBusWorld, killer_takes: float, others_take: float) -> list[str]:
    """Return the bodies that are processed, when a killer and ten others are in flight together."""
    processed: list[str] = []

    def place_order(message: Message) -> None:
        kills = message.text == "kill"
        world.spend(timedelta(seconds=killer_takes if kills else others_take))
        if kills:
            world.kill()
        processed.append(message.text)

    endpoint = ServiceBusEndpoint(place_order, SETTINGS, queue=QUEUE, connection="ServiceBus")
    app = func.FunctionApp()
    app.register_functions(endpoint.blueprint())
    world.serve(QUEUE, app, concurrency=16)
    for number in range(10):
        world.send(QUEUE, f"good {number}")
    world.send(QUEUE, "kill")
    world.run()
    return processed


@pytest.mark.parametrize(
    ("killer_takes", "others_take"), [(2, 0.1), (0.1, 2)], ids=["they are faster", "it is faster, every time"]
)
def test_its_neighbours_are_processed_once_and_it_is_given_up(
    service_bus_world: ServiceBusWorld, killer_takes: float, others_take: float
) -> None:
    processed = served(service_bus_world, killer_takes, others_take)

    given_up = [(message.body, message.exception_type) for message in service_bus_world.queue(ERROR)]
    assert sorted(set(processed)) == [f"good {number}" for number in range(10)]
    assert given_up == [("kill", "recoverable.UnreportedFailure")]


@pytest.mark.parametrize(("headers", "runs_of_others"), [((), 9), (("Recoverable.DueAt",), 0)], ids=["due", "not due"])
def test_a_message_whose_retry_breaks_a_limit_goes_to_the_error_queue_and_multiplies_nothing_in_its_batch(
    service_bus_world: ServiceBusWorld, headers: tuple[str, ...], runs_of_others: int
) -> None:
    world, runs = service_bus_world, list[str]()
    in_an_hour = write_date(world.now + timedelta(hours=1))

    def place_order(message: Message) -> None:
        runs.append(message.id)
        raise ValueError("it broke")

    endpoint = ServiceBusEndpoint(
        place_order, SETTINGS, queue=QUEUE, connection="ServiceBus", batch=True, lock=timedelta(minutes=1)
    )
    world.create_queue(QUEUE, max_delivery_count=10, dead_letter_queue=ERROR)
    world.send(QUEUE, "x" * (256 * 1024 - 200), message_id="large")
    for number in range(3):
        world.send(QUEUE, "good", message_id=f"small {number}", attributes=dict.fromkeys(headers, in_an_hour))
    world.serve(QUEUE, endpoint)
    world.run(for_=timedelta(minutes=10))

    there = sorted(message.id for message in (*world.queue(ERROR), *world.queue(QUEUE)))
    assert there == ["large", "small 0", "small 1", "small 2"]
    assert {each: runs.count(each) for each in ("large", "small 0")} == {"large": 1, "small 0": runs_of_others}
