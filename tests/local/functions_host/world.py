"""A running Functions host as a test sees it: the host, and everything that it has seen happen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from recoverable_local.functions_host import Delivered, Ended, Entry, Invoked, LocalFunctions
from recoverable_local.service_bus import ServiceBusNamespace

DEADLINE = timedelta(seconds=90)

Kind = TypeVar("Kind", bound=Entry)


@dataclass(frozen=True)
class World:
    """A host and its journal.

    Args:
        host: Entered already.
        seen: Every entry so far, in order.
    """

    host: LocalFunctions
    seen: list[Entry]

    @property
    def namespace(self) -> ServiceBusNamespace:
        """The namespace that the host has started."""
        assert self.host.namespace is not None
        return self.host.namespace

    def all(self, kind: type[Kind]) -> list[Kind]:
        """The entries of one kind."""
        return [entry for entry in self.seen if isinstance(entry, kind)]

    def until(self, condition: Callable[[], object]) -> None:
        """Wait for a condition."""
        self.host.run_until(lambda: bool(condition()), deadline=DEADLINE)

    def ended(self, count: int) -> list[Ended]:
        """The first so many invocations, waited for."""
        self.until(lambda: len(self.all(Ended)) >= count)
        return self.all(Ended)[:count]

    def delivered(self) -> list[Delivered]:
        """What functions were given, in order."""
        return [message for entry in self.all(Invoked) for message in entry.messages]

    def said(self, word: str) -> list[str]:
        """The lines of the functions' log that start with a word, without it."""
        lines = [line.line for line in self.host.function_log]
        return [line.removeprefix(f"{word} ") for line in lines if line.startswith(f"{word} ")]

    def lines(self, word: str, count: int) -> list[str]:
        """The first so many of these lines, waited for: the log comes by another way than the answer."""
        self.until(lambda: len(self.said(word)) >= count)
        return self.said(word)

    def most_at_a_time(self) -> int:
        """How many invocations there were at the busiest moment."""
        running, most = set[str](), 0
        for entry in self.seen:
            if isinstance(entry, Invoked):
                running.add(entry.invocation_id)
            elif isinstance(entry, Ended):
                running.discard(entry.invocation_id)
            most = max(most, len(running))
        return most
