"""Decide which messages are attempted and which wait while attempts fail: one limiter for each invocation."""

from __future__ import annotations

from datetime import timedelta
from time import sleep

from recoverable._ladder.delivery import RATE_LIMITED, Deferral
from recoverable._ladder.groups import leaves
from recoverable._limits import NO_DELAY
from recoverable._observe.log import log_safely, rate_limit
from recoverable._rate_limit.state import (
    Closed,
    Open,
    Snapshot,
    claim_probe,
    delay_of_probe,
    delay_while_open,
    may_defer,
    on_grid,
    transition,
)
from recoverable._rate_limit.store import Breaker

TYPE_CHECKING = False  # see _frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Literal

    from recoverable._ladder.delivery import Delivery
    from recoverable._rate_limit.settings import RateLimit
    from recoverable._rate_limit.state import Outcome
    from recoverable.hosting import Environment

SHORTEST_PAUSE = timedelta(seconds=1)
"""The shortest wait inside an invocation between two looks at the circuit."""

UNCLAIMED = Snapshot()
"""The claim of an invocation that has claimed no probe; one object for all, because each invocation needs it."""


class Limiter:
    """A rate limiter for the messages of one invocation: it reads the store at most once, and only while attempts fail.

    Args:
        breaker: the instance's.
        clock: returns the time.
        sleep: waits for so many seconds.
        in_batches: True where messages that are due together come in one invocation.
    """

    def __init__(
        self, breaker: Breaker, clock: Callable[[], datetime], *, sleep: Callable[[float], None] = sleep,
        in_batches: bool = False,
    ) -> None:  # fmt: skip
        self.breaker, self._limit, self._clock, self._sleep = breaker, breaker.limit, clock, sleep
        self._in_batches = in_batches
        self._refreshed = False  # True when this invocation has read the store
        self._probe: Delivery | None = None
        self._claim = UNCLAIMED

    @property
    def quiet(self) -> bool:
        """True while no attempt has failed since the last success, and the store limits nobody."""
        return not self.breaker.alert

    @property
    def is_limited(self) -> bool:
        """True if the rate is limited, as far as this instance knows."""
        return not isinstance(self.breaker.snapshot.circuit, Closed)

    def asks_about(self, delivery: Delivery) -> bool:
        """True if a message may not be attempted before the store is read.

        It must be read for a message that was deferred or delivered before, though a new instance has not seen a
        failure itself.
        """
        return self.breaker.alert or delivery.held_since is not None or delivery.deliveries != 1

    def before(self, delivery: Delivery, within: Callable[[], float] | None) -> Deferral | None:
        """Return how a message must wait before it may be attempted; None when it may be now.

        Args:
            delivery: the message.
            within: returns for how many seconds a message that keeps its order may wait here: a copy in its stead would
                come behind the others. None for a message that keeps none.
        """
        delay = self._delay_before_attempt(delivery)
        while delay is not None and within is not None and (pause := self._seconds_until_turn()) < within():
            self.wait(pause)
            delay = self._delay_before_attempt(delivery)
        return None if delay is None else Deferral(delay, RATE_LIMITED)

    def after(self, delivery: Delivery, error: BaseException | None) -> Deferral | None:
        """Close the circuit after a success; count a failure, and return how its message waits: its attempt counts as none.

        Return None when the policy decides about the failure.
        """
        if error is None:
            if self.breaker.alert:
                self.breaker.succeeded(self._clock())
            return None
        delay = self._delay_after(delivery, error)
        return None if delay is None else Deferral(delay, RATE_LIMITED, failure=error)

    def wait(self, seconds: float) -> None:
        """Wait inside the invocation; what the store said before is old then."""
        self._sleep(seconds)
        self._refreshed = False

    def release(self, delivery: Delivery) -> None:
        """Let another message be the probe at once if this one was, because this one is handed back."""
        if self._probe is delivery:
            self._release("probe released", self._clock())

    def _delay_before_attempt(self, delivery: Delivery) -> timedelta | None:
        """Return how long a message must wait before it may be attempted; None when it may be now."""
        if not self.asks_about(delivery):
            return None
        now = self._clock()
        self._refresh()
        snapshot = self.breaker.snapshot
        if isinstance(snapshot.circuit, Closed) or not self._may_wait(delivery, now):
            return None
        probe = claim_probe(snapshot.circuit, self._limit, now)
        if probe is not None and self._claims(probe, snapshot, now):
            self._probe = delivery
            return None
        return self._delay_while_open(snapshot.circuit, delivery, now)

    def _seconds_until_turn(self) -> float:
        """Return the seconds until the next attempt may start, as far as this instance knows; at least the shortest wait."""
        circuit, now = self.breaker.snapshot.circuit, self._clock()
        until = circuit.next_at - now if isinstance(circuit, Open) else NO_DELAY
        return max(until, self._limit.wait, SHORTEST_PAUSE).total_seconds()

    def _delay_after(self, delivery: Delivery, error: BaseException) -> timedelta | None:
        """Count a failed attempt, and return how long its message waits; None when the policy decides."""
        now, is_probe, counts = self._clock(), self._probe is delivery, self._counts(error)
        if is_probe:
            self._release("probe failed", now)
        elif counts:
            self._refresh()
            self.breaker.failed(now)
        circuit = self.breaker.snapshot.circuit
        if not counts or isinstance(circuit, Closed) or not self._may_wait(delivery, now):
            return None
        if is_probe:
            return delay_of_probe(circuit, self._limit, delivery.message.id, now)
        return self._delay_while_open(circuit, delivery, now)

    def _delay_while_open(self, circuit: Open, delivery: Delivery, now: datetime) -> timedelta:
        delay = delay_while_open(circuit, self._limit, delivery.message.id, now)
        return on_grid(delay, now) if self._in_batches else delay

    def _refresh(self) -> None:
        """Read the store, unless this invocation has."""
        if not self._refreshed:
            self._refreshed = True
            self.breaker.refresh(self._clock())

    def _may_wait(self, delivery: Delivery, now: datetime) -> bool:
        return may_defer(delivery.held_since, self._limit, now)

    def _claims(self, probe: Open, snapshot: Snapshot, now: datetime) -> bool:
        """True if this invocation claims the probe before all others; else note that another invocation has it."""
        claim = self.breaker.compare_and_set(snapshot, probe, now)
        self.breaker.update(claim or Snapshot(probe))
        self._claim = claim or self._claim
        return claim is not None

    def _release(self, outcome: Outcome, now: datetime) -> None:
        """End the probe. Where another invocation has the claim by now, the lease is over and nothing remains to do."""
        self._probe = None
        circuit = transition(self._claim.circuit, outcome, self._limit, now)
        if (released := self.breaker.compare_and_set(self._claim, circuit, now)) is not None:
            self.breaker.update(released)

    def _counts(self, error: BaseException) -> bool:
        if self._limit.counts is None:
            return True
        try:
            return any(map(self._limit.counts, leaves(error)))
        except Exception as raised:  # noqa: BLE001  # logged; the failure then counts
            name = type(raised).__name__
            text = f"RateLimit(counts) failed ({name}). The failure counts. Check the function in RateLimit(counts)."
            self.breaker.log("warning", text)
            return True


def limiter_for(
    endpoint: object, limit: RateLimit, redact: Callable[[str], str] | None, environment: Environment, *,
    in_batches: bool = False,
) -> Limiter:  # fmt: skip
    """Return the limiter of a new invocation; the endpoint's breaker lives as long as the process that it runs in."""

    def log(level: Literal["info", "warning"], text: str) -> None:
        """Log a change of the circuit; a store's own words pass the user's redactor."""
        write = rate_limit.info if level == "info" else rate_limit.warning
        log_safely(write, "%s", text, redact=redact)

    kept = environment.kept
    breaker = kept.get(endpoint) or kept.setdefault(endpoint, Breaker(limit, log))
    return Limiter(breaker, environment.clock, sleep=environment.sleep, in_batches=in_batches)
