"""A ladder that was made smaller while its messages were under way: they run once more and are given up with what they raise; in virtual time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from recoverable import Delayed, Failed, Immediate, Message, Recoverability
from recoverable.aws import SqsEndpoint
from recoverable_local.testing import ClockSkewed, Refused, SqsWorld

TEN_MINUTES = timedelta(minutes=10)


class Deployments:
    """A function that is deployed anew with a smaller ladder, once its handler has run so often.

    Args:
        world: where it runs.
        after: the runs of the handler under the old ladder.
        seconds: how long each run takes.
        old: the ladder that is deployed first; no retries follow it.
    """

    def __init__(self, world: SqsWorld, after: int, seconds: float, old: Recoverability) -> None:
        self._world, self._after, self._seconds, self.runs = world, after, seconds, 0
        none = old.replace(immediate=Immediate(0), delayed=Delayed(0))
        self._old, self._new = (SqsEndpoint(self._fail, ladder) for ladder in (old, none))

    def __call__(self, event: dict[str, Any], context: Any) -> Any:
        """Handle a batch by what is deployed."""
        return (self._old if self.runs < self._after else self._new)(event, context)

    def _fail(self, _message: Message) -> None:
        self.runs += 1
        self._world.spend(self._seconds)
        raise ValueError("do not honour")


def not_run(queue: str, old: Recoverability, places: range, seconds: float) -> list[int]:
    """Return the places at which a message was given up without a run when the ladder was made smaller behind them."""
    found = []
    for place in places:
        world = SqsWorld()
        errors = "errors.fifo" if queue.endswith(".fifo") else "errors"
        world.create_queue(queue, visibility_timeout=180, dead_letter_queue=errors, max_receive_count=50)
        function = Deployments(world, place, seconds, old.replace(failed=Failed(errors)))
        world.serve(queue, function, batch_size=1, timeout=30)
        world.send(queue, "hello", **in_order(queue))
        world.run()
        assert len(world.queue(errors)) == 1
        if function.runs == place:
            found.append(place)
    return found


def in_order(queue: str) -> dict[str, Any]:
    """Return what a message to a FIFO queue needs."""
    return {"group_id": "g", "deduplication_id": "d"} if queue.endswith(".fifo") else {}


def increasing(seconds: float) -> Recoverability:
    """Return the default ladder with other delays."""
    return Recoverability(Immediate(5), Delayed(3, timedelta(seconds=seconds)))


@pytest.mark.parametrize("seconds", [0, 20])
def test_on_a_standard_queue_each_of_6_places_runs_once_more(seconds: float) -> None:
    assert not_run("orders", increasing(10), range(1, 7), seconds) == []


@pytest.mark.parametrize(("seconds", "increase"), [(0, 10), (20, 10), (0, 60)])
def test_on_a_fifo_queue_each_of_23_places_runs_once_more(seconds: float, increase: float) -> None:
    assert not_run("orders.fifo", increasing(increase), range(1, 24), seconds) == []


def test_after_three_visibility_timeouts_a_smaller_ladder_cannot_be_told_from_a_killer() -> None:
    assert not_run("orders.fifo", increasing(300), range(1, 24), 0) == [*range(12, 24)]


LADDERS = {(0, 0): (3, 3), (1, 0): (4, 4), (5, 0): (8, 8), (0, 1): (6, 4), (1, 1): (8, 6), (2, 2): (15, 11)}
"""How often a handler that ends its process runs, on a standard and on a FIFO queue, by immediate and delayed retries."""

RUNS = {
    (queue, ladder): made
    for ladder, both in LADDERS.items()
    for queue, made in zip(("orders", "orders.fifo"), both, strict=True)
}


def skewed(by: timedelta) -> Callable[[SqsWorld], object]:
    """Return what sets the clocks of the function's instances."""
    return lambda world: world.fail("invoke", ClockSkewed(by))


CONDITIONS: dict[str, Callable[[SqsWorld], object]] = {
    "all is well": lambda _: None,
    "clocks are 10 min late": skewed(-TEN_MINUTES),
    "clocks are 10 min early": skewed(TEN_MINUTES),
    "GetQueueAttributes is denied": lambda world: world.fail("get_queue_attributes", Refused("AccessDenied")),
}


def runs_of_killers(world: SqsWorld, queue: str, ladder: tuple[int, int], killers: int = 1) -> list[int]:
    """Return how often the handler of each message ran that ends its process, until all are in the error queue."""
    errors = "errors.fifo" if queue.endswith(".fifo") else "errors"
    settings = Recoverability(Immediate(ladder[0]), Delayed(ladder[1]), Failed(errors))
    runs: Counter[str] = Counter()

    def end(message: Message) -> None:
        runs[message.text] += 1
        world.kill()

    world.create_queue(queue, visibility_timeout=180, dead_letter_queue=errors, max_receive_count=50)
    world.serve(queue, SqsEndpoint(end, settings), batch_size=killers, timeout=30, recursive_loop="Allow")
    for number in range(killers):
        world.send(queue, str(number), **in_order(queue))
    world.run()
    assert len(world.queue(errors)) == killers
    return sorted(runs.values())


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
@pytest.mark.parametrize(("queue", "ladder"), RUNS, ids=str)
def test_what_ends_its_process_runs_as_often_as_before(
    sqs_world: SqsWorld, queue: str, ladder: tuple[int, int], condition: Callable[[SqsWorld], object]
) -> None:
    condition(sqs_world)

    assert runs_of_killers(sqs_world, queue, ladder) == [RUNS[queue, ladder]]


def test_what_carries_the_unreported_deliveries_of_an_earlier_copy_runs_as_often_as_before(sqs_world: SqsWorld) -> None:
    assert runs_of_killers(sqs_world, "orders", (0, 0), killers=4) == [1, 1, 2, 2]
