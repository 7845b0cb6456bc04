"""No round of a FIFO message starts before its delays are over, whatever deliveries or visibility changes were lost; in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from aws.fifo.groups import Failing, send
from aws.harness import Context, Mapping, ladder, lose_deliveries, sqs_endpoint
from aws.records import event, received
from recoverable import DelayedRetry, Message, RetryAfter
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import Refused, SqsWorld, Throttled
from servers.faulty_proxy import FaultyProxy, Rule
from servers.queues import Queue

HOUR = 3_600
REFUSED = Refused("InternalError", status=500)

Runs = list[tuple[float, int, int]]
"""The seconds after the send at which a handler ran, with its round and attempt."""


class Clocked:
    """A handler that notes when it runs, and then does what it is told.

    Args:
        world: whose time it is.
        then: what it does; by default it fails.
    """

    def __init__(self, world: SqsWorld, then: Callable[[], object] | None = None) -> None:
        self.runs: Runs = []
        self._world, self._start, self._then = world, world.now, then

    def __call__(self, message: Message) -> None:
        self.runs.append(((self._world.now - self._start).total_seconds(), message.round, message.attempt))
        if self._then is None:
            raise ValueError("no")
        self._then()


def run(world: SqsWorld, handler: Clocked, *, delay: float = HOUR, **steps: Any) -> Runs:
    """Send one message, run the world to its end, and return the handler's runs."""
    endpoint = SqsEndpoint(handler, ladder("error.fifo", delay=delay, **steps))
    world.serve("orders.fifo", endpoint, batch_size=1, recursive_loop="Allow")
    world.send("orders.fifo", "a1", group_id="a", deduplication_id="1")
    world.run()
    return handler.runs


def why(world: SqsWorld) -> list[str | None]:
    """Return why each message in the error queue was given up."""
    return [message.exception_type for message in world.queue("error.fifo")]


def test_without_a_fault_rounds_start_after_their_delays(sqs_world: SqsWorld) -> None:
    runs = run(sqs_world, Clocked(sqs_world), immediate=1, delayed=2)

    assert runs == [(0, 0, 1), (0, 0, 2), (HOUR, 1, 1), (HOUR, 1, 2), (3 * HOUR, 2, 1), (3 * HOUR, 2, 2)]


@pytest.mark.parametrize("times", [1, 2])
def test_a_refused_visibility_change_does_not_start_the_next_round(sqs_world: SqsWorld, times: int) -> None:
    for number in range(1, times + 1):
        sqs_world.fail("change_message_visibility_batch", REFUSED, nth=number)

    assert run(sqs_world, Clocked(sqs_world), delayed=1) == [(0, 0, 1), (HOUR, 1, 1)]
    assert why(sqs_world) == ["ValueError"]


def test_a_visibility_change_that_is_refused_twice_costs_one_attempt_of_the_next_round(sqs_world: SqsWorld) -> None:
    for number in (2, 3):
        sqs_world.fail("change_message_visibility_batch", REFUSED, nth=number)

    runs = run(sqs_world, Clocked(sqs_world), immediate=1, delayed=1)

    assert runs == [(0, 0, 1), (0, 0, 2), (HOUR, 1, 2)]


def test_invocations_that_do_not_start_do_not_start_the_next_round(sqs_world: SqsWorld) -> None:
    sqs_world.fail("invoke", Throttled(), during=190)

    assert run(sqs_world, Clocked(sqs_world), immediate=1, delayed=1) == [
        (195, 0, 2),
        (195 + HOUR, 1, 1),
        (195 + HOUR, 1, 2),
    ]


def test_a_message_that_lost_its_only_attempt_of_a_round_waits_for_the_next_round(sqs_world: SqsWorld) -> None:
    sqs_world.fail("invoke", Throttled(), during=190)

    assert run(sqs_world, Clocked(sqs_world), delayed=1) == [(HOUR, 1, 1)]


def test_a_message_that_ends_its_process_skips_none_of_its_delays(sqs_world: SqsWorld) -> None:
    runs = run(sqs_world, Clocked(sqs_world, sqs_world.kill), immediate=1, delayed=2)

    first, second = [(0, 0, 1), (180, 0, 2)], [(HOUR, 1, 2)]
    third = [(3 * HOUR + died, 2, 2) for died in (0, 180, 360)]  # two deliveries beyond all attempts
    assert (runs, why(sqs_world)) == ([*first, *second, *third], ["recoverable.UnreportedFailure"])


