"""In which order a queue hands its messages out: any for a standard queue, by group for a FIFO one."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from math import inf
from random import Random

from recoverable_local.testing.aws.broker.stored import Stored


class StandardLine:
    """What became visible first comes first; with a source of chance, any of what is visible, as SQS has it.

    Args:
        chance: picks; None to keep the order.
    """

    def __init__(self, chance: Random | None = None) -> None:
        self._hidden: list[tuple[float, int, Stored]] = []
        self._visible: list[Stored] = []
        self._chance = chance

    def put(self, message: Stored) -> None:
        """The message is there from its `visible_at` on; to be said again whenever that changes."""
        heappush(self._hidden, (message.visible_at, message.number, message))

    def remove(self, message: Stored) -> None:
        """The message is gone; nothing to do, for what is gone is passed over."""

    def ready(self, now: float) -> Iterator[Stored]:
        """What can be received, each taken out as it is given."""
        while self._show(now):
            place = self._chance.randrange(len(self._visible)) if self._chance else 0
            message = self._visible.pop(place)
            if not message.gone and message.visible_at <= now:
                yield message

    def next_at(self) -> float:
        """When the next message can be received; infinity when there is none."""
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


class FifoLine:
    """Each group in its order; while a message of it is out, none after it is handed out."""

    def __init__(self) -> None:
        self._groups: dict[str | None, list[Stored]] = {}

    def put(self, message: Stored) -> None:
        """The message is behind the others of its group; one that is there already keeps its place."""
        group = self._groups.setdefault(message.group, [])
        if message not in group:
            group.append(message)

    def remove(self, message: Stored) -> None:
        """The message is gone, and what is behind it moves up."""
        group = self._groups[message.group]
        group.remove(message)
        if not group:
            del self._groups[message.group]

    def ready(self, now: float) -> Iterator[Stored]:
        """What can be received, each given until the first of its group that is hidden."""
        for group in list(self._groups.values()):
            for message in list(group):
                if message.visible_at > now:
                    break
                yield message

    def next_at(self) -> float:
        """When the next message can be received; infinity when there is none."""
        return min((group[0].visible_at for group in self._groups.values()), default=inf)


Line = StandardLine | FifoLine
