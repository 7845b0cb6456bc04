"""What every world has: its time, what goes wrong in it, and what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from math import inf

from recoverable_local.testing.engine.invocation import Invocation, current_invocation, current_number
from recoverable_local.testing.engine.points import Fitting, Hook, Misfit, Misfortune, Rule
from recoverable_local.testing.engine.scheduler import Scheduler
from recoverable_local.testing.faults import Fault
from recoverable_local.testing.timeline import Journal, Timeline

Duration = timedelta | float
"""How long; a number is in seconds."""

START = datetime(2026, 1, 1, tzinfo=UTC)
"""When a world begins that is not told otherwise."""


class EndlessRun(Exception):
    """One `run` took more invocations than it may: something comes back for ever."""


class Invocations:
    """Counts the invocations of a world, for a run must end.

    Args:
        most: how many one run may take.
    """

    def __init__(self, most: int) -> None:
        self._most, self._number, self._last = most, 0, most

    def start_again(self) -> None:
        """A run begins."""
        self._last = self._number + self._most

    def next_number(self) -> int:
        """The number of a new invocation, from 1.

        Raises:
            EndlessRun: it is one too many.
        """
        if self._number >= self._last:
            raise EndlessRun(
                f"{self._most:,} invocations, and still messages come back; print(world.timeline()) shows why, most_invocations allows more"
            )
        self._number += 1
        return self._number


class VirtualWorld:
    """A world in virtual time; made by its subclasses, one for each broker.

    Args:
        start: when its time begins.
        most_invocations: how many invocations one `run` may take before it is called endless.
        places: where something can go wrong: the calls that functions make to the broker, and the steps of their host.
        fitting: what can go wrong where.
    """

    def __init__(self, *, start: datetime, most_invocations: int, places: Iterable[str], fitting: Fitting) -> None:
        self._start = start
        self._places = set(places)
        self._scheduler = Scheduler()
        self._misfortune = Misfortune(self._seconds, fitting)
        self._invocations = Invocations(most_invocations)
        self._journal = Journal(self._seconds, current_number)

    @property
    def now(self) -> datetime:
        """The world's time."""
        return self._start + timedelta(seconds=self._scheduler.now)

    def run(self, for_: Duration | None = None) -> None:
        """Let the world go on until nothing is left to do, or for so long.

        A handler that spends time when the time is over is finished first, for nothing can be stopped half-way; the time is later then.

        Args:
            for_: how long; None for as long as there is something to do.

        Raises:
            EndlessRun: there were more invocations than one run may take.
            AssertionError: and whatever else a callback of `at` raises.
        """
        self._invocations.start_again()
        self._scheduler.run(inf if for_ is None else self._seconds() + seconds_of(for_))
        if self._misfortune.misfit is not None:
            raise self._misfortune.misfit

    def at(self, delay: Duration, callback: Callable[[], object]) -> None:
        """Change or check something later: an outage ends, a queue is looked at.

        Args:
            delay: how long from now.
            callback: what is called then; what it raises, `run` raises.
        """
        self._scheduler.at(self._seconds() + seconds_of(delay), callback)

    def fail(
        self,
        what: str,
        with_: Fault,
        *,
        queue: str | None = None,
        nth: int | None = None,
        after: Duration = 0,
        during: Duration | None = None,
    ) -> Rule:
        """Let something go wrong from now on: every time, only once, or for a while.

        Args:
            what: a call that functions make, such as "send_message_batch" or "send_messages"; or "invoke", "attempt", "settle" and
                whatever else the world's host does.
            with_: what goes wrong.
            queue: only at this queue.
            nth: only the n-th time, from 1.
            after: not before this has passed.
            during: for no longer than this.

        Returns:
            The rule, whose `hits` tell how often it has struck.

        Raises:
            ValueError: no such place, or no such time.
            TypeError: it cannot happen there.
        """
        if what not in self._places:
            raise ValueError(f"fail({what!r}); write one of {', '.join(sorted(self._places))}")
        if not isinstance(with_, self._misfortune.fitting("before", what)):
            raise TypeError(str(Misfit("before", what, with_, self._misfortune.fitting)))
        if nth is not None and nth < 1:
            raise ValueError(f"fail(nth) is {nth}; write 1 for the first time")
        since = self._seconds() + seconds_of(after)
        until = inf if during is None else since + seconds_of(during)
        rule = Rule(what, with_, queue=queue, nth=nth, since=since, until=until)
        self._misfortune.rules.append(rule)
        return rule

    def ask_at_each_point(self, hook: Hook) -> None:
        """Have a function asked at each point what goes wrong there; what `fail` says goes before.

        Args:
            hook: gets the point, and gives one of the faults that fit there, or None.
        """
        self._misfortune.hook = hook

    def spend(self, time: Duration) -> None:
        """Inside a handler: take so much time, in which others go on.

        It ends early when the handler's time is up, as an endpoint's alarm ends it, or when the function's is, with the process.

        Raises:
            RuntimeError: no handler is running.
        """
        self._invocation("spend").spend(seconds_of(time))

    def kill(self) -> None:
        """Inside a handler: end the process at once, as `os._exit`, a crash or lack of memory does.

        Raises:
            RuntimeError: no handler is running.
        """
        self._invocation("kill").die("died")

    def timeline(self, message_id: str | None = None) -> Timeline:
        """What happened to one message and its copies, or to all.

        Args:
            message_id: the message's id, or the broker's for any of its copies.
        """
        return self._journal.timeline(self._identity, message_id)

    def _invocation(self, verb: str) -> Invocation:
        invocation = current_invocation.get()
        if invocation is None:
            raise RuntimeError(f"world.{verb} is for handlers; outside, let time pass with world.run(for_=...)")
        return invocation

    def _identity(self, broker_id: str) -> str:
        """The message's id, given the broker's for one of its copies."""
        raise NotImplementedError

    def _seconds(self) -> float:
        return self._scheduler.now


def seconds_of(duration: Duration) -> float:
    """A duration in seconds, which a number is already.

    Raises:
        TypeError: it is neither.
        ValueError: it is negative, and no world goes back.
    """
    if not isinstance(duration, timedelta | int | float):
        raise TypeError(f"{duration!r} is no duration; write a timedelta, or a number of seconds")
    seconds = duration.total_seconds() if isinstance(duration, timedelta) else float(duration)
    if seconds < 0:
        raise ValueError(f"a duration of {seconds:g} s; write 0 or more")
    return seconds
