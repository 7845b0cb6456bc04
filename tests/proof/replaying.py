"""A scenario run with what a schedule says goes wrong, and what there is to judge afterwards: what both clouds share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple, Protocol

from proof.lineage import Origin
from proof.wrongs import WRONGS
from recoverable import Recoverability
from recoverable_local.testing import Fault, SeenMessage, Timeline
from recoverable_local.testing.engine.fault_plan import FaultPoint
from recoverable_local.testing.engine.virtual import VirtualWorld
from recoverable_local.testing.timeline import Entry

Schedule = Mapping[str, str]
"""Places and what goes wrong there, such as `{"before send_message_batch 2": "died"}`: at the second such point of the run."""

Batch = Mapping[str, int]
"""The broker's ids of an invocation's messages, and which of its deliveries each of them was."""


class Scenario(Protocol):
    """What a search and its judges ask of a scenario, on either cloud."""

    @property
    def name(self) -> str:
        """What is special about it."""

    @property
    def bodies(self) -> tuple[str, ...]:
        """What each message does."""

    @property
    def queue(self) -> str:
        """The queue's name."""

    @property
    def recoverability(self) -> Recoverability:
        """The ladder."""

    @property
    def attempts_per_round(self) -> int:
        """The attempts of a round."""

    @property
    def attempts(self) -> int:
        """All attempts of the ladder."""

    @property
    def fifo(self) -> bool:
        """Whether the queue keeps the order."""

    @property
    def header_counter(self) -> bool:
        """Whether an immediate retry is a copy."""

    @property
    def counted(self) -> bool:
        """Whether each round has the attempts that the default policy gives it."""

    @property
    def copied(self) -> bool:
        """Whether copies can be made."""

    @property
    def apart(self) -> bool:
        """Whether a killer is kept apart from what comes with it."""

    @property
    def share(self) -> float:
        """Which part of the schedules is enough."""

    @property
    def pairs(self) -> int:
        """How many schedules of two faults are tried, if that part is all."""

    def window(self, queue: str) -> float:
        """For how many seconds a queue knows duplicates."""

    def outage(self, point: FaultPoint, now: float) -> Fault | None:
        """What goes wrong anyway."""


class Struck(NamedTuple):
    """A fault that was injected: where, what, and in which batch; the name is empty for an outage of the scenario."""

    point: FaultPoint
    wrong: str
    batch: tuple[str, ...]


class Visit(NamedTuple):
    """A point that the run came to."""

    place: str
    point: FaultPoint


class Injector:
    """The world's hook: notes each point, and lets go wrong there what the schedule says.

    Args:
        scenario: whose outage strikes where the schedule says nothing.
        schedule: what goes wrong.
        world: whose time it is.
    """

    def __init__(self, scenario: Scenario, schedule: Schedule, world: VirtualWorld) -> None:
        self._scenario, self._schedule, self._world = scenario, schedule, world
        self._counts = Counter[str]()
        self.batches: dict[int, Batch] = {}
        self.visits: list[Visit] = []
        self.struck: list[Struck] = []

    def __call__(self, point: FaultPoint) -> Fault | None:
        kind = f"{point.when} {point.what}"
        self._counts[kind] += 1
        place = f"{kind} {self._counts[kind]}"
        self.visits.append(Visit(place, point))
        batch = self.batch(point)
        wrong = self._schedule.get(place, "")
        fault = WRONGS[wrong] if wrong else self._scenario.outage(point, self._world._seconds())
        if fault is not None:
            self.struck.append(Struck(point, wrong, batch))
        return fault

    def batch(self, point: FaultPoint) -> tuple[str, ...]:
        """The messages of the invocation; those of the point where there is none."""
        return tuple(self.batches.get(point.invocation, point.message_ids))


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
        origins: what each broker message was made of, by the broker's id.
        content: what a copy must keep of a broker message, given the broker's id.
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
    origins: Mapping[str, Origin | None]
    content: Callable[[str], Any]
    identities: Mapping[str, str]
    left: list[SeenMessage]
    errors: list[SeenMessage]
    endless: bool
    world: VirtualWorld

    @property
    def timeline(self) -> Timeline:
        """What happened, for readers."""
        return self.world.timeline()


@singledispatch
def replay(scenario: Any, schedule: Schedule) -> Replay:
    """Run the scenario until nothing is left to do, or for too long; each cloud registers how."""
    raise TypeError(f"nobody replays a {type(scenario).__name__} with {schedule}")
