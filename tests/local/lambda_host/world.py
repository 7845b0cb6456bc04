"""A running host as a test sees it: the host, and everything that it has seen happen."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from recoverable_local.lambda_host import Ended, Entry, Invoked, LocalAws

DEADLINE = timedelta(seconds=90)

Kind = TypeVar("Kind", bound=Entry)


@dataclass(frozen=True)
class World:
    """A host and its journal.

    Args:
        host: Entered already.
        seen: Every entry so far, in order.
    """

    host: LocalAws
    seen: list[Entry]

    def send(self, do: str, *, queue: str = "orders", group_id: str | None = None, **script: Any) -> str:
        """Send a message that tells the function what to do."""
        return self.host.send(queue, {"do": do, **script}, group_id=group_id)

    def all(self, kind: type[Kind]) -> list[Kind]:
        """The entries of one kind."""
        return [entry for entry in self.seen if isinstance(entry, kind)]

    def until(self, condition: Callable[[], object]) -> None:
        """Wait for a condition."""
        self.host.run_until(lambda: bool(condition()), deadline=DEADLINE)

    def ended(self, count: int) -> list[Ended]:
        """The first so many invocations, waited for; what each but the last fails comes back at once."""
        for number in range(1, count):
            self.show_again(self._awaited(number)[-1])
        return self._awaited(count)

    def _awaited(self, count: int) -> list[Ended]:
        self.until(lambda: len(self.all(Ended)) >= count)
        return self.all(Ended)[:count]

    def show_again(self, ended: Ended) -> None:
        """End the visibility timeout of the messages that an invocation has failed."""
        for entry in self.all(Invoked):
            if entry.request_id == ended.request_id and ended.failed:
                handles = [one["receiptHandle"] for one in entry.records if one["messageId"] in ended.failed]
                queue = self.host.queue(entry.records[0]["eventSourceARN"].rpartition(":")[2])
                queue.sqs.show_again(queue.url, handles)

    def delivered(self) -> list[tuple[str, int]]:
        """What the function was given, in order: what each message tells it to do, and its receive count."""
        records = [record for entry in self.all(Invoked) for record in entry.records]
        return [(json.loads(one["body"])["do"], int(one["attributes"]["ApproximateReceiveCount"])) for one in records]

    def most_at_a_time(self) -> int:
        """How many invocations there were at the busiest moment."""
        running, most = set[str](), 0
        for entry in self.seen:
            if isinstance(entry, Invoked):
                running.add(entry.request_id)
            elif isinstance(entry, Ended):
                running.discard(entry.request_id)
            most = max(most, len(running))
        return most
