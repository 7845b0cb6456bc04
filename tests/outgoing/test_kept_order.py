"""Where order is kept a message can only be redelivered: while what it sent is not taken it waits each time longer, and says at last why it failed."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest

from builders import seconds
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable.azure import ServiceBusEndpoint
from recoverable_local.testing import ServiceBusWorld, SqsWorld, Throttled
from recoverable_local.testing.timeline import Timeline

LADDERS = {
    "one attempt": (0, 0, seconds(10)),
    "four attempts": (1, 1, seconds(10)),
    "24 attempts": (5, 3, seconds(10)),
    "hours between rounds": (0, 4, timedelta(hours=1)),
}
every_ladder = pytest.mark.parametrize(("immediate", "delayed", "increase"), LADDERS.values(), ids=LADDERS)


def ladder(immediate: int, delayed: int, increase: timedelta, error: str) -> Recoverability:
    """Return a ladder."""
    return Recoverability(Immediate(immediate), Delayed(delayed, increase), Failed(error))


def bill(message: Message) -> None:
    message.send("invoices", f"invoice for {message.text}")


def fifo_world(immediate: int, delayed: int, increase: timedelta) -> SqsWorld:
    """Return a world whose FIFO queue has two messages of one group, and whose handler sends."""
    world = SqsWorld()
    world.create_queue("invoices")
    endpoint = SqsEndpoint(bill, ladder(immediate, delayed, increase, "error.fifo"))
    world.serve("orders.fifo", endpoint, timeout=30, batch_size=1)
    for number in (1, 2):
        world.send("orders.fifo", f"order {number}", group_id="a", deduplication_id=str(number))
    return world


def session_world(immediate: int, delayed: int) -> ServiceBusWorld:
    """Return a world whose queue has two messages of one ordered session, and whose handler sends."""
    world = ServiceBusWorld()
    endpoint = ServiceBusEndpoint(
        bill, ladder(immediate, delayed, seconds(10), "error"), queue="orders", connection="ServiceBus", name="orders",
        sessions="ordered", resend_for=seconds(2),
    )  # fmt: skip
    world.create_queue("invoices")
    world.serve("orders", endpoint)
    for number in (1, 2):
        world.send("orders", f"order {number}", group_id="a")
    return world


def waits(timeline: Timeline) -> list[timedelta]:
    """Return the times between the attempts."""
    at = [event.at for event in timeline if event.what == "attempted"]
    return [after - before for before, after in pairwise(at)]


@every_ladder
def test_on_a_fifo_queue_an_outage_without_end_is_given_up_with_its_reason(
    immediate: int, delayed: int, increase: timedelta
) -> None:
    world = fifo_world(immediate, delayed, increase)
    world.fail("send_message_batch", Throttled(), queue="invoices")
    world.run()

    assert [seen.exception_type for seen in world.queue("error.fifo")] == ["recoverable.OutgoingRefused"] * 2
    assert "'invoices' did not take an outgoing message" in str(world.queue("error.fifo")[0].exception_message)


@every_ladder
def test_on_a_fifo_queue_an_outage_of_a_quarter_of_an_hour_is_outlasted_in_order(
    immediate: int, delayed: int, increase: timedelta
) -> None:
    world = fifo_world(immediate, delayed, increase)
    world.fail("send_message_batch", Throttled(), queue="invoices", during=timedelta(minutes=15))
    world.run()

    assert [seen.body for seen in world.queue("invoices")] == ["invoice for order 1", "invoice for order 2"]
    assert world.queue("error.fifo") == []


def test_on_a_fifo_queue_each_wait_is_longer_than_the_one_before() -> None:
    world = fifo_world(5, 3, seconds(10))
    world.fail("send_message_batch", Throttled(), queue="invoices", during=timedelta(hours=6))
    world.run()

    times = waits(Timeline(event for event in world.timeline() if event.message_id == world.timeline()[0].message_id))
    assert (times == sorted(times), round(max(times) / timedelta(hours=1))) == (True, 1)


def test_on_a_fifo_queue_an_outage_is_given_up_after_a_day_however_many_deliveries_are_left() -> None:
    world = fifo_world(9, 9, seconds(10))  # a hundred deliveries, an hour apart
    world.fail("send_message_batch", Throttled(), queue="invoices")

    world.run(for_=timedelta(days=1))
    within_a_day = world.queue("error.fifo")
    world.run(for_=timedelta(hours=1))

    [given_up] = world.queue("error.fifo")
    assert (within_a_day, given_up.body, given_up.exception_type) == ([], "order 1", "recoverable.OutgoingRefused")


def test_in_an_ordered_session_an_outage_without_end_is_given_up_with_its_reason() -> None:
    world = session_world(1, 1)
    world.fail("send_messages", Throttled(), queue="invoices")
    world.run()

    assert [seen.exception_type for seen in world.queue("error")] == ["recoverable.OutgoingRefused"] * 2


def test_in_an_ordered_session_an_outage_of_five_minutes_is_outlasted_in_order() -> None:
    world = session_world(1, 1)
    world.fail("send_messages", Throttled(), queue="invoices", during=timedelta(minutes=5))
    world.run()

    assert [seen.body for seen in world.queue("invoices")] == ["invoice for order 1", "invoice for order 2"]
    assert world.queue("error") == []


def test_in_an_ordered_session_no_wait_is_longer_than_an_invocation_can_be() -> None:
    """The host renews locks for five minutes, of which half a minute is kept; the last wait would be a quarter of an hour."""
    world = session_world(1, 1)
    world.fail("send_messages", Throttled(), queue="invoices")
    world.run()

    assert max(waits(world.timeline())) == timedelta(minutes=4, seconds=30)
