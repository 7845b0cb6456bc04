"""Instances of a function that share a circuit, for the tests of rate limiting: each has a breaker, and all have one clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from builders import Boom, Clock, delivery
from recoverable import RateLimit, StoreUnavailable
from recoverable._rate_limit.limiter import Limiter
from recoverable._rate_limit.state import Open
from recoverable._rate_limit.store import LEAVE_ALONE_FOR, Breaker, MemoryCircuit

if TYPE_CHECKING:
    from recoverable._ladder.delivery import Delivery
    from recoverable._rate_limit.state import Circuit, Snapshot
    from recoverable.hosting import CircuitStore


class Store(MemoryCircuit):
    """A shared store that notes its calls and switches, can be unavailable or lose one answer, and lets others act just before it is changed."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0
        self.switches = Counter[str]()
        self.unavailable = self.answer_lost = False
        self.meanwhile: Callable[[], object] | None = None

    def read(self) -> Snapshot:
        """Read, unless it is unavailable."""
        self.reads += 1
        self._present()
        return super().read()

    def compare_and_set(self, seen: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Let the others act, then change."""
        others, self.meanwhile = self.meanwhile, None
        if others is not None:
            others()
        self._present()
        changed = super().compare_and_set(seen, circuit, switch)
        if changed is not None and type(circuit) is not type(seen.circuit):
            self.switches["started" if isinstance(circuit, Open) else "ended"] += 1
        if self.answer_lost:
            self.answer_lost = False
            raise StoreUnavailable("its answer was lost")
        return changed

    def become_unavailable(self) -> None:
        """Be unavailable from now on."""
        self.unavailable = True

    def come_back(self, clock: Clock) -> None:
        """Be available again, and let the time pass after which instances call it again."""
        self.unavailable = False
        clock.advance(LEAVE_ALONE_FOR)

    def _present(self) -> None:
        if self.unavailable:
            raise StoreUnavailable("it is unavailable")


class Notice(NamedTuple):
    """A line that a breaker had logged."""

    level: Literal["info", "warning"]
    text: str


class Calls(list[str]):
    """The callbacks made, and the settings that make them."""

    def limit(self, consecutive_failures: int = 3, *, store: CircuitStore | None = None, **settings: Any) -> RateLimit:
        """Return a limit whose callbacks are noted here."""

        def started() -> None:
            self.append("started")

        def ended() -> None:
            self.append("ended")

        settings = {"on_started": started, "on_ended": ended, **settings}
        return RateLimit(consecutive_failures, store=store, **settings)


def delay_before(limiter: Limiter, message: Delivery) -> timedelta | None:
    """Return how long a message must wait before it may be attempted; None when it may be now."""
    waiting = limiter.before(message, None)
    return None if waiting is None else waiting.delay


def delay_after(limiter: Limiter, message: Delivery, error: BaseException) -> timedelta | None:
    """Return how long a message waits whose attempt failed; None when the policy decides."""
    waiting = limiter.after(message, error)
    return None if waiting is None else waiting.delay


class Instance:
    """One instance: invocations of one message each, unless several go through one limiter.

    Args:
        limit: the settings.
        clock: the time of all instances.
    """

    def __init__(self, limit: RateLimit, clock: Clock) -> None:
        self.clock, self.notices = clock, list[Notice]()
        self.breaker = Breaker(limit, lambda level, text: self.notices.append(Notice(level, text)))

    def limiter(self) -> Limiter:
        """Return a new invocation."""
        return Limiter(self.breaker, self.clock)

    def attempt(
        self,
        error: BaseException | None = None,
        *,
        of: Delivery | None = None,
        limiter: Limiter | None = None,
        takes: timedelta = timedelta(0),
    ) -> str | timedelta | None:
        """Attempt one message. Return how long it is held, "attempted", or how long it waits when its failure counts as none.

        Args:
            error: what its handler raises; None when it succeeds.
            of: the delivery.
            limiter: the invocation; a new one when not given.
            takes: how long the handler runs.
        """
        through, message = limiter or self.limiter(), of or delivery()
        if (wait := delay_before(through, message)) is not None:
            return wait
        self.clock.advance(takes)
        if error is None:
            through.after(delivery(), None)
            return "attempted"
        return delay_after(through, message, error) or "attempted"

    def fail(self, times: int = 1) -> list[str | timedelta | None]:
        """Attempt so many messages, all of which fail."""
        return [self.attempt(Boom("down"), of=delivery(id=f"m-{number}")) for number in range(times)]


def limited(circuit: Circuit) -> tuple[datetime, datetime]:
    """Return since when it is limited, and when the next attempt is due."""
    since: datetime = circuit.since  # type: ignore[union-attr]  # a test that asks has a limited one
    next_at: datetime = circuit.next_at  # type: ignore[union-attr]  # as above
    return since, next_at


def two(calls: Calls, clock: Clock, store: Store, *, failures: int = 2) -> tuple[Instance, Instance]:
    """Return two instances that share a store."""
    limit = calls.limit(failures, store=store)
    return Instance(limit, clock), Instance(limit, clock)
