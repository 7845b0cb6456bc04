"""Drive a running Functions host in a test: wait for invocations and log lines, and look them up."""

from __future__ import annotations

from local.running_host import RunningHost, most_at_a_time
from recoverable_local.functions_host import Delivered, Ended, Entry, Invoked, LocalFunctions
from recoverable_local.service_bus import ServiceBusNamespace


class RunningFunctions(RunningHost[LocalFunctions, Entry]):
    """A Functions host and its journal."""

    @property
    def namespace(self) -> ServiceBusNamespace:
        """Return the namespace that the host has started."""
        assert self.host.namespace is not None
        return self.host.namespace

    def ended(self, count: int) -> list[Ended]:
        """Wait for this many invocations, and return them."""
        return self.first(Ended, count)

    def delivered(self) -> list[Delivered]:
        """Return all deliveries to functions, in order."""
        return [message for entry in self.all(Invoked) for message in entry.messages]

    def lines_with(self, word: str) -> list[str]:
        """Return the lines of the functions' log that start with a word, without this word."""
        lines = [line.line for line in self.host.function_log]
        return [line.removeprefix(f"{word} ") for line in lines if line.startswith(f"{word} ")]

    def lines(self, word: str, count: int) -> list[str]:
        """Wait for this many of these lines, and return all: a line can arrive later than the function's answer."""
        self.until(lambda: len(self.lines_with(word)) >= count)
        return self.lines_with(word)

    def most_at_a_time(self) -> int:
        """Return the highest number of invocations that ran at the same time."""
        changes = [entry for entry in self.entries if isinstance(entry, Invoked | Ended)]
        return most_at_a_time((entry.request_id, isinstance(entry, Invoked)) for entry in changes)
