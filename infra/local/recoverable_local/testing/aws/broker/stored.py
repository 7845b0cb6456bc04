"""Define a message as the broker stores it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Attributes = Mapping[str, Mapping[str, Any]]


class Stored:
    """One broker message, from its send to its deletion.

    Args:
        id: the broker's id for it.
        body: its text.
        attributes: the user's, as the API has them.
        sent_at: when it was sent, in seconds of the world.
        visible_at: when it can be received.
        number: its place in the order of sends.
        group: its message group.
        deduplication: its deduplication id.
        trace: the trace header, if it was sent with one.
        hops: how many invocations its lineage has gone through.
    """

    __slots__ = (
        "attributes",
        "body",
        "deduplication",
        "deletes_to_ignore",
        "first_received_at",
        "gone",
        "group",
        "hops",
        "id",
        "number",
        "receipt",
        "received_at",
        "receives",
        "sent_at",
        "source_arn",
        "trace",
        "visible_at",
    )

    def __init__(
        self,
        id: str,  # noqa: A002  # the field's standard name
        body: str,
        attributes: Attributes,
        *,
        sent_at: float,
        visible_at: float,
        number: int,
        group: str | None = None,
        deduplication: str | None = None,
        trace: str | None = None,
        hops: int = 0,
    ) -> None:
        self.id, self.body, self.attributes = id, body, attributes
        self.sent_at, self.visible_at, self.number = sent_at, visible_at, number
        self.group, self.deduplication, self.trace, self.hops = group, deduplication, trace, hops
        self.receives = self.deletes_to_ignore = 0  # deletes_to_ignore: deletions that will not stick
        self.first_received_at = self.received_at = 0.0
        self.receipt: str | None = None  # the newest
        self.gone = False
        self.source_arn: str | None = None

    @property
    def sequence(self) -> str | None:
        """Return the sequence number; None on a standard queue."""
        return f"{self.number:020}" if self.deduplication else None

    def in_flight(self, now: float) -> bool:
        """True if it was received and is still hidden."""
        return self.receipt is not None and self.visible_at > now
