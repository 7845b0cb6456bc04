"""Replay a scenario with the faults of a schedule, and return what promises are checked on; shared by both clouds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple, Protocol

from proof.fault_names import FAULTS
from proof.lineage import Origin
from proof.sends import Run, Sent
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
    """The parts of a scenario that searches and checks use, on either cloud."""

    @property
    def name(self) -> str:
        """Return what is special about it."""

    @property
    def bodies(self) -> tuple[str, ...]:
        """Return what each message does."""

    @property
    def queue(self) -> str:
        """Return the queue's name."""

    @property
    def recoverability(self) -> Recoverability:
        """Return the ladder."""

    @property
    def sends_to(self) -> tuple[str, ...]:
        """Return where handlers send."""

    @property
    def attempts_per_round(self) -> int:
        """Return the attempts of a round."""

    @property
    def attempts(self) -> int:
        """Return the attempts of the whole ladder."""

    @property
    def fifo(self) -> bool:
        """True if the queue keeps the order."""

    @property
    def waits_in_place(self) -> bool:
        """True if a delay is waited out inside an invocation."""

    @property
    def header_counter(self) -> bool:
        """True if an immediate retry is a copy."""

    @property
    def counted(self) -> bool:
        """True if each round has the attempts that the default policy gives it."""

    @property
    def copied(self) -> bool:
        """True if copies can be made."""

    @property
    def overlaps(self) -> bool:
        """True if a delivery may outlive its visibility timeout or its lock, so that another begins beside it."""

    @property
    def lock(self) -> float:
        """Return for how many seconds a batch has its messages; infinity where that is renewed."""

    @property
    def apart(self) -> bool:
        """True if a killer is kept apart from the messages that come with it."""

    @property
    def faults(self) -> bool:
        """True if it is searched with faults."""

    def window(self, queue: str) -> float:
        """Return for how many seconds a queue detects duplicates."""

    def outage(self, point: FaultPoint, now: float) -> Fault | None:
        """Return the scenario's own fault at this point, or None."""


class Struck(NamedTuple):
    """An injected fault: its point, its name, and the batch that it hit; the name is empty for an outage of the scenario."""

    point: FaultPoint
    fault_name: str
    batch: tuple[str, ...]


class Visit(NamedTuple):
    """A point that the run reached."""

    where: str
    point: FaultPoint


class Injector:
    """The world's hook: records each point, and returns the schedule's fault.

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
        where = f"{kind} {self._counts[kind]}"
        self.visits.append(Visit(where, point))
        batch = self.batch(point)
        fault_name = self._schedule.get(where, "")
        fault = FAULTS[fault_name] if fault_name else self._scenario.outage(point, self._world._seconds())
        if fault is not None:
            self.struck.append(Struck(point, fault_name, batch))
        return fault

    def batch(self, point: FaultPoint) -> tuple[str, ...]:
        """Return the messages of the invocation; without one, those of the point."""
        return tuple(self.batches.get(point.invocation, point.message_ids))


@dataclass(frozen=True)
class Replay:
    """The result of a run.

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
        retry_problem: why ServiceControl could not import an error copy and send it back as it was, given the broker's id.
        identities: the message's id by the broker's.
        remaining: what is still in the queue.
        errors: what is in error queues.
        endless: whether it would have gone on for ever.
        world: where it was.
        runs: the runs of the handler.
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
    retry_problem: Callable[[str], str]
    identities: Mapping[str, str]
    remaining: list[SeenMessage]
    errors: list[SeenMessage]
    endless: bool
    world: VirtualWorld
    runs: list[Run]

    def is_outgoing(self, entry: Entry) -> bool:
        """True for the send of what a handler sent: it is made in an invocation, and is no copy."""
        return entry.invocation > 0 and self.origins[entry.broker_id] is None

    @property
    def outgoing(self) -> list[Sent]:
        """Return what handlers sent, in order."""
        return [
            Sent(
                self.identities[entry.broker_id],
                entry.queue,
                text_of(self.content(entry.broker_id)[0]),
                number,
                entry.at,
                entry.invocation,
                self._is_dropped(number),
            )
            for number, entry in enumerate(self.entries)
            if entry.what == "sent" and self.is_outgoing(entry)
        ]

    def _is_dropped(self, number: int) -> bool:
        """True if what was sent by this event was dropped as a duplicate, which the next event says; SQS names the one that it keeps."""
        sent, *after = self.entries[number : number + 2]
        dropped = ("dropped as a duplicate", sent.broker_id, "")
        return any((each.what, each.broker_id, each.detail) == dropped for each in after)

    @property
    def timeline(self) -> Timeline:
        """Return what happened, for readers."""
        return self.world.timeline()


def text_of(body: str | bytes) -> str:
    """Return a body as text."""
    return body if isinstance(body, str) else body.decode(errors="replace")


@singledispatch
def replay(scenario: Any, schedule: Schedule) -> Replay:
    """Run the scenario until nothing is left to do, or for too long; each cloud registers its own."""
    raise TypeError(f"nobody replays a {type(scenario).__name__} with {schedule}")
