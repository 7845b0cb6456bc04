"""Sessions that keep their order: counted by deliveries, and each delay waited out in place."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from azure.endpoints import Handler, ended, endpoint
from azure.recording import RecordingClient
from azure.triggers import trigger_message
from builders import ERROR_QUEUE, Boom, recoverability, seconds
from recoverable import Delayed, Failed, Immediate, Message, Recoverability, RetryAfter
from recoverable.azure import ServiceBusEndpoint
from recoverable.azure._waiting import host_options, longest_wait
from recoverable.headers import DELAYED_RETRIES, DUE_AT
from recoverable_local.testing import Died, ServiceBusWorld, Slow

QUEUE, ERROR = "orders", "error"


class Orders:
    """A handler that notes when which message was at which attempt, and fails for those that say so."""

    def __init__(self, world: ServiceBusWorld) -> None:
        self._world, self._began = world, world.now
        self.seen: list[tuple[str, float, int, int]] = []

    def __call__(self, message: Message) -> None:
        at = (self._world.now - self._began).total_seconds()
        self.seen.append((message.text, at, message.round, message.attempt))
        if message.text.startswith("bad"):
            raise ValueError(message.text)
        if message.text == "waits":
            raise RetryAfter(timedelta(hours=1))

    def names(self) -> list[str]:
        """Return the messages in the order in which they ran."""
        return [text for text, *_ in self.seen]


def serve(world: ServiceBusWorld, immediate: int = 1, delayed: int = 1, **host: Any) -> Orders:
    """Serve a queue with sessions in order, with delays of 10 s, 20 s and so on."""
    orders = Orders(world)
    settings = Recoverability(Immediate(immediate), Delayed(delayed, timedelta(seconds=10)), Failed(ERROR))
    serving = ServiceBusEndpoint(
        orders, settings, queue=QUEUE, connection="ServiceBus", name="orders", sessions="ordered"
    )
    world.serve(QUEUE, serving, **host)
    return orders


def test_a_session_waits_while_its_first_message_climbs_the_ladder(service_bus_world: ServiceBusWorld) -> None:
    orders = serve(service_bus_world)

    for body in ("bad", "good"):
        service_bus_world.send(QUEUE, body, group_id="customer-7")
    service_bus_world.run()

    assert orders.seen == [("bad", 0, 0, 1), ("bad", 0, 0, 2), ("bad", 10, 1, 1), ("bad", 10, 1, 2), ("good", 10, 0, 1)]
    assert [seen.body for seen in service_bus_world.queue(ERROR)] == ["bad"]


def test_other_sessions_go_on(service_bus_world: ServiceBusWorld) -> None:
    orders = serve(service_bus_world)

    service_bus_world.send(QUEUE, "bad", group_id="customer-7")
    service_bus_world.send(QUEUE, "good", group_id="customer-8")
    service_bus_world.run()

    assert [at for text, at, *_ in orders.seen if text == "good"] == [0]


def test_each_session_that_waits_holds_one_of_those_that_are_handled_at_a_time(
    service_bus_world: ServiceBusWorld,
) -> None:
    orders = serve(service_bus_world, concurrency=1)

    service_bus_world.send(QUEUE, "bad", group_id="customer-7")
    service_bus_world.send(QUEUE, "good", group_id="customer-8")
    service_bus_world.run()

    assert [at for text, at, *_ in orders.seen if text == "good"] == [10]


def test_without_it_a_message_overtakes_one_that_waits(service_bus_world: ServiceBusWorld) -> None:
    orders = Orders(service_bus_world)
    settings = Recoverability(Immediate(0), Delayed(1, timedelta(seconds=10)), Failed(ERROR))
    serving = ServiceBusEndpoint(orders, settings, queue=QUEUE, connection="ServiceBus", name="orders", sessions=True)
    service_bus_world.serve(QUEUE, serving)

    for body in ("bad", "good"):
        service_bus_world.send(QUEUE, body, group_id="customer-7")
    service_bus_world.run()

    assert orders.names() == ["bad", "good", "bad"]


def test_a_death_costs_an_attempt_and_the_rest_of_the_delay(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.fail("attempt", Died(), nth=2)
    orders = serve(service_bus_world)

    for body in ("bad", "good"):
        service_bus_world.send(QUEUE, body, group_id="customer-7")
    service_bus_world.run()

    assert orders.names() == ["bad", "bad", "bad", "good"]
    assert [seen.body for seen in service_bus_world.queue(ERROR)] == ["bad"]


def test_a_message_that_ends_its_process_each_time_is_given_up_and_the_session_goes_on(
    service_bus_world: ServiceBusWorld,
) -> None:
    ran: list[str] = []

    def place_order(message: Message) -> None:
        ran.append(message.text)
        if message.text == "kills":
            service_bus_world.kill()

    settings = Recoverability(Immediate(1), Delayed(1), Failed(ERROR))
    serving = ServiceBusEndpoint(place_order, settings, queue=QUEUE, connection="ServiceBus", sessions="ordered")
    service_bus_world.serve(QUEUE, serving)
    for body in ("kills", "good"):
        service_bus_world.send(QUEUE, body, group_id="customer-7")
    service_bus_world.run()

    given_up = [(seen.body, seen.exception_type) for seen in service_bus_world.queue(ERROR)]
    assert (ran, given_up) == (["kills"] * 6 + ["good"], [("kills", "recoverable.UnreportedFailure")])


def test_a_delay_that_no_invocation_can_wait_out_moves_the_message_to_the_error_queue(
    service_bus_world: ServiceBusWorld,
) -> None:
    orders = serve(service_bus_world)

    for body in ("waits", "good"):
        service_bus_world.send(QUEUE, body, group_id="customer-7")
    service_bus_world.run()

    assert (orders.names(), [seen.body for seen in service_bus_world.queue(ERROR)]) == (["waits", "good"], ["waits"])


def test_of_a_delay_only_as_much_is_waited_out_as_the_handler_has_left_of_the_invocation(
    service_bus_world: ServiceBusWorld,
) -> None:
    """The host renews locks for five minutes, of which half a minute is kept."""
    service_bus_world.fail("attempt", Slow(seconds(265)))
    orders = serve(service_bus_world, immediate=0)

    service_bus_world.send(QUEUE, "bad", group_id="customer-7")
    service_bus_world.run()

    assert orders.seen == [("bad", 265, 0, 1), ("bad", 270 + 265, 1, 1)]


def test_a_message_that_would_expire_while_it_waits_moves_to_the_error_queue_with_its_reason(
    service_bus_world: ServiceBusWorld,
) -> None:
    orders = serve(service_bus_world, immediate=0, delayed=5)

    service_bus_world.send(QUEUE, "bad", group_id="customer-7", time_to_live=seconds(60))
    service_bus_world.run()

    assert [at for _, at, *_ in orders.seen] == [
        0,
        10,
        30,
    ]  # after the next 30 s less than a tenth of the minute would be left
    assert [seen.exception_type for seen in service_bus_world.queue(ERROR)] == ["ValueError"]


def test_so_does_one_whose_time_to_live_ends_while_its_handler_runs(service_bus_world: ServiceBusWorld) -> None:
    service_bus_world.fail("attempt", Slow(seconds(70)))
    serve(service_bus_world)

    service_bus_world.send(QUEUE, "bad", group_id="customer-7", time_to_live=seconds(60))
    service_bus_world.run()

    assert [seen.exception_type for seen in service_bus_world.queue(ERROR)] == ["ValueError"]


@pytest.mark.parametrize("took", [pytest.param(0, id="while it waits"), pytest.param(25, id="while its handler runs")])
def test_a_warning_comes_once_when_half_of_the_time_to_live_is_used(
    service_bus_world: ServiceBusWorld, caplog: pytest.LogCaptureFixture, took: float
) -> None:
    for nth in range(1, 6):
        service_bus_world.fail("attempt", Slow(seconds(took)), nth=nth)
    serve(service_bus_world, immediate=0, delayed=4)

    service_bus_world.send(QUEUE, "bad", group_id="customer-7", time_to_live=seconds(120))
    service_bus_world.run()

    warnings = [record.message for record in caplog.records if "used half of its retention" in record.message]
    assert len(warnings) == 1
    assert (
        "The messages behind it in its group 'customer-7' age unseen, and expire 0:02:00 after their own" in warnings[0]
    )


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 8, 9])
def test_the_count_of_deliveries_alone_says_round_and_attempt(count: int) -> None:
    handler = Handler()
    headers = {DELAYED_RETRIES: "7", DUE_AT: "2026-03-15 15:09:26:535897 Z"}

    ended(endpoint(handler, sessions="ordered"), trigger_message(DeliveryCount=count, properties=headers))

    assert [(each.round, each.attempt) for each in handler.handled] == [((count - 1) // 3, (count - 1) % 3 + 1)]


def test_past_all_attempts_and_two_it_is_unreported() -> None:
    client, handler = RecordingClient(), Handler(Boom())

    ended(endpoint(handler, client=client, sessions="ordered"), trigger_message(DeliveryCount=12))

    assert (handler.handled, [queue for queue, _ in client.sent]) == ([], [ERROR_QUEUE])


def test_a_delay_longer_than_an_invocation_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match=r"waits out each delay inside the invocation, for 0:04:30 at most .* 0:10:00"):
        endpoint(settings=recoverability(time_increase=seconds(300)), sessions="ordered")


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({"sessions": "order"}, 'write True, False or "ordered"'),
        ({"sessions": "ordered", "batch": True}, "write batch=False"),
    ],
)
def test_what_cannot_be_is_refused(parts: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        endpoint(**parts)


MINUTES = {"functionTimeout": "00:10:00", "extensions": {"serviceBus": {"maxAutoLockRenewalDuration": "00:08:00"}}}


@pytest.mark.parametrize(
    ("host", "settings", "wait"),
    [
        (MINUTES, {}, timedelta(minutes=7, seconds=30)),
        (MINUTES, {"AzureFunctionsJobHost__functionTimeout": "00:02:00"}, timedelta(seconds=90)),
        ({"functionTimeout": "1.00:00:00"}, {}, timedelta(seconds=270)),
        ({**MINUTES, "functionTimeout": "-1"}, {}, timedelta(minutes=7, seconds=30)),
        ({"functionTimeout": "00:00:10"}, {}, timedelta(0)),
        ({"functionTimeout": 7}, {}, timedelta(seconds=270)),
        ([], {}, timedelta(seconds=270)),
        (None, {}, timedelta(seconds=270)),
    ],
)
def test_it_waits_as_long_as_host_json_lets_it(
    tmp_path: Path, host: Any, settings: dict[str, str], wait: timedelta
) -> None:
    if host is not None:
        (tmp_path / "host.json").write_text(f"// the host\n{json.dumps(host)}")

    assert longest_wait(host_options({"AzureWebJobsScriptRoot": str(tmp_path), **settings})) == wait
