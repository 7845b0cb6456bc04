"""A run ends, whatever comes to the error queue meanwhile: in the worlds, whose functions fail while it goes on."""

from __future__ import annotations

from typing import Any

import pytest

from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import SqsWorld

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