def test_a_delay_that_a_handler_asks_for_is_never_shorter_than_the_configured_one(sqs_world: SqsWorld) -> None:
    def ask() -> None:
        raise RetryAfter(timedelta(seconds=1))

    assert run(sqs_world, Clocked(sqs_world, ask), delayed=1) == [(0, 0, 1), (HOUR, 1, 1)]


def test_a_delay_that_a_handler_asks_for_may_be_longer_and_a_fault_cuts_it_to_the_configured_one(
    sqs_world: SqsWorld,
) -> None:
    def ask() -> None:
        raise RetryAfter(timedelta(hours=2))

    for number in (1, 2):
        sqs_world.fail("change_message_visibility_batch", REFUSED, nth=number)

    assert run(sqs_world, Clocked(sqs_world, ask), delayed=2) == [(0, 0, 1), (HOUR, 1, 1), (3 * HOUR, 2, 1)]


def test_a_delay_of_a_policy_is_never_shorter_than_the_configured_one(sqs_world: SqsWorld) -> None:
    handler = Clocked(sqs_world)

    runs = run(sqs_world, handler, delayed=1, policy=lambda *_: DelayedRetry(timedelta(0)))

    assert runs[:2] == [(0, 0, 1), (HOUR, 1, 1)]


def test_a_round_that_is_late_makes_the_next_ones_no_earlier_than_their_delay(sqs_world: SqsWorld) -> None:
    sqs_world.fail("invoke", Throttled(), after=HOUR, during=60)

    (_, (second, *_), (third, *_)) = run(sqs_world, Clocked(sqs_world), delayed=2)

    assert (second > HOUR, third - second) == (True, 2 * HOUR)


def later(seconds: float) -> Callable[[], datetime]:
    """Return a clock that is so much later than the broker's."""
    return lambda: datetime.now(UTC) + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("since", "runs"),
    [
        (0, [("a1", 0, 1)]),  # received just now: it makes the last attempt of round 0
        (180, []),
        (HOUR, [("a1", 1, 1)]),
    ],
)
def test_a_delivery_that_was_lost_makes_the_message_wait_for_its_round(
    orders: Queue, error: Queue, proxy: FaultyProxy, since: float, runs: list[tuple[str, int, int]]
) -> None:
    handler = Failing()
    send(orders, "a1")
    lose_deliveries(orders, 1)

    endpoint = sqs_endpoint(
        handler, ladder(error, delayed=1, delay=HOUR), settle_within=timedelta(seconds=10), clock=later(since)
    )
    Mapping(orders, endpoint, contexts=lambda: Context(100)).poll()

    waits = {} if runs else {"ChangeMessageVisibilityBatch": 1}
    assert (handler.runs, dict(proxy.calls), orders.visible()) == (runs, waits, 0)


def test_a_delay_is_kept_when_its_visibility_change_fails_once(orders: Queue, error: Queue, proxy: FaultyProxy) -> None:
    send(orders, "a1")
    proxy.rules = [Rule("ChangeMessageVisibilityBatch", REFUSED, calls=(1,))]
    endpoint = Mapping(orders, sqs_endpoint(Failing("a1"), ladder(error, delayed=1, delay=HOUR)))

    reported = endpoint.poll()

    assert (reported, orders.visible(), proxy.calls["ChangeMessageVisibilityBatch"]) == (["a1"], 0, 2)


@pytest.mark.parametrize("first", ["", "x", "-1", "9" * 30, "-" + "9" * 17])
def test_a_time_of_the_first_receive_that_makes_no_sense_fails_no_invocation(
    orders: Queue, error: Queue, first: str
) -> None:
    handler = Failing()
    send(orders, "a1")
    lose_deliveries(orders, 1)
    (message,) = orders.receive()
    record = received(message, orders.arn)
    record["attributes"]["ApproximateFirstReceiveTimestamp"] = first

    response = sqs_endpoint(handler, ladder(error, delayed=1, delay=HOUR))(event(record), Context())

    assert (handler.bodies, response) == (["a1"], {"batchItemFailures": []})
