"""Define how messages are sent back, and what became of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Settings:
    """How messages are sent back.

    Args:
        rate: messages a second; 0 for as fast as the broker takes them.
        delay: how long each copy is hidden.
        canary: how many are sent first; 0 for none.
        canary_wait: how long to wait for one of them to come back.
        new_id: the id of an edited message.
        new_body: its body.
    """

    rate: float = 50.0
    delay: timedelta = timedelta(0)
    canary: int = 0
    canary_wait: timedelta = timedelta(minutes=5)
    new_id: str | None = None
    new_body: bytes | None = None


@dataclass(slots=True)
class Outcome:
    """What became of the chosen messages.

    Args:
        sent: how many were sent and deleted.
        finished: how many an earlier run had sent; they were only deleted.
        doubled: ids of messages that an earlier run may have sent, and that are sent again.
        refused: how many the broker refused, by the reason; they stay.
        doubtful: ids of messages about which the broker gave no answer; they stay, and may have been sent.
        undeleted: how many were sent and not deleted, by the reason; the next run deletes them.
        came_back: ids of canaries that came back.
        stopped: why it ended early; None when it did not.
    """

    sent: int = 0
    finished: int = 0
    doubled: list[str] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)
    doubtful: list[str] = field(default_factory=list)
    undeleted: dict[str, int] = field(default_factory=dict)
    came_back: list[str] = field(default_factory=list)
    stopped: str | None = None

    @property
    def settled(self) -> int:
        """Return how many messages were dealt with."""
        return (
            self.sent + self.finished + sum(self.refused.values()) + sum(self.undeleted.values()) + len(self.doubtful)
        )

    @property
    def complete(self) -> bool:
        """True if each chosen message was sent and deleted."""
        return not (self.refused or self.doubtful or self.undeleted or self.came_back or self.stopped)


def count_reasons(counts: dict[str, int], reasons: Iterable[str]) -> None:
    """Count each reason."""
    for why in reasons:
        counts[why] = counts.get(why, 0) + 1
