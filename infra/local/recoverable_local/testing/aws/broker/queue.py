"""One queue: its settings, what it holds, and who wants to know when that changes."""

from __future__ import annotations

from collections.abc import Callable

from recoverable_local.testing.aws.broker.lines import Line
from recoverable_local.testing.aws.broker.queues import Settings
from recoverable_local.testing.aws.broker.stored import Stored


class Queue:
    """One queue.

    Args:
        settings: its attributes.
        line: hands its messages out.
    """

    def __init__(self, settings: Settings, line: Line) -> None:
        self.settings, self.line = settings, line
        self.messages: dict[str, Stored] = {}
        self.remembered: dict[str, tuple[float, Stored]] = {}
        self.changed: list[Callable[[], None]] = []

    def put(self, message: Stored) -> None:
        """Take a message in."""
        self.messages[message.id] = message
        self.line.put(message)
        self.tell()

    def remove(self, message: Stored) -> None:
        """Let a message go."""
        message.gone = True
        del self.messages[message.id]
        self.line.remove(message)

    def tell(self) -> None:
        """Tell those who read it that something has changed."""
        for listener in self.changed:
            listener()
