"""A heartbeat against a real SQS API, by the process's own client and in real time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from aws.harness import Context, Mapping, ladder, sqs_endpoint, wait_for
from aws.records import event, received
from recoverable import Message
from recoverable.aws import SqsEndpoint
from recoverable.extensions import Heartbeat
from recoverable_local.testing import Refused, Unreachable
from servers.faulty_proxy import FaultyProxy, Rule
from servers.queues import Queue

CHANGE = "ChangeMessageVisibilityBatch"
SHORT: dict[str, Any] = {"extensions": (Heartbeat(timedelta(seconds=2)),), "settle_within": timedelta(seconds=1)}
TWELVE = [f"{number:02}" for number in range(12)]


def heartbeat_threads() -> list[threading.Thread]:
    """Return the threads of heartbeats."""
    return [each for each in threading.enumerate() if each.name == "recoverable-later"]


def until_calls(proxy: FaultyProxy, number: int) -> Callable[[Message], None]:
    """Return a handler that works until so many visibility changes were asked for."""
    return lambda _: wait_for(lambda: proxy.calls[CHANGE] >= number)


def test_a_message_stays_hidden_for_as_long_as_its_handler_works(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    proxy.rules = [Rule(CHANGE, Unreachable(), (2,)), Rule(CHANGE, Refused("RequestThrottled", status=403), (4,))]
    visible: list[int] = []

    def handle(message: Message) -> None:
        until_calls(proxy, 6)(message)  # which is longer than it was hidden for at first
        visible.append(orders.visible())

    orders.send()
    answer = Mapping(orders, sqs_endpoint(handle, ladder(error), **SHORT)).poll()

    assert (visible, answer, orders.count()) == ([0], [], 0)


def test_once_the_endpoint_has_returned_nothing_of_a_heartbeat_is_left(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    orders.send()

    Mapping(orders, sqs_endpoint(until_calls(proxy, 2), ladder(error), **SHORT)).poll()

    wait_for(lambda: not heartbeat_threads())


def test_all_records_are_hidden_by_calls_of_ten_before_the_first_handler_runs(
    new_queue: Callable[..., Queue], error: Queue, proxy: FaultyProxy
) -> None:
    calls: list[tuple[int, int]] = []
    orders = new_queue("orders")
    for body in TWELVE:
        orders.send(body)
    gathered = [*orders.receive(), *orders.receive()]

    def handle(_: Message) -> None:
        calls.append((proxy.calls[CHANGE], proxy.entries[CHANGE]))

    endpoint = sqs_endpoint(handle, ladder(error), **SHORT)
    endpoint(event(*(received(message, orders.arn) for message in gathered)), Context())

    assert calls == [(2, 12)] * 12


def test_a_failed_message_is_visible_at_once_whatever_its_heartbeat_did(
    orders: Queue, error: Queue, proxy: FaultyProxy
) -> None:
    runs: list[str] = []

    def fail_once(message: Message) -> None:
        until_calls(proxy, 3)(message)
        runs.append(message.text)
        if len(runs) == 1:
            raise ValueError("no")

    orders.send("a")
    # long enough for the beat before the last, if the last one is not yet confirmed when the handler fails
    beating = {**SHORT, "extensions": (Heartbeat(timedelta(seconds=4)),)}
    mapping = Mapping(orders, sqs_endpoint(fail_once, ladder(error, immediate=1), **beating))

    assert (mapping.poll(), mapping.poll(), runs) == (["a"], [], ["a", "a"])


def test_without_the_right_to_change_visibility_messages_are_handled_and_the_log_says_what_is_missing(
    orders: Queue, error: Queue, proxy: FaultyProxy, caplog: pytest.LogCaptureFixture
) -> None:
    proxy.rules = [Rule(CHANGE, Refused("AccessDenied"))]
    orders.send()

    Mapping(orders, sqs_endpoint(lambda _: None, ladder(error), **SHORT)).poll()

    assert orders.count() == 0
    assert [record.message for record in caplog.records] == [
        f"SQS ChangeMessageVisibilityBatch failed for 1 messages from '{orders.name}' (An error occurred (AccessDenied) when calling the "
        "ChangeMessageVisibilityBatch operation (reached max retries: 0): Refused by the test.). Their heartbeat is tried again at the next beat; without it they "
        "become visible while this instance still has them, or a crash is noticed late. Check the permission sqs:ChangeMessageVisibility."
    ]


@pytest.mark.parametrize(
    ("heartbeat", "error", "text"),
    [
        (120, TypeError, "Heartbeat(hidden) is 120; write a timedelta, such as timedelta(seconds=10)"),
        (timedelta(hours=13), ValueError, "Heartbeat(hidden) is 13:00:00; write a timedelta from 0 to 12:00:00"),
        (
            timedelta(seconds=5),
            ValueError,
            "Heartbeat(hidden) is 0:00:05; write 0:00:06 or more, which is twice settle_within",
        ),
    ],
)
def test_a_heartbeat_that_cannot_be_kept_is_refused(heartbeat: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        SqsEndpoint(lambda _: None, extensions=(Heartbeat(heartbeat),))

    assert str(raised.value) == text
