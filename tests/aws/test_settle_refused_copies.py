"""A queue that does not take a copy: the send is repeated, or the message waits and is sent on without its handler; never a hot loop."""

from __future__ import annotations

import logging
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from aws.failing import Handler
from aws.harness import Mapping, ladder, sqs_endpoint
from local.testing.ladders import attempts, endpoint, happened
from recoverable import Failed, Message, MoveToError, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import Refused, SqsWorld, Throttled
from servers.faulty_proxy import FaultyProxy, Rule
from servers.queues import Queue, bodies

MISSING = Refused("AWS.SimpleQueueService.NonExistentQueue")
HALF_AN_HOUR = timedelta(minutes=30)


def outage(queue: str | None, fault: Any, *, name: str = "orders", **settings: Any) -> SqsWorld:
    """Return a world after a message has failed while sends were refused for half an hour, and everything came to its end."""
    world = SqsWorld()
    world.serve(name, endpoint(immediate=0, delayed=0, **settings), timeout=30)
    world.fail("send_message_batch", fault, queue=queue, during=HALF_AN_HOUR)
    world.send(name, "hello")
    world.run()
    return world


def test_a_message_whose_error_queue_is_missing_waits_longer_each_time_and_its_handler_runs_once() -> None:
    world = outage("orders-error", MISSING)

    (copy,) = world.queue("orders-error")
    assert (copy.body, len(attempts(world)), world.queue("orders")) == ("hello", 1, [])
    assert copy.headers["NServiceBus.ExceptionInfo.Message"] == "do not honour"
    assert "Recoverable.RefusedSends" not in copy.headers


def test_the_waits_double_from_three_seconds_to_fifteen_minutes() -> None:
    world = outage("orders-error", MISSING)

    assert received_at(world) == [0, 3, 8, 18, 38, 78, 158, 318, 638, 1278, 2178]


def test_where_the_own_queue_refuses_too_the_message_waits_on_it_and_longer_each_time() -> None:
    world = outage(None, MISSING)

    times = received_at(world)
    waits = [later - earlier for earlier, later in pairwise(times)]
    assert len(world.queue("orders-error")) == 1
    assert waits[0] == 180  # six times the function's time-out, as the queue has it
    assert all(later >= earlier for earlier, later in pairwise(waits))
    assert len(times) <= 6


def test_a_busy_queue_is_asked_again_in_the_same_invocation() -> None:
    world = SqsWorld()
    world.serve("orders", endpoint(immediate=0, delayed=0), timeout=30)
    world.fail("send_message_batch", Throttled(), during=1)
    world.send("orders", "hello")
    world.run()

    assert (len(world.queue("orders-error")), received_at(world)) == (1, [0])


def received_at(world: SqsWorld) -> list[int]:
    """Return the second of each delivery from the queue."""
    return [int(at.total_seconds()) for at, what, _ in happened(world, "received") if what == "received"]


@pytest.mark.parametrize("code", ["AWS.SimpleQueueService.NonExistentQueue", "AccessDenied", "KMS.DisabledException"])
def test_a_queue_that_refuses_for_good_is_an_error_in_the_log_that_names_it_and_the_setting(
    orders: Queue, error: Queue, proxy: FaultyProxy, caplog: pytest.LogCaptureFixture, code: str
) -> None:
    orders.send("hello")
    proxy.rules = [Rule("SendMessageBatch", Refused(code), calls=(1,))]

    assert Mapping(orders, sqs_endpoint(Handler(), ladder(error))).poll() == []

    region, account = orders.arn.split(":")[3:5]
    (line,) = [each for each in caplog.records if each.name == "recoverable.settlement"]
    assert (line.levelno, orders.count(), bodies(error)) == (logging.ERROR, 1, [])
    assert line.getMessage().endswith(
        f"They wait on '{orders.name}' and are sent again without running their handler, up to 15 minutes apart. "
        f"Check Failed(error_queue): the queue '{error.name}' of account {account} in {region} must exist, and the function needs the permission sqs:SendMessage on it."
    )


def test_a_missing_queue_that_a_policy_names_is_not_blamed_on_the_configured_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings = Recoverability(failed=Failed("orders-error"), policy=lambda _settings, _context: MoveToError("fraud"))
    world = SqsWorld(create_missing=False)
    for queue in ("orders", "orders-error"):
        world.create_queue(queue)
    world.serve("orders", SqsEndpoint(Handler(), settings))
    world.send("orders", "hello")
    world.run(for_=timedelta(seconds=1))

    assert "Check the policy's MoveToError(error_queue): the queue 'fraud' of account " in caplog.text


def test_where_the_own_queue_denies_access_too_the_log_blames_no_queue(
    orders: Queue, error: Queue, proxy: FaultyProxy, caplog: pytest.LogCaptureFixture
) -> None:
    orders.send("hello")
    proxy.rules = [Rule("SendMessageBatch", Refused("AccessDenied"))]

    Mapping(orders, sqs_endpoint(Handler(), ladder(error))).poll()

    (line,) = [each for each in caplog.records if each.name == "recoverable.settlement"]
    assert (line.levelno, proxy.calls["SendMessageBatch"]) == (logging.WARNING, 2)
    assert line.getMessage().endswith(
        "They stay on the queue and will be redelivered after their visibility timeout. "
        "Check Failed(error_queue) and the permission sqs:SendMessage."
    )


def test_where_the_own_queue_takes_nothing_now_the_one_line_in_the_log_has_both_reasons(
    orders: Queue, error: Queue, proxy: FaultyProxy, caplog: pytest.LogCaptureFixture
) -> None:
    orders.send("hello")
    proxy.rules = [
        Rule("SendMessageBatch", Refused("QueueDoesNotExist"), calls=(1,)),
        Rule("SendMessageBatch", Refused("ExpiredToken", status=403)),
    ]

    Mapping(orders, sqs_endpoint(Handler(), ladder(error))).poll()

    (line,) = [each for each in caplog.records if each.name == "recoverable.settlement"]
    assert (line.levelno, "(QueueDoesNotExist)" in line.getMessage(), "(ExpiredToken)" in line.getMessage()) == (
        logging.ERROR,
        True,
        True,
    )
    assert "They stay on the queue" in line.getMessage()


def test_a_retry_that_is_too_large_for_its_own_queue_moves_to_the_error_queue_with_the_reason(
    orders: Queue, error: Queue, proxy: FaultyProxy, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(message: Message) -> None:
        raise ValueError("the reason")

    too_large = "One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes."
    proxy.rules = [Rule("SendMessageBatch", Refused("InvalidParameterValue", too_large), calls=(1,))]
    orders.send("hello")

    Mapping(orders, sqs_endpoint(fail, ladder(error, delayed=1))).run_dry()

    (copy,) = error.arrived()
    assert copy.headers["NServiceBus.ExceptionInfo.Message"] == "the reason"
    assert "a copy for a retry was refused. It moves to the error queue" in caplog.text
