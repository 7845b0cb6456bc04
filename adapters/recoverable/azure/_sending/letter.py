"""Hold what is known of one message while its copy is sent."""

from __future__ import annotations

from collections.abc import Sequence

from recoverable._ladder.delivery import Delivery
from recoverable._ladder.settlement import Forward
from recoverable._service_bus.answers import Refusal, refusal_of
from recoverable.azure._copies import stays
from recoverable.azure._sending.fallbacks import Way


class Letter:
    """A message whose copy is to be sent, the ways to try, and what came of it.

    Args:
        delivery: the original.
        ways: the forwardings to try in turn.

    `taken` is the way that a queue took; `error` is the first reason why one did not.
    """

    def __init__(self, delivery: Delivery, ways: Sequence[Way]) -> None:
        self.delivery, self.ways = delivery, ways
        self.taken: Way | None = None
        self.error: Exception | None = None
        self.refusals: set[Refusal] = set()

    @property
    def stays(self) -> bool:
        """True if its copy goes to the queue that it came from."""
        return stays(self.delivery, self.ways[0].forward)

    @property
    def is_hopeless(self) -> bool:
        """True if each copy of it breaks a limit: sending it again does not help."""
        return self.refusals == {"limit"}

    @property
    def replacement(self) -> Forward | None:
        """Return the settlement that took the place of the one that was decided, where the message waits, or its retry was given up."""
        if self.taken is None or self.taken is self.ways[0] or not (self.taken.waits or self.stays):
            return None
        return self.taken.forward

    def refused(self, error: Exception) -> Refusal:
        """Note why a copy was not sent, and return the kind of the reason."""
        self.error = self.error or error
        kind = refusal_of(error)
        self.refusals.add(kind)
        return kind
