"""Take messages through receipt, handler and recovery: one generator for both clouds, which does no I/O itself.

It yields a message and seconds to have the handler run on it for so long, and gets back None or what the handler raised. It yields a
`Call` to have a function called that may block, and gets back its result. A driver does both: `drive` for plain handlers, `drive_async`
for coroutines.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

from recoverable.errors import TimeUp, UnreportedFailure
from recoverable.limits import MAX_DELAY, NO_DELAY
from recoverable.recovery.delivery import Deferral
from recoverable.recovery.settlement import COMPLETE, Redeliver

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from typing import Any, TypeAlias

    from recoverable.attempts.deadline import Deadline
    from recoverable.config import Recoverability
    from recoverable.message import Message
    from recoverable.rate_limit.limiter import Limiter
    from recoverable.recovery.delivery import Delivery, Platform
    from recoverable.recovery.settlement import Settlement

    Run: TypeAlias = tuple[Message, float]
    Steps: TypeAlias = Generator["Run | Call", Any, None]

AT_ONCE = Redeliver(NO_DELAY)

NO_TIME = "this invocation has no time left for it"
"""Why a message is handed back, unless said otherwise."""

FOREVER = float("inf")
"""Seconds where nothing sets a limit."""


class Call:
    """Call a function that may block, such as one that asks a store; the answer is its result.

    Args:
        function: the function, without arguments.
    """

    __slots__ = ("function",)

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function


class Invocation:
    """Settings, platform and time that each attempt of one invocation shares.

    Args:
        recoverability: the settings, the error queue resolved.
        platform: what it counts and can do.
        clock: the time.
        seconds_left: how long handlers may still run; None when the host sets no limit.
        handler_timeout: how long one handler may run; None for as long as the invocation allows.
        deadline: stops plain handlers; None where nothing can.
        limiter: decides who may be attempted where the rate may be limited.
        on_failure: called with the message and the exception of each failed attempt, before recovery decides.
        holds_interruptions: True to settle first when a handler raises KeyboardInterrupt or SystemExit; False to raise it at once.
    """

    def __init__(
        self,
        recoverability: Recoverability,
        platform: Platform,
        clock: Callable[[], datetime],
        *,
        seconds_left: Callable[[], float] | None = None,
        handler_timeout: timedelta | None = None,
        deadline: Deadline | None = None,
        limiter: Limiter | None = None,
        on_failure: Callable[[Message, BaseException], None] | None = None,
        holds_interruptions: bool = True,
    ) -> None:
        self._recoverability, self._platform, self.clock = recoverability, platform, clock
        self.seconds_left = seconds_left or (lambda: FOREVER)
        self.own_seconds = FOREVER if handler_timeout is None else handler_timeout.total_seconds()
        self.deadline, self.limiter = deadline, limiter
        self._on_failure, self._holds_interruptions = on_failure, holds_interruptions
        self.finished = 0
        self.interruption: KeyboardInterrupt | SystemExit | None = None  # to be raised again after settling

    def settle_on_receipt(self, delivery: Delivery, *, may_defer: bool = True) -> Settlement | None:
        """Return the settlement of a delivery whose handler must not run now; None when it may.

        Args:
            delivery: the message as it came.
            may_defer: False when a deferral could not be sent, and the handler must run instead.
        """
        if delivery.due_at is not None and may_defer and (hop := self._hop(delivery, delivery.due_at)):
            return hop
        if delivery.unreported and (settlement := self._settle_unreported(delivery)) != AT_ONCE:
            return settlement  # else its handler runs: what was just delivered need not be delivered again
        if self.limiter is not None and may_defer:
            delay = self.limiter.delay_before_attempt(delivery)
            return None if delay is None else self._decide(delivery, Deferral(delay, "the rate is limited"))
        return None

    def hand_back(
        self, delivery: Delivery, delay: timedelta = NO_DELAY, *, reason: str = NO_TIME, stopped: bool = False
    ) -> Settlement:
        """Return the settlement of a message that is to run in a later invocation, and loses no attempt.

        Args:
            delivery: the message as it came.
            delay: how long it waits.
            reason: why it is handed back, for the log.
            stopped: True if its handler was stopped for the sake of others: it is marked, and comes first next time.
        """
        if self.limiter is not None:
            self.limiter.release_probe(delivery)
        return self._decide(delivery, Deferral(delay, reason, stopped=stopped))

    def settle_on_end(self, delivery: Delivery, seconds: float, *, first: bool) -> Settlement:
        """Return the settlement of a delivery whose handler has ended; `delivery.error` says how.

        Args:
            delivery: the message as it came.
            seconds: how long the handler was allowed to run.
            first: True if no other had ended in this invocation when it began.
        """
        failure = delivery.error
        if failure is None:
            if self.limiter is not None:
                self.limiter.succeeded()
            return COMPLETE
        if isinstance(failure, TimeUp):
            from recoverable.recovery.decision import classify_timeout  # noqa: PLC0415  # as in `_decide`

            failure = classify_timeout(failure, seconds, counts_as_failure=first or seconds == self.own_seconds)
        if failure is None:
            return self.hand_back(delivery, stopped=True)
        if self._on_failure is not None:
            self._on_failure(delivery.message, failure)
        if self.limiter is not None and (delay := self.limiter.failed(delivery, failure)) is not None:
            return self._decide(delivery, Deferral(delay, "the rate is limited", failure=failure))
        return self._decide(delivery, failure)

    def interrupt(self, interruption: KeyboardInterrupt | SystemExit) -> None:
        """Remember to end the process after settling, or end it now.

        Raises:
            KeyboardInterrupt, SystemExit: where nothing is settled before it ends: a copy would come beside the original, which comes back.
        """
        if not self._holds_interruptions:
            raise interruption
        self.interruption = interruption

    def _hop(self, delivery: Delivery, due_at: datetime) -> Settlement | None:
        """Return the next hop of a copy that must wait longer; None when it is due, or would not be for an absurdly long time."""
        delay = due_at - self.clock()
        if NO_DELAY < delay <= MAX_DELAY:
            return self._decide(delivery, Deferral(delay, "it is not yet due", hop=True))
        return None

    def _settle_unreported(self, delivery: Delivery) -> Settlement:
        why = "its deliveries ended without a recorded outcome: time-out, crash or lack of memory"
        return self._decide(delivery, UnreportedFailure(why))

    def _decide(self, delivery: Delivery, event: BaseException | Deferral) -> Settlement:
        """Ask the failure side, which is imported when something first fails."""
        from recoverable.attempts.decide import decide_and_report  # noqa: PLC0415

        settings, now = self._recoverability, self.clock()
        return decide_and_report(delivery, event, recoverability=settings, platform=self._platform, now=now)


def attempt_each(deliveries: Iterable[Delivery], invocation: Invocation, *, may_defer: bool = True) -> Steps:
    """Take each delivery through receipt, handler and recovery, and note its settlement on it.

    Args:
        deliveries: the messages as they came; several generators may share one iterator.
        invocation: what they run in.
        may_defer: False when deferrals could not be sent, and handlers must run instead.
    """
    limiter, seconds_left, own_seconds = invocation.limiter, invocation.seconds_left, invocation.own_seconds
    for delivery in deliveries:
        settlement = None
        if delivery.due_at is not None or delivery.unreported or limiter is not None:
            settlement = yield from receive(delivery, invocation, may_defer=may_defer)
        if settlement is None:
            seconds = seconds_left()
            if seconds <= 0 or invocation.interruption is not None:
                settlement = invocation.hand_back(delivery)
            else:
                seconds = seconds if seconds < own_seconds else own_seconds  # noqa: FURB136  # min() costs each record more
                first = invocation.finished == 0
                error = yield delivery.message, seconds
                invocation.finished += 1
                if error is None and limiter is None:
                    settlement = COMPLETE
                else:
                    settlement = yield from conclude(delivery, error, seconds, invocation, first=first)
        delivery.settlement = settlement


def receive(
    delivery: Delivery, invocation: Invocation, *, may_defer: bool
) -> Generator[Run | Call, Any, Settlement | None]:
    """Return the settlement of a delivery whose handler must not run now; None when it may; see `Invocation.settle_on_receipt`."""
    settle = partial(invocation.settle_on_receipt, delivery, may_defer=may_defer)
    limiter = invocation.limiter
    blocks = limiter is not None and not limiter.is_untroubled(delivery)
    settlement: Settlement | None = (yield Call(settle)) if blocks else settle()
    return settlement


def conclude(
    delivery: Delivery, error: BaseException | None, seconds: float, invocation: Invocation, *, first: bool
) -> Generator[Run | Call, Any, Settlement]:
    """Return the settlement of a delivery whose handler has ended, in all cases but the plainest.

    Args:
        delivery: the message as it came.
        error: what the handler raised; None when it returned.
        seconds: how long it was allowed to run.
        invocation: what it ran in.
        first: True if no other had ended in this invocation when it began.
    """
    delivery.error = error
    if isinstance(error, KeyboardInterrupt | SystemExit):
        invocation.interrupt(error)
    settle = partial(invocation.settle_on_end, delivery, seconds, first=first)
    limiter = invocation.limiter
    blocks = limiter is not None and (error is not None or limiter.alert)
    settlement: Settlement = (yield Call(settle)) if blocks else settle()
    return settlement


def now() -> datetime:
    """Return the time in UTC: the clock of those who bring none."""
    return datetime.now(UTC)
