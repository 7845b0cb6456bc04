"""Order the messages that a queue delivers: any order for a standard queue, by group for a FIFO queue."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from math import inf
from random import Random

from recoverable_local.testing.aws.broker.stored import Stored


class StandardOrder:
    """Delivers first what became visible first; with a random source, any visible message, as SQS does.

    Args:
        chance: picks; None to keep the order.
    """

    def __init__(self, chance: Random | None = None) -> None:
        self._hidden: list[tuple[float, int, Stored]] = []
        self._visible: list[Stored] = []
        self._chance = chance

    def put(self, message: Stored) -> None:
        """Add a message from its `visible_at` on; call again whenever that changes."""
        heappush(self._hidden, (message.visible_at, message.number, message))

    def remove(self, message: Stored) -> None:
        """Do nothing: messages that are gone are skipped."""

    def ready(self, now: float) -> Iterator[Stored]:
        """Yield the messages that can be received; each is removed as it is yielded."""
        while self._show(now):
            place = self._chance.randrange(len(self._visible)) if self._chance else 0
            message = self._visible.pop(place)
            if not message.gone and message.visible_at <= now:
                yield message

    def next_at(self) -> float:
        """Return when the next message can be received; infinity when there is none."""
        if any(not message.gone for message in self._visible):
            return 0.0
        while self._hidden and self._is_outdated(*self._hidden[0]):
            heappop(self._hidden)
        return self._hidden[0][0] if self._hidden else inf

    def _show(self, now: float) -> bool:
        while self._hidden and self._hidden[0][0] <= now:
            entry = heappop(self._hidden)
            if not self._is_outdated(*entry):
                self._visible.append(entry[2])
        return bool(self._visible)

    @staticmethod
    def _is_outdated(moment: float, _number: int, message: Stored) -> bool:
        return message.gone or message.visible_at != moment


class FifoOrder:
    """Delivers each group in its order; while a message of a group is in flight, none after it is delivered."""

    def __init__(self) -> None:
        self._groups: dict[str | None, list[Stored]] = {}

    def put(self, message: Stored) -> None:
        """Add a message at the end of its group; one that is already there keeps its position."""
        group = self._groups.setdefault(message.group, [])
        if message not in group:
            group.append(message)

    def remove(self, message: Stored) -> None:
        """Remove a message; the next of its group follows."""
        group = self._groups[message.group]
        group.remove(message)
        if not group:
            del self._groups[message.group]

    def ready(self, now: float) -> Iterator[Stored]:
        """Yield the messages that can be received: of each group, all before the first hidden one."""
        for group in list(self._groups.values()):
            for message in list(group):
                if message.visible_at > now:
                    break
                yield message

    def next_at(self) -> float:
        """Return when the next message can be received; infinity when there is none."""
        return min((group[0].visible_at for group in self._groups.values()), default=inf)


DeliveryOrder = StandardOrder | FifoOrder
