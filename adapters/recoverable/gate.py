"""What the messages of one invocation pass while something fails: who may be attempted, who waits, and how a failure there counts."""

from __future__ import annotations

from .breaker import Breaker, Notice
from .circuit import Normal, Seen, after, claimed, hold_for, may_hold, probe_again_after
from .errors import RetryAfter

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, timedelta

    from .circuit import Limited, Outcome
    from .config import Recoverability
    from .delivery import Delivery
    from .rate_limit import RateLimit
    from .world import World

UNCLAIMED = Seen()
"""What an invocation holds that has claimed no probe; one for all, for each invocation needs it."""


class Gate:
    """What the messages of one invocation pass: it asks the store at most once, and only while something fails.

    Args:
        breaker: the instance's.
        clock: gives the time.
        holds: False where messages keep an order, which a deferral would break: failures are counted, and nobody waits.
        unrecoverable: tells failures that no waiting mends: such a message goes to the error queue at once, limited or not.
    """

    __slots__ = ("_claim", "_clock", "_holds", "_limit", "_looked", "_probe", "_unrecoverable", "breaker")

    def __init__(
        self,
        breaker: Breaker,
        clock: Callable[[], datetime],
        *,
        holds: bool = True,
        unrecoverable: Callable[[BaseException], bool] = lambda _error: False,
    ) -> None:
        self.breaker, self._limit, self._clock, self._holds = breaker, breaker.limit, clock, holds
        self._unrecoverable = unrecoverable
        self._looked = False  # whether the store was asked
        self._probe: Delivery | None = None
        self._claim = UNCLAIMED

    def is_untroubled(self, delivery: Delivery) -> bool:
        """Whether a message may be attempted without asking: one that has waited or come before knows what a new instance does not."""
        return not self.breaker.alert and delivery.held_since is None and delivery.deliveries == 1

    def held(self, delivery: Delivery) -> timedelta | None:
        """How long a message must wait before it may be attempted; None when it may be now."""
        if self.is_untroubled(delivery):
            return None
        now = self._clock()
        self._look()
        seen = self.breaker.seen
        if isinstance(seen.circuit, Normal) or not self._may_hold(delivery, now):
            return None
        if (turn := claimed(seen.circuit, self._limit, now)) is not None and self._takes(turn, seen, now):
            self._probe = delivery
            return None
        return hold_for(seen.circuit, self._limit, delivery.message.id, now)

    def succeeded(self) -> None:
        """An attempt succeeded."""
        if self.breaker.alert:
            self.breaker.succeeded(self._clock())

    def failed(self, delivery: Delivery, error: BaseException) -> timedelta | None:
        """How long a message waits whose attempt failed, which then counts as none; None when it goes on with its ladder."""
        now, is_probe, counts = self._clock(), self._probe is delivery, self._counts(error)
        if is_probe:
            self._release("probe failed", now)
        elif counts:
            self._look()
            self.breaker.failed(now)
        circuit = self.breaker.seen.circuit
        if not counts or isinstance(circuit, Normal) or not self._may_hold(delivery, now):
            return None
        if self._unrecoverable(error):
            return None
        wait = (probe_again_after if is_probe else hold_for)(circuit, self._limit, delivery.message.id, now)
        return max(wait, error.delay) if isinstance(error, RetryAfter) else wait

    def gave_up(self, delivery: Delivery) -> None:
        """A message is handed back: was it the probe, another may be, and now."""
        if self._probe is delivery:
            self._release("probe gave up", self._clock())

    def _look(self) -> None:
        """Ask the store, unless it was asked."""
        if not self._looked:
            self._looked = True
            self.breaker.look(self._clock())

    def _may_hold(self, delivery: Delivery, now: datetime) -> bool:
        return self._holds and may_hold(delivery.held_since, self._limit, now)

    def _takes(self, turn: Limited, seen: Seen, now: datetime) -> bool:
        """Whether this invocation claims the turn before all others; else it is another's, and known to be."""
        claim = self.breaker.swap(seen, turn, now)
        self.breaker.know(claim or Seen(turn))
        self._claim = claim or self._claim
        return claim is not None

    def _release(self, outcome: Outcome, now: datetime) -> None:
        """The probe is over. Where the claim is no longer ours, its lease is over and nothing is due."""
        self._probe = None
        circuit = after(self._claim.circuit, outcome, self._limit, now)
        if (released := self.breaker.swap(self._claim, circuit, now)) is not None:
            self.breaker.know(released)

    def _counts(self, error: BaseException) -> bool:
        if self._limit.counts is None:
            return True
        try:
            return bool(self._limit.counts(error))
        except Exception as raised:  # noqa: BLE001  # told; a failure that cannot be judged is one
            text = f"RateLimit(counts) raised {type(raised).__name__}. As a result, the failure counts."
            self.breaker.tell(Notice("warning", text))
            return True


def gate_for(
    endpoint: object, limit: RateLimit, recoverability: Recoverability, world: World, *, holds: bool
) -> Gate:
    """The gate of a new invocation; the endpoint's breaker lives as long as the process that it runs in."""
    breaker = world.kept.get(endpoint) or world.kept.setdefault(endpoint, Breaker(limit, notify))
    return Gate(
        breaker,
        world.clock,
        holds=holds,
        unrecoverable=lambda error: is_hopeless(recoverability, error),
    )


def is_hopeless(recoverability: Recoverability, error: BaseException) -> bool:
    """Whether the settings call the failure unrecoverable; rules that raise are the policy's to judge and to tell of."""
    from .policy import is_unrecoverable  # noqa: PLC0415  # the failure side

    try:
        return is_unrecoverable(recoverability, error)
    except Exception:  # noqa: BLE001  # as said: the message waits, and its rules are asked again when it goes on
        return False


def notify(notice: Notice) -> None:
    """Log what happens to the circuit."""
    from .observe import notify as log  # noqa: PLC0415  # the log is imported when something first fails

    log(notice)
