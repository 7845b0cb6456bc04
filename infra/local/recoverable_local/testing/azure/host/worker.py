"""A worker process of a function app: its invocations run side by side, and end together when it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from recoverable_local.testing.azure.broker.register import broker_id
from recoverable_local.testing.azure.host.listener import Listener, Locked
from recoverable_local.testing.azure.sdk.sending import Client
from recoverable_local.testing.engine.instance import Instance
from recoverable_local.testing.engine.invocation import Invocation
from recoverable_local.testing.engine.scheduler import Item


@dataclass(eq=False)
class Flight:
    """One invocation on its way.

    Args:
        batch: its messages.
        listener: which took them.
        began: when it began, in seconds of the world.
        renewal: the next renewal of its locks.
        settled: whether the host has done with it.
        held: whether the host waits for its time-out, since nobody tells how it ends.
    """

    batch: list[Locked]
    listener: Listener
    began: float
    invocation: Invocation | None = None
    renewal: Item | None = None
    settled: bool = False
    held: bool = False

    @property
    def ids(self) -> list[str]:
        """The broker's ids of its messages."""
        return [broker_id(locked.message.content) for locked in self.batch]

    @property
    def number(self) -> int:
        """The invocation's number."""
        return self.invocation.number if self.invocation else 0

    def land(self) -> bool:
        """End it, unless it has ended already; nothing is renewed for it any more."""
        if self.renewal is not None:
            self.renewal.cancel()
        first, self.settled = not self.settled, True
        return first


@dataclass(eq=False)
class Worker:
    """A process.

    Args:
        client: what its endpoints get instead of the SDK's.
        now: the world's time in seconds.
        flights: the invocations in it.
        missed: whether it has ended, and the host takes it for alive.
    """

    client: Client
    now: Callable[[], float]
    flights: list[Flight] = field(default_factory=list)
    missed: bool = False
    _idle: list[Instance] = field(default_factory=list)
    _slots: int = 0

    def slot(self) -> Instance:
        """Where an invocation runs: the place that was last in use, or a new one."""
        if self._idle:
            return self._idle.pop()
        self._slots += 1
        return Instance(self._slots, self.now)

    def give_back(self, slot: Instance, flight: Flight) -> None:
        """An invocation has ended, or the whole process has."""
        self.flights.remove(flight)
        if flight.invocation is not None and flight.invocation.ended:
            slot.end()
        else:
            self._idle.append(slot)

    def end(self, how: str, later: Callable[[Callable[[], None]], object]) -> list[Flight]:
        """The process ends; gives the invocations that it takes along.

        Args:
            how: how.
            later: does something when no event loop runs any more.
        """
        for slot in self._idle:
            later(slot.end)
        self._idle.clear()
        for flight in self.flights:
            if flight.invocation is not None:
                flight.invocation.ended = flight.invocation.ended or how
        return list(self.flights)
