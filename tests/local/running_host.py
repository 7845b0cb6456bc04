"""Wait for the journal entries of a running host and look them up, for tests of both hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, Protocol, TypeVar

from deadlines import WHOLE_RUN


class Host(Protocol):
    """A host that can wait for a condition."""

    def run_until(self, condition: Callable[[], bool], *, deadline: timedelta) -> None:
        """Wait until a condition holds.

        Raises:
            TimeoutError: It does not hold at the deadline.
        """


HostT = TypeVar("HostT", bound=Host)
EntryT = TypeVar("EntryT")
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class RunningHost(Generic[HostT, EntryT]):
    """A host and its journal.

    Args:
        host: Entered already.
        entries: Every journal entry so far, in order.
    """

    host: HostT
    entries: list[EntryT]

    def all(self, kind: type[Kind]) -> list[Kind]:
        """Return the entries of one type."""
        return [entry for entry in self.entries if isinstance(entry, kind)]

    def until(self, condition: Callable[[], object]) -> None:
        """Wait for a condition."""
        self.host.run_until(lambda: bool(condition()), deadline=WHOLE_RUN)

    def first(self, kind: type[Kind], count: int) -> list[Kind]:
        """Wait for this many entries of one type, and return them."""
        self.until(lambda: len(self.all(kind)) >= count)
        return self.all(kind)[:count]


def most_at_a_time(changes: Iterable[tuple[str, bool]]) -> int:
    """Return the highest number of invocations that ran at the same time.

    Args:
        changes: The id of each invocation with True where it starts and False where it ends, in order.
    """
    running, most = set[str](), 0
    for invocation_id, starts in changes:
        if starts:
            running.add(invocation_id)
        else:
            running.discard(invocation_id)
        most = max(most, len(running))
    return most
