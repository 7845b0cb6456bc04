"""Runs a scenario with what a schedule says goes wrong, and gives what there is to judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from proof.lineage import traced
from proof.scenarios import Scenario, world_of
from proof.wrongs import WRONGS
from recoverable.testing import EndlessRun, Fault, SeenMessage, SqsWorld, Timeline
from recoverable.testing.aws.stored import Stored
from recoverable.testing.points import Point
from recoverable.testing.timeline import Entry

Schedule = Mapping[str, str]
"""Places and what goes wrong there, such as `{"before send_message_batch 2": "died"}`: at the second such point of the run."""


Batch = Mapping[str, int]
"""The broker's ids of an invocation's messages, and which of its deliveries each of them was."""


class Struck(NamedTuple):
    """A fault that was injected: where, what, and in which batch; the name is empty for an outage of the scenario."""

    point: Point
    wrong: str
    batch: tuple[str, ...]


class Visit(NamedTuple):
    """A point that the run came to."""

    place: str
    point: Point


class Injector:
    """The world's hook: notes each point, and lets go wrong there what the schedule says.

    Args:
        scenario: whose outage strikes where the schedule says nothing.
        schedule: what goes wrong.
        world: whose time it is.
    """

    def __init__(self, scenario: Scenario, schedule: Schedule, world: SqsWorld) -> None:
        self._scenario, self._schedule, self._world = scenario, schedule, world
        self._counts = Counter[str]()
        self.batches: dict[int, Batch] = {}
        self.visits: list[Visit] = []
        self.struck: list[Struck] = []

    def __call__(self, point: Point) -> Fault | None:
        kind = f"{point.when} {point.what}"
        self._counts[kind] += 1
        place = f"{kind} {self._counts[kind]}"
        self.visits.append(Visit(place, point))
        batch = self._batch(point)
        wrong = self._schedule.get(place, "")
        fault = WRONGS[wrong] if wrong else self._scenario.outage(point, self._world._seconds())
        if fault is not None:
            self.struck.append(Struck(point, wrong, batch))
        return fault

    def _batch(self, point: Point) -> tuple[str, ...]:
        """The messages of the invocation; those of the point where there is none.

        An invocation has no number yet when it is about to begin; one that is throttled leaves its number to the next.
        """
        if point.invocation:
            return tuple(self.batches[point.invocation])
        if point.what == "invoke":
            receives = {one: self._world._broker.all[one][1].receives for one in point.message_ids}
            self.batches[self._world._invocations._number + 1] = receives
        return point.message_ids


@dataclass(frozen=True)
class Replay:
    """What is left of a run.

    Args:
        scenario: what was run.
        schedule: what went wrong.
        sent: the bodies by the broker's ids of what was sent.
        visits: the points that the run came to.
        struck: what was injected.
        batches: each invocation's batch.
        entries: what happened, in order.
        stored: all messages that ever were, by the broker's id.
        identities: the message's id by the broker's.
        left: what is still in the queue.
        errors: what is in error queues.
        endless: whether it would have gone on for ever.
        world: where it was.
    """

    scenario: Scenario
    schedule: Schedule
    sent: Mapping[str, str]
    visits: list[Visit]
    struck: list[Struck]
    batches: Mapping[int, Batch]
    entries: list[Entry]
    stored: Mapping[str, Stored]
    identities: Mapping[str, str]
    left: list[SeenMessage]
    errors: list[SeenMessage]
    endless: bool
    world: SqsWorld

    @property
    def timeline(self) -> Timeline:
        """What happened, for readers."""
        return self.world.timeline()


def replay(scenario: Scenario, schedule: Schedule) -> Replay:
    """Run the scenario until nothing is left to do, or for too long."""
    world, sent = world_of(scenario)
    injector = Injector(scenario, schedule, world)
    world.ask_at_each_point(injector)
    endless = False
    with traced():
        try:
            world.run()
        except EndlessRun:
            endless = True
    broker = world._broker
    errors = [seen for name in broker.queues if name != scenario.queue for seen in world.queue(name)]
    return Replay(
        scenario,
        schedule,
        sent,
        injector.visits,
        injector.struck,
        injector.batches,
        world._journal._entries,
        {broker_id: message for broker_id, (_, message) in broker.all.items()},
        {broker_id: world._identity(broker_id) for broker_id in broker.all},
        world.queue(scenario.queue),
        errors,
        endless,
        world,
    )
