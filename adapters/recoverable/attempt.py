"""One message through receipt, handler and recovery; nothing of the failure side is imported before something fails."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from .delivery import Deferral
from .errors import HandlerTimeout, UnreportedFailure
from .limits import MAX_DELAY, NO_DELAY
from .settlements import COMPLETE, Redeliver

TYPE_CHECKING = False  # see frozen.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .alarm import Alarm
    from .config import Recoverability
    from .delivery import Delivery, Platform
    from .messages import Message
    from .settlements import Settlement

AT_ONCE = Redeliver(NO_DELAY)


class Invocation:
    """What one invocation gives to each of its attempts: the settings, the platform and the time.

    Args:
        recoverability: the settings, the error queue resolved.
        platform: what it counts and can do.
        clock: the time.
        seconds_left: how long handlers may still run; None when the host sets no limit.
        handler_timeout: how long one handler may run; None for as long as the invocation allows.
        alarm: stops plain functions; None where nothing can.
    """

    __slots__ = (
        "_clock",
        "_handler_timeout",
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
    ) -> None:
        self._recoverability, self._platform, self._clock = recoverability, platform, clock
        self._seconds_left, self._handler_timeout = seconds_left, handler_timeout
        self.alarm = alarm
        self.finished = 0
        self.interruption: KeyboardInterrupt | SystemExit | None = None  # to be raised again after settling

    def received(self, delivery: Delivery, *, may_defer: bool = True) -> Settlement | None:
        """What becomes of a delivery before any handler; None when its handler is to run.

        Args:
            delivery: the message as it came.
            may_defer: False when a deferral could not be sent, and something else must become of it.
        """
        due_at = delivery.due_at if may_defer else None
        if due_at is not None and NO_DELAY < (wait := due_at - self._clock()) <= MAX_DELAY:
            return self._decided(delivery, Deferral(wait, "it is not yet due", hop=True))
        if delivery.wordless:
            why = "its deliveries ended without a word: time-out, crash or lack of memory"
            settlement = self._decided(delivery, UnreportedFailure(why))
            if settlement != AT_ONCE:  # what was just delivered need not be delivered again: its handler runs
                return settlement
        return None if self._has_time() else self.handed_back(delivery)

    def handed_back(self, delivery: Delivery) -> Settlement:
        """The settlement of a message for which there is no time now."""
        return self._decided(delivery, Deferral(NO_DELAY, "this invocation has no time left for it"))

    def limit(self) -> Limit:
        """How long the next handler may run."""
        seconds = self._seconds_left() if self._seconds_left else None
        own = self._handler_timeout
        if own is not None and (seconds is None or own.total_seconds() <= seconds):
            return Limit(own.total_seconds(), convicts=True)
        return Limit(seconds, convicts=self.finished == 0)  # it has the invocation from its start

    def ended(self, delivery: Delivery, error: BaseException | None, limit: Limit) -> Settlement:
        """The settlement of an attempt that ended so."""
        self.finished += 1
        if error is None:
            return COMPLETE
        if (failure := limit.judged(error)) is None:
            return self.handed_back(delivery)
        if isinstance(failure, KeyboardInterrupt | SystemExit):
            self.interruption = failure
        return self._decided(delivery, failure)

    def _has_time(self) -> bool:
        return self.interruption is None and (self._seconds_left is None or self._seconds_left() > 0)

    def _decided(self, delivery: Delivery, event: BaseException | Deferral) -> Settlement:
        """The one door to the failure side, which is imported when something first fails."""
        from .observe import report  # noqa: PLC0415
        from .recovery import decide  # noqa: PLC0415

        decision = decide(
            delivery, event, recoverability=self._recoverability, platform=self._platform, now=self._clock()
        )
        report(decision)
        return decision.settlement


class Limit:
    """How long a handler may run, and whether reaching it convicts: a message that had all the time there was has failed."""

    __slots__ = ("convicts", "seconds")

    def __init__(self, seconds: float | None, *, convicts: bool) -> None:
        self.seconds, self.convicts = seconds, convicts

    def stopped(self, error: BaseException) -> bool:
        """Whether this limit is what ended the handler."""
        if self.seconds is None:
            return False
        from .alarm import TimeUp  # noqa: PLC0415  # only who has a limit pays for `signal`

        return isinstance(error, TimeUp)

    def judged(self, error: BaseException) -> BaseException | None:
        """What the attempt failed with; None when it was none, because this limit ended it before its time."""
        if not self.stopped(error):
            return error
        if not self.convicts:
            return None
        return HandlerTimeout(f"stopped after {self.seconds:.1f} seconds").with_traceback(error.__traceback__)


def attempt(handler: Callable[[Message], Any], delivery: Delivery, invocation: Invocation) -> Settlement:
    """One message through receipt, handler and recovery.

    Args:
        handler: the user's function.
        delivery: the message as it came.
        invocation: what it runs in.

    Returns:
        What the adapter must do with its broker.
    """
    if (settlement := invocation.received(delivery)) is not None:
        return settlement
    limit = invocation.limit()
    return invocation.ended(delivery, run(handler, delivery.message, limit.seconds, invocation.alarm), limit)


def run(
    handler: Callable[[Message], Any], message: Message, seconds: float | None, alarm: Alarm | None
) -> BaseException | None:
    """How the handler ended: None when it returned, else what it raised, whatever that is, for a lost error is a lost message."""
    try:
        if seconds is None or alarm is None:
            result = handler(message)
        else:
            result = alarm.call(seconds, handler, message)
        if hasattr(result, "__await__"):
            from .coroutines import finish  # noqa: PLC0415

            finish(result, seconds)
    except BaseException as error:  # noqa: BLE001  # recovery decides about each of them
        return error
    return None


def now() -> datetime:
    """The time in UTC: the clock of those who bring none."""
    return datetime.now(UTC)
