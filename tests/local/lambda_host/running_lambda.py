"""Drive a running Lambda host in a test: send messages, wait for invocations, and look them up."""

from __future__ import annotations

import json
from typing import Any

from local.running_host import RunningHost, most_at_a_time
from recoverable_local.lambda_host import Ended, Entry, Invoked, LocalAws
from recoverable_local.lambda_host.records import name_of


class RunningLambda(RunningHost[LocalAws, Entry]):
    """A Lambda host and its journal."""

    def send(self, do: str, *, queue: str = "orders", group_id: str | None = None, **script: Any) -> str:
        """Send a message that tells the function what to do."""
        return self.host.send(queue, {"do": do, **script}, group_id=group_id)

    def ended(self, count: int) -> list[Ended]:
        """Wait for this many invocations, and return them. Messages that each but the last failed become visible at once."""
        for number in range(1, count):
            self.make_visible(self.first(Ended, number)[-1])
        return self.first(Ended, count)

    def make_visible(self, ended: Ended) -> None:
        """End the visibility timeout of the messages that an invocation failed."""
        for entry in self.all(Invoked):
            if entry.request_id == ended.request_id and ended.failed:
                handles = [one["receiptHandle"] for one in entry.records if name_of(one) in ended.failed]
                queue = self.host.queue(entry.records[0]["eventSourceARN"].rpartition(":")[2])
                queue.sqs.make_visible(queue.url, handles)

    def delivered(self) -> list[tuple[str, int]]:
        """Return all deliveries to the function in order: what the message tells it to do, and its receive count."""
        records = [record for entry in self.all(Invoked) for record in entry.records]
        return [(json.loads(one["body"])["do"], int(one["attributes"]["ApproximateReceiveCount"])) for one in records]

    def most_at_a_time(self) -> int:
        """Return the highest number of invocations that ran at the same time."""
        changes = [entry for entry in self.entries if isinstance(entry, Invoked | Ended)]
        return most_at_a_time((entry.request_id, isinstance(entry, Invoked)) for entry in changes)
