"""Batches and the locks of their messages, which the host does not renew: what outlives them sends nothing, and nothing multiplies."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from azure.endpoints import LOCK, Handler, ended, endpoint
from azure.recording import RecordingClient, properties
from azure.triggers import trigger_messages
from builders import NOW, seconds
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable._ladder.faults import EXCEPTION_TYPE
from recoverable._service_bus.wire import in_milliseconds
from recoverable.azure import ServiceBusEndpoint
from recoverable.headers import DELAYED_RETRIES, GRANTED, HELD_SINCE, ORIGIN, PRIOR_ATTEMPTS
from recoverable_local.testing import ServiceBusWorld

QUEUE, ERROR, OUT = "orders", "error", "out"
SHORT = Recoverability(Immediate(1), Delayed(1, timedelta(seconds=10)), Failed(ERROR))


class Orders:
    """A handler that takes some time for each message, and fails for those that are bad.

    Args:
        world: where time passes.
        durations: seconds for each body.
        sends: True to send a message for each that it handles.
    """

    def __init__(self, world: ServiceBusWorld, durations: dict[str, float], *, sends: bool = False) -> None:
        self._world, self._durations, self._sends = world, durations, sends
        self.runs: Counter[str] = Counter()

    def __call__(self, message: Message) -> None:
        """Count the run, take the time, and fail for what is bad."""
        self.runs[message.text] += 1
        if self._sends:
            message.send(OUT, message.text)
        self._world.spend(self._durations[message.text])
        if message.text.startswith("bad"):
            raise ValueError(message.text)


@pytest.fixture
def world() -> ServiceBusWorld:
    """Return a world with a queue that locks messages for a minute."""
    made = ServiceBusWorld(most_invocations=3_000)
    made.create_queue(OUT)
    made.create_queue(QUEUE, lock=60, dead_letter_queue=ERROR, max_delivery_count=100)
    return made


def serve(
    world: ServiceBusWorld,
    handler: Callable[[Message], Any],
    bodies: dict[str, float],
    settings: Recoverability = SHORT,
) -> None:
    """Send a message for each body, and serve them in batches of ten until nothing is left to do."""
    for body in bodies:
        world.send(QUEUE, body)
    batches = ServiceBusEndpoint(
        handler, settings, queue=QUEUE, connection="ServiceBus", name="orders", batch=True, lock=LOCK
    )
    world.serve(QUEUE, batches, batch_size=10, timeout=600)
    world.run()


def given_up(world: ServiceBusWorld) -> list[tuple[str, str]]:
    """Return the bodies in the error queue, with their exceptions."""
    return [(seen.body, seen.headers[EXCEPTION_TYPE]) for seen in world.queue(ERROR)]


@pytest.mark.parametrize("took", [5, 7])
def test_one_that_fails_among_slow_ones_climbs_its_ladder_and_the_others_run_once(
    world: ServiceBusWorld, took: float
) -> None:
    bodies = dict.fromkeys(["bad", *map(str, range(9))], took)
    orders = Orders(world, bodies)

    serve(world, orders, bodies, Recoverability(failed=Failed(ERROR)))

    assert orders.runs == dict.fromkeys(bodies, 1) | {"bad": 24}
    assert given_up(world) == [("bad", "ValueError")]


def test_a_handler_longer_than_the_lock_runs_until_it_is_given_up_and_is_never_copied_beside_itself(
    world: ServiceBusWorld,
) -> None:
    orders = Orders(world, {"bad": 70})

    serve(world, orders, {"bad": 70})

    assert given_up(world) == [("bad", "ValueError")]
    assert orders.runs["bad"] <= 3 * 4  # three deliveries for each attempt of the ladder


def test_what_handlers_sent_does_not_leave_after_the_lock(world: ServiceBusWorld) -> None:
    orders = Orders(world, {"good": 70}, sends=True)

    serve(world, orders, {"good": 70})

    assert orders.runs["good"] > 1
    assert world.queue(OUT) == []


def test_no_handler_starts_when_copies_could_not_leave_any_more_and_the_others_are_deferred(
    world: ServiceBusWorld,
) -> None:
    bodies = {"1": 40.0, "2": 10.0, "3": 1.0}
    orders = Orders(world, bodies)

    serve(world, orders, bodies)

    begun = [(round(entry.at), entry.what) for entry in world._journal._entries if entry.what == "received"]
    assert begun == [(0, "received")] * 3 + [(50, "received")]
    assert orders.runs == {"1": 1, "2": 1, "3": 1}


def test_a_coroutine_is_stopped_while_its_copy_can_still_leave(world: ServiceBusWorld) -> None:
    async def hang(message: Message) -> None:
        await asyncio.sleep(100)

    serve(world, hang, {"slow": 100}, Recoverability(Immediate(0), Delayed(0), Failed(ERROR)))

    assert given_up(world) == [("slow", "recoverable.HandlerTimeout")]


def test_messages_that_were_delivered_together_before_come_back_apart_and_run_no_handler() -> None:
    client, handler = RecordingClient(), Handler()
    again = trigger_messages(*({"body": body, "DeliveryCount": 2} for body in (b"a", b"b", b"c")))

    assert ended(endpoint(handler, client=client, batch=True), again) is None

    copies = [(properties(copy)[PRIOR_ATTEMPTS], copy.scheduled_enqueue_time_utc) for _, copy in client.sent]
    assert copies == [("1", None), ("1", in_milliseconds(NOW + LOCK)), ("1", in_milliseconds(NOW + 2 * LOCK))]
    assert all(HELD_SINCE in properties(copy) for _, copy in client.sent)
    assert handler.handled == []


def test_each_time_they_come_back_further_apart() -> None:
    client = RecordingClient()
    before = {"DeliveryCount": 2, "properties": {ORIGIN: "1", PRIOR_ATTEMPTS: "2"}}

    ended(endpoint(Handler(), client=client, batch=True), trigger_messages(before, before))

    assert [copy.scheduled_enqueue_time_utc for _, copy in client.sent] == [None, in_milliseconds(NOW + 3 * LOCK)]


def test_deliveries_with_others_do_not_count_as_a_failure_until_there_were_many() -> None:
    ran = []
    for prior in ("8", "9", "10"):
        client = RecordingClient()
        before = {"DeliveryCount": 3, "properties": {ORIGIN: "1", PRIOR_ATTEMPTS: prior}}
        ended(endpoint(Handler(), client=client, batch=True), trigger_messages(before, before))
        ran.append({properties(copy).get(DELAYED_RETRIES) for _, copy in client.sent})

    assert ran == [{None}, {None}, {"1"}]


def test_a_round_to_which_a_policy_granted_more_attempts_has_as_many_more_deliveries_with_others() -> None:
    client = RecordingClient()
    before = {"DeliveryCount": 4, "properties": {ORIGIN: "1", PRIOR_ATTEMPTS: "10", GRANTED: "10"}}

    ended(endpoint(Handler(), client=client, batch=True), trigger_messages(before, before))

    assert [properties(copy).get(DELAYED_RETRIES) for _, copy in client.sent] == [None, None]


def test_they_come_back_within_a_quarter_of_an_hour() -> None:
    client = RecordingClient()

    ended(endpoint(Handler(), client=client, batch=True), trigger_messages(*[{"DeliveryCount": 2}] * 20))

    assert max(copy.scheduled_enqueue_time_utc or NOW for _, copy in client.sent) == in_milliseconds(NOW + seconds(900))


def test_one_alone_runs_again() -> None:
    client, handler = RecordingClient(), Handler()

    ended(endpoint(handler, client=client, batch=True), trigger_messages({"DeliveryCount": 2}))

    assert len(handler.handled) == 1


def test_a_clock_that_is_set_meanwhile_ends_no_lock() -> None:
    client, jumps = RecordingClient(), count()

    assert (
        ended(endpoint(client=client, batch=True, clock=lambda: NOW + next(jumps) * 2 * LOCK), trigger_messages({}, {}))
        is None
    )
    assert len(client.sent) == 2
