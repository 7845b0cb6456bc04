"""One message through receipt, handler and recovery; nothing of the failure side is imported before something fails."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from .delivery import Deferral
from .errors import UnreportedFailure
from .limits import MAX_DELAY, NO_DELAY
from .settlements import COMPLETE, Redeliver

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .alarm import Alarm
    from .config import Recoverability
    from .delivery import Delivery, Platform
    from .gate import Gate
    from .messages import Message
    from .settlements import Settlement

AT_ONCE = Redeliver(NO_DELAY)

FOREVER = float("inf")
"""Seconds where nothing sets a limit."""


class Invocation:
    """What one invocation gives to each of its attempts: the settings, the platform and the time.

    Args:
        recoverability: the settings, the error queue resolved.
        platform: what it counts and can do.
        clock: the time.
        seconds_left: how long handlers may still run; None when the host sets no limit.
        handler_timeout: how long one handler may run; None for as long as the invocation allows.
        alarm: stops plain functions; None where nothing can.
        gate: what the messages pass where the rate may be limited.
    """

    __slots__ = (
        "_clock",
        "_gate",
        "_own_seconds",
        "_platform",
        "_recoverability",
        "_seconds_left",
        "alarm",
        "finished",
        "interruption",
    )

    def __init__(
        self,
        recoverability: Recoverability,
        platform: Platform,
        clock: Callable[[], datetime],
        *,
        seconds_left: Callable[[], float] | None = None,
        handler_timeout: timedelta | None = None,
        alarm: Alarm | None = None,
        gate: Gate | None = None,
    ) -> None:
        self._recoverability, self._platform, self._clock = recoverability, platform, clock
        self._seconds_left = seconds_left or (lambda: FOREVER)
        self._own_seconds = FOREVER if handler_timeout is None else handler_timeout.total_seconds()
        self.alarm, self._gate = alarm, gate
        self.finished = 0
        self.interruption: KeyboardInterrupt | SystemExit | None = None  # to be raised again after settling

    def received(self, delivery: Delivery, *, may_defer: bool = True) -> float | Settlement:
        """What becomes of a delivery: the seconds that its handler may run now, or what is settled without it.

        Args:
            delivery: the message as it came.
            may_defer: False when a deferral could not be sent, and something else must become of it.
        """
        if delivery.due_at is not None and may_defer and (hop := self._not_due(delivery, delivery.due_at)):
            return hop
        if delivery.wordless and (settlement := self._without_a_word(delivery)) != AT_ONCE:
            return settlement  # else its handler runs: what was just delivered need not be delivered again
        if self._gate is not None and may_defer and (wait := self._gate.held(delivery)) is not None:
            return self._decided(delivery, Deferral(wait, "the rate is limited"))
        seconds = self._seconds_left()
        if seconds <= 0 or self.interruption is not None:
            return self._handed_back(delivery)
        return seconds if seconds < self._own_seconds else self._own_seconds  # noqa: FURB136  # min() costs each record more than this

    def _handed_back(self, delivery: Delivery) -> Settlement:
        """The settlement of a message for which there is no time now."""
        if self._gate is not None:
            self._gate.gave_up(delivery)
        return self._decided(delivery, Deferral(NO_DELAY, "this invocation has no time left for it"))

    def ended(
        self, delivery: Delivery, error: BaseException | None, seconds: float, *, after: int = 0
    ) -> Settlement:
        """The settlement of an attempt.

        Args:
            delivery: the message as it came.
            error: what the handler raised, if it did.
            seconds: how long it was allowed to run.
            after: how many others had ended when it began.
        """
        self.finished += 1
        if error is None:
            if self._gate is not None:
                self._gate.succeeded()
            return COMPLETE
        if (failure := self.failure(error, seconds, after=after)) is None:
            return self._handed_back(delivery)
        if isinstance(failure, KeyboardInterrupt | SystemExit):
            self.interruption = failure
        if self._gate is not None and (wait := self._gate.failed(delivery, failure)) is not None:
            return self._decided(delivery, Deferral(wait, "the rate is limited", failure=failure))
        return self._decided(delivery, failure)

    def failure(self, error: BaseException, seconds: float, *, after: int) -> BaseException | None:
        """What the attempt failed with; None when it was stopped although it had not all the time there is: that is no failure."""
        from .recovery import judged  # noqa: PLC0415  # as in `_decided`

        return judged(error, seconds, convicts=not after or seconds == self._own_seconds)

    def _not_due(self, delivery: Delivery, due_at: datetime) -> Settlement | None:
        """The next hop of a copy that must wait longer; None when it is due, or would not be for an absurdly long time."""
        wait = due_at - self._clock()
        if NO_DELAY < wait <= MAX_DELAY:
            return self._decided(delivery, Deferral(wait, "it is not yet due", hop=True))
        return None

    def _without_a_word(self, delivery: Delivery) -> Settlement:
        why = "its deliveries ended without a word: time-out, crash or lack of memory"
        return self._decided(delivery, UnreportedFailure(why))

    def _decided(self, delivery: Delivery, event: BaseException | Deferral) -> Settlement:
        """The one door to the failure side, which is imported when something first fails."""
        from .deciding import decided  # noqa: PLC0415

        settings, now = self._recoverability, self._clock()
        return decided(delivery, event, recoverability=settings, platform=self._platform, now=now)


def attempt(handler: Callable[[Message], Any], delivery: Delivery, invocation: Invocation) -> Settlement:
    """One message through receipt, handler and recovery.

    Args:
        handler: the user's function.
        delivery: the message as it came.
        invocation: what it runs in.

    Returns:
        What the adapter must do with its broker.
    """
    seconds = invocation.received(delivery)
    if not isinstance(seconds, float):
        return seconds
    after = invocation.finished
    error = run(handler, delivery.message, seconds, invocation.alarm)
    return invocation.ended(delivery, error, seconds, after=after)


def run(
    handler: Callable[[Message], Any], message: Message, seconds: float, alarm: Alarm | None
) -> BaseException | None:
    """How the handler ended: None when it returned, else what it raised, whatever that is, for a lost error is a lost message."""
    try:
        if alarm is None or seconds == FOREVER:
            result = handler(message)
        else:
            result = alarm.call(seconds, handler, message)
        if result is not None:
            from .answers import finish  # noqa: PLC0415  # most handlers return nothing

            finish(result, seconds)
    except BaseException as error:  # noqa: BLE001  # recovery decides about each of them
        return error
    return None


def now() -> datetime:
    """The time in UTC: the clock of those who bring none."""
    return datetime.now(UTC)
