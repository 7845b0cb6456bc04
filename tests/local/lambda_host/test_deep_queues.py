"""Test that the local SQS takes a night drill: thousands of messages, and dead letters that say from where they came."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any
from uuid import uuid4

import pytest
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.sqs.exceptions import ReceiptHandleIsInvalid
from moto.sqs.models import SQSBackend, sqs_backends

from operate.conftest import Errors, errors, journal
from recoverable_local.lambda_host.services.broker import embedded_broker

__all__ = ["errors", "journal"]

REGION = "eu-west-1"
HIDDEN = 600  # seconds


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Yield the URL of a local SQS."""
    with embedded_broker() as url:
        yield url


class Queue:
    """A queue of the local SQS, without the way over HTTP."""

    def __init__(self, *, holds: int = 0, name: str = "", **attributes: Any) -> None:
        self.broker: SQSBackend = sqs_backends[DEFAULT_ACCOUNT_ID][REGION]
        self.name = name or f"q-{uuid4().hex[:12]}"
        self.stored = self.broker.create_queue(self.name, {}, **attributes)
        self.send(*map(str, range(holds)))

    def send(self, *bodies: str, group: str | None = None) -> None:
        for body in bodies:
            self.broker.send_message(self.name, body, group_id=group, deduplication_id=body if group else None)

    def receive(self, *, hides: int = HIDDEN) -> list[Any]:
        return self.broker.receive_message(self.name, 10, 0, hides, [])

    def bodies(self, *, hides: int = HIDDEN) -> list[str]:
        return [each.body for each in self.receive(hides=hides)]

    def show(self, *received: Any) -> None:
        for each in received:
            self.broker.change_message_visibility(self.name, each.receipt_handle, 0)

    def delete(self, *received: Any) -> None:
        for each in received:
            self.broker.delete_message(self.name, each.receipt_handle)


def calls_of(function: Callable[[], object]) -> int:
    """Return how many calls of Python functions one call makes."""
    calls = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


def take(queue: Queue, messages: int) -> None:
    """Receive so many messages, which hides them."""
    for _ in range(messages // 10):
        assert len(queue.receive()) == 10


@pytest.mark.usefixtures("url")
@pytest.mark.parametrize("hidden", [0, 2_500], ids=["all visible", "half of them hidden"])
def test_at_five_thousand_messages_each_call_costs_twice_what_it_costs_at_fifty_at_most(hidden: int) -> None:
    short, deep = Queue(holds=50), Queue(holds=5_000)
    take(short, hidden // 100)
    take(deep, hidden)
    for queue in (short, deep):
        queue.receive()  # puts aside what the receive before has hidden

    received = {queue.name: queue.receive() for queue in (short, deep)}
    costs: dict[str, list[int]] = {}
    for queue in (short, deep):
        mine = received[queue.name]
        costs["receive"] = [*costs.get("receive", []), calls_of(queue.receive)]
        costs["show"] = [*costs.get("show", []), calls_of(lambda: queue.show(*mine))]  # noqa: B023  # called at once
        costs["delete"] = [*costs.get("delete", []), calls_of(lambda: queue.delete(*mine))]  # noqa: B023  # as above

    assert {name: deep > 2 * short for name, (short, deep) in costs.items()} == dict.fromkeys(costs, False), costs


class CountingSet(set[Any]):
    """A set that counts how often somebody goes through all of it."""

    times = 0

    def __iter__(self) -> Iterator[Any]:
        self.times += 1
        return super().__iter__()


@pytest.mark.usefixtures("url")
def test_a_receive_from_a_standard_queue_does_not_go_through_all_that_is_in_flight() -> None:
    queue = Queue(holds=30)
    take(queue, 10)
    queue.stored._pending_messages = in_flight = CountingSet(queue.stored.pending_messages)

    take(queue, 10)

    assert (len(in_flight), in_flight.times) == (20, 0)


@pytest.mark.usefixtures("url")
def test_each_message_comes_once_and_in_its_order_until_it_is_shown_again() -> None:
    queue = Queue(holds=25)

    first, second, third, none = (queue.receive() for _ in range(4))

    assert [each.body for each in (*first, *second, *third)] == [str(number) for number in range(25)]
    assert none == []
    queue.show(second[3], first[2])
    assert queue.bodies() == ["2", "13"]


@pytest.mark.usefixtures("url")
def test_what_is_hidden_for_no_time_comes_again_at_once_and_what_is_deleted_never() -> None:
    queue = Queue(holds=3)

    queue.delete(queue.receive(hides=0)[1])

    assert (queue.bodies(hides=0), queue.bodies(), queue.bodies()) == (["0", "2"], ["0", "2"], [])


@pytest.mark.usefixtures("url")
def test_a_message_is_deleted_twice_without_an_error_and_by_the_handle_of_another_queue_not_at_all() -> None:
    queue, other = Queue(holds=1), Queue()
    [message] = queue.receive()

    with pytest.raises(ReceiptHandleIsInvalid):
        other.delete(message)
    queue.delete(message)
    queue.delete(message)

    assert len(queue.stored._messages) == 0


@pytest.mark.usefixtures("url")
def test_a_fifo_group_waits_for_its_first_message_and_keeps_its_order() -> None:
    queue = Queue(name=f"q-{uuid4().hex[:12]}.fifo", FifoQueue="true")
    queue.send("a1", "a2", group="a")
    queue.send("b1", group="b")

    first = queue.receive()
    held_back = queue.bodies()
    queue.show(first[1], first[0])

    assert ([each.body for each in first], held_back, queue.bodies()) == (["a1", "a2", "b1"], [], ["a1", "a2"])


@pytest.mark.usefixtures("url")
def test_counts_are_those_of_sqs() -> None:
    queue = Queue(holds=25)
    queue.receive()
    queue.broker.send_message(queue.name, "later", delay_seconds=900)

    counts = queue.stored
    assert (
        counts.approximate_number_of_messages,
        counts.approximate_number_of_messages_not_visible,
        counts.approximate_number_of_messages_delayed,
    ) == (15, 10, 1)


def test_a_dead_letter_is_sent_back_by_what_the_local_sqs_says_of_it(
    url: str, errors: Errors, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": REGION}.items():
        monkeypatch.setenv(name, value)
    error = Queue()
    policy = json.dumps({"deadLetterTargetArn": error.stored.queue_arn, "maxReceiveCount": 1})
    orders = Queue(RedrivePolicy=policy)
    orders.send("hello")
    orders.receive(hides=0)
    orders.receive(hides=0)

    ran = errors("retry", "--queue", error.name, "--endpoint-url", url, "--yes")

    assert (ran.status, orders.bodies(), error.bodies()) == (0, ["hello"], [])
    assert "dead-lettered by the broker" in ran.out
