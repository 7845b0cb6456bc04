"""Messages in groups, and a handler that fails for some of them."""

from __future__ import annotations

from recoverable import Message
from servers.queues import Queue


def send(queue: Queue, *bodies: str) -> None:
    """Send each body to the group that its first letter names."""
    for body in bodies:
        queue.send(body, MessageGroupId=body[0])


class Failing:
    """A handler that fails for some bodies, and records its runs: body, round and attempt.

    Args:
        bad: the bodies that it fails for.
    """

    def __init__(self, *bad: str) -> None:
        self.runs: list[tuple[str, int, int]] = []
        self._bad = bad

    def __call__(self, message: Message) -> None:
        self.runs.append((message.text, message.round, message.attempt))
        if message.text in self._bad:
            raise ValueError("no")

    @property
    def bodies(self) -> list[str]:
        """Return the bodies of the runs, in order."""
        return [body for body, *_ in self.runs]
