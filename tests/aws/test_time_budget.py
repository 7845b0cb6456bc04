"""The invocation's time: nothing starts in the part kept for settling, and what runs into it is stopped."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import sleep
from typing import Any

import pytest

from aws.harness import AMPLE, Context, Countdown, Mapping, NearTheEnd, ladder, lose_deliveries, sqs_endpoint
from aws.placeholders import A_DATE
from builders import seconds
from recoverable import Message
from recoverable._flow.deadline import LOOK_EVERY
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import SqsWorld
from servers.faulty_proxy import FaultyProxy, Late, Rule
from servers.queues import HEADERS, Queue

NOW = datetime(2026, 3, 4, 5, 6, 7, 89, tzinfo=UTC)


class Spender:
    """A handler that uses up the invocation's time: as much as is left after it is what the context says from then on."""

    def __init__(self, left: float) -> None:
        self.context, self.runs, self._left = Context(), list[str](), left

    def __call__(self, message: Message) -> None:
        self.runs.append(message.text)
        self.context.seconds = self._left
        sleep(2 * LOOK_EVERY)  # then the context is asked again


def mapping(orders: Queue, error: Queue, handler: Callable[[Message], Any], context: Context, **more: Any) -> Mapping:
    settings = ladder(error, immediate=more.pop("immediate", 0))
    return Mapping(orders, sqs_endpoint(handler, settings, **more), contexts=lambda: context)


def test_what_the_reserve_leaves_no_time_for_is_deferred_and_counts_as_no_attempt(orders: Queue, error: Queue) -> None:
    spender = Spender(left=AMPLE - 0.1)
    orders.send("first")
    message_id = orders.send("second", attributes={"tenant": {"DataType": "String", "StringValue": "blue"}})

    reported = mapping(orders, error, spender, spender.context, clock=lambda: NOW).poll()

    (copy,) = orders.arrived()
    assert (spender.runs, reported) == (["first"], [])
    assert (copy.body, copy.attributes) == ("second", {"tenant": {"DataType": "String", "StringValue": "blue"}})
    assert copy.headers == {
        "NServiceBus.MessageId": message_id,
        "NServiceBus.TimeSent": A_DATE,
        "Recoverable.Origin": message_id,
        "Recoverable.HeldSince": "2026-03-04 05:06:07:000089 Z",
    }


def test_a_deferral_keeps_the_attempts_made_the_round_and_since_when_the_message_is_held(
    orders: Queue, error: Queue
) -> None:
    spender = Spender(left=AMPLE - 0.1)
    earlier = '{"NServiceBus.Retries": "2", "NServiceBus.FLRetries": "1", "Recoverable.HeldSince": "2026-03-04 05:00:00:000000 Z"}'
    orders.send("second", attributes={HEADERS: {"DataType": "String", "StringValue": earlier}})
    lose_deliveries(orders, 2)
    orders.send("first")

    mapping(orders, error, spender, spender.context, immediate=5).poll()

    (copy,) = orders.arrived()
    ladder_headers = {
        name: copy.headers.get(name)
        for name in ("NServiceBus.Retries", "NServiceBus.FLRetries", "Recoverable.HeldSince")
    }
    assert (spender.runs, ladder_headers) == (
        ["first"],
        {
            "NServiceBus.Retries": "2",
            "NServiceBus.FLRetries": "3",
            "Recoverable.HeldSince": "2026-03-04 05:00:00:000000 Z",
        },
    )


def test_without_time_for_sends_what_did_not_start_is_reported(
    orders: Queue, error: Queue, proxy: FaultyProxy, caplog: pytest.LogCaptureFixture
) -> None:
    spender = Spender(left=1.0)
    for body in ("first", "second", "third"):
        orders.send(body)

    reported = mapping(orders, error, spender, spender.context, visibility_timeout=timedelta(hours=1)).poll()

    assert (spender.runs, reported, dict(proxy.calls)) == (["first"], ["second", "third"], {})
    assert "(no time is left for the call). They stay on the queue and will be redelivered" in caplog.text


def slow(message: Message) -> None:
    if message.text != "quick":
        sleep(5)


def test_a_function_with_no_more_time_than_the_reserve_keeps_half_of_it_and_is_warned(
    orders: Queue, error: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    orders.send("slow")

    reported = mapping(orders, error, slow, NearTheEnd(began=AMPLE, left=AMPLE / 2 + 0.2)).poll()

    (copy,) = error.arrived()
    assert reported == []
    assert re.fullmatch(r"stopped after \d+\.\d seconds", copy.headers["NServiceBus.ExceptionInfo.Message"])
    assert "Raise the function's time-out, or lower settle_within" in caplog.text


def test_the_warning_about_little_time_comes_once_an_instance(caplog: pytest.LogCaptureFixture) -> None:
    world = SqsWorld()
    world.serve("orders", SqsEndpoint(lambda _message: None), batch_size=1, timeout=5)
    for _ in range(3):
        world.send("orders", "hello")
    world.run()

    assert [each.message for each in caplog.records if "lower settle_within" in each.message] == [
        "This invocation has 5.0 s, of which 3.0 s should be kept for settling. Handlers get half of its time. "
        "Raise the function's time-out, or lower settle_within."
    ]


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["SendMessageBatch", "DeleteMessageBatch"])
def test_a_broker_slower_than_the_reserve_does_not_outlast_the_invocation(
    orders: Queue, error: Queue, proxy: FaultyProxy, operation: str
) -> None:
    orders.send("slow")
    proxy.rules = [Rule(operation, Late())]
    time = Countdown(60)
    limits = {"settle_within": seconds(20), "handler_timeout": seconds(0.1)}

    reported = mapping(orders, error, slow, time, **limits).poll()

    assert time.get_remaining_time_in_millis() > 39_900  # of 60 s, less the reserve and the handler's tenth
    assert reported == (["slow"] if operation == "SendMessageBatch" else [])
