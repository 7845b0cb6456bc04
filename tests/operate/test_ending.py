"""A run ends, whatever comes to the error queue meanwhile: in the worlds, whose functions fail while it goes on."""

from __future__ import annotations

from typing import Any

import pytest

from operate.failing import fault_headers
from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import ServiceBusWorld, SqsWorld
from recoverable_local.testing.azure.sdk.receiving import Receiver

ONCE = Recoverability(Immediate(0), Delayed(0), Failed("error.fifo"))


def refuse(message: Message) -> None:
    """Fail at once, whatever the message is."""
    raise ValueError(message.id)


def failed_orders(*groups: str) -> SqsWorld:
    """Return a world with failed messages of these groups, whose function fails on."""
    world = SqsWorld(seed=1)
    world.serve("orders.fifo", SqsEndpoint(refuse, ONCE))
    for number, group in enumerate(groups):
        world.send("orders.fifo", {"id": number}, group_id=group, deduplication_id=str(number))
    world.run()
    return world


@pytest.mark.parametrize("rate", [0, 1], ids=["as fast as possible", "one a second"])
@pytest.mark.parametrize(
    "groups",
    [("a",), ("a", "a", "a"), ("a", "b", "c"), tuple("ab" * 20)],
    ids=["one message", "one group", "three groups", "more than a receive shows"],
)
def test_what_comes_back_stays_and_the_run_ends(groups: tuple[str, ...], rate: int) -> None:
    world = failed_orders(*groups)

    done = world.redrive("error.fifo", rate=rate)

    world.run()
    assert (done.outcome.sent <= len(groups), len(world.queue("error.fifo"))) == (True, len(groups))


def test_what_comes_back_is_counted_apart_from_what_was_sent() -> None:
    world = failed_orders("a", "b")

    done = world.redrive("error.fifo", rate=0.1)

    assert (done.outcome.sent, done.outcome.returned, done.plan.whole) == (2, 2, False)


def test_the_next_run_sends_it_again() -> None:
    world = failed_orders("a")
    world.redrive("error.fifo")
    world.run()

    again: Any = world.redrive("error.fifo").outcome
    world.run()

    assert (again.sent, [each.headers["Recoverable.Redrives"] for each in world.queue("error.fifo")]) == (1, ["2"])


def test_a_look_on_service_bus_ends_whoever_sends_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    world = ServiceBusWorld()
    for name in ("bills", "error"):
        world.create_queue(name)

    def send() -> None:
        world.send("error", "x", attributes=fault_headers("bills"))

    def peek_and_send(receiver: Receiver, count: int = 1, *, sequence_number: int = 0) -> Any:
        world.run(for_=10)
        send()
        return peek(receiver, min(count, 3), sequence_number=sequence_number)

    peek = Receiver.peek_messages
    monkeypatch.setattr(Receiver, "peek_messages", peek_and_send)
    for _ in range(3):
        send()

    ran = world.redrive("error", to="bills", rate=0)

    assert (ran.plan.ending, ran.outcome.sent, len(world.queue("error"))) == (
        "more have come since it began; run it again for these", len(world.queue("bills")), 1
    )  # fmt: skip
