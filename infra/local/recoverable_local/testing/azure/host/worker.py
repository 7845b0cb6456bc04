"""Run the invocations of one worker process side by side, and end them together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from recoverable._service_bus.senders import Broker
from recoverable_local.testing.azure.broker.register import broker_id
from recoverable_local.testing.azure.host.listener import Listener, Locked
from recoverable_local.testing.engine.instance import Instance
from recoverable_local.testing.engine.invocation import Invocation
from recoverable_local.testing.engine.scheduler import Item


@dataclass(eq=False)
class PendingInvocation:
    """One invocation whose messages are not settled yet.

    Args:
        batch: its messages.
        listener: the listener that took them.
        began: when it began, in seconds of the world.
        renewal: the next renewal of its locks.
        settled: True if the host has done with it.
        held: True if the host waits for its time-out, because it gets no word of its end.
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
        """Return the broker's ids of its messages."""
        return [broker_id(locked.message.content) for locked in self.batch]

    @property
    def number(self) -> int:
        """Return the invocation's number; 0 before it has one."""
        return self.invocation.number if self.invocation else 0

    def finish_once(self) -> bool:
        """End it and its lock renewal; True the first time, False when it has ended already."""
        if self.renewal is not None:
            self.renewal.cancel()
        first, self.settled = not self.settled, True
        return first


@dataclass(eq=False)
class Worker:
    """One worker process.

    Args:
        client: what its endpoints get instead of the SDK's client, with the connections of this process.
        now: the world's time in seconds.
        invocations: the invocations in it.
        exit_unnoticed: True if it has ended, and the host believes that it runs.
    """

    client: Broker
    now: Callable[[], float]
    invocations: list[PendingInvocation] = field(default_factory=list)
    exit_unnoticed: bool = False
    _idle: list[Instance] = field(default_factory=list)
    _kept: dict[object, Any] = field(default_factory=dict)
    _slots: int = 0

    def slot(self) -> Instance:
        """Return an instance for an invocation: the one used last, or a new one."""
        if self._idle:
            return self._idle.pop()
        self._slots += 1
        return Instance(self._slots, self.now, self._kept)

    def give_back(self, slot: Instance, pending: PendingInvocation) -> None:
        """Free the instance of an invocation that has ended; close it if the whole process has ended."""
        self.invocations.remove(pending)
        if pending.invocation is not None and pending.invocation.ended:
            slot.end()
        else:
            self._idle.append(slot)

    def end(self, how: str, later: Callable[[Callable[[], None]], object]) -> list[PendingInvocation]:
        """End the process; return the invocations that end with it.

        Args:
            how: how it ended.
            later: calls a function when no event loop runs any more.
        """
        for slot in self._idle:
            later(slot.end)
        self._idle.clear()
        for pending in self.invocations:
            if pending.invocation is not None:
                pending.invocation.ended = pending.invocation.ended or how
        return list(self.invocations)
