"""Know the time at SQS, which all times of its messages are by: from the date of its last answer, and a clock that nobody sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from recoverable.hosting import Environment

CLOCKS_AGREE = 2.0
"""Seconds by which two clocks may differ that are right: the date of an answer is in whole seconds, and was on its way."""


class Answered(NamedTuple):
    """The last answer of SQS, a refusal too: its date as it came, and this process's two clocks at that moment."""

    date: object
    wall: float
    seconds: float

    def at(self) -> float:
        """Return when it was by SQS's own clock (RFC 9110, Date); by the instance's where the answer does not say it."""
        from email.utils import parsedate_to_datetime  # dear at cold start

        try:
            return parsedate_to_datetime(self.date).timestamp()  # type: ignore[arg-type]  # an answer may say anything
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError):
            return self.wall


class SqsClock:
    """The clock of SQS as a process knows it.

    Args:
        environment: has the clock of the instance, one that nobody sets, and what the process keeps.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def note(self, answer: Any) -> None:
        """Remember when SQS answered; nothing where this is no answer of it."""
        if isinstance(answer, dict):
            try:
                date = answer["ResponseMetadata"]["HTTPHeaders"]["date"]
            except (LookupError, TypeError):
                date = None  # such as of a client in a test: it answered at the instance's own time
            self._environment.kept[SqsClock] = Answered(date, *self._now())

    def ahead_of_seconds(self) -> tuple[float, bool]:
        """Return the time at SQS, in seconds since 1970, less that of the clock that nobody sets; and True if anything says it.

        That clock stands still while an environment is frozen, and the instance's own may be set: they say something only together.
        """
        answered: Answered | None = self._environment.kept.get(SqsClock)
        wall, seconds = self._now()
        if answered is None or abs((wall - answered.wall) - (seconds - answered.seconds)) > CLOCKS_AGREE:
            return wall - seconds, False
        dated = answered.at()
        return (wall - seconds if abs(answered.wall - dated) < CLOCKS_AGREE else dated - answered.seconds), True

    def _now(self) -> tuple[float, float]:
        return self._environment.clock().timestamp(), self._environment.seconds()
