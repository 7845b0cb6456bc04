"""Run a world in virtual time: what the worlds of both clouds have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from math import inf

from recoverable_local.testing.copies import with_reasons
from recoverable_local.testing.engine.fault_plan import FaultPlan, Hook, ImpossibleFault, PossibleFaults, Rule
from recoverable_local.testing.engine.invocation import Invocation, current_invocation, current_number
from recoverable_local.testing.engine.invocations import Invocations
from recoverable_local.testing.engine.loop import beside_running_loop
from recoverable_local.testing.engine.real_time import RealTime
from recoverable_local.testing.engine.scheduler import Scheduler
from recoverable_local.testing.faults import Fault
from recoverable_local.testing.timeline import Journal, Timeline

Duration = timedelta | float
"""A duration; a number is in seconds."""

START = datetime(2026, 1, 1, tzinfo=UTC)
"""Start of a world's time, unless another is given."""


class VirtualWorld:
    """A world in virtual time; base of one subclass for each broker.

    Args:
        start: when its time begins.
        most_invocations: how many invocations one `run` may take before it is called endless.
        fault_points: names of what can fail: the calls that functions make to the broker, and the steps of their host.
        possible_faults: returns the types of the faults that can happen at a point.
    """

    def __init__(
        self, *, start: datetime, most_invocations: int, fault_points: Iterable[str], possible_faults: PossibleFaults
    ) -> None:
        self._start = start
        self._fault_points = set(fault_points)
        self._scheduler = Scheduler()
        self._fault_plan = FaultPlan(self._seconds, possible_faults)
        self._invocations = Invocations(most_invocations)
        self._journal = Journal(self._seconds, current_number)

    @property
    def now(self) -> datetime:
        """Return the world's time."""
        return self._start + timedelta(seconds=self._scheduler.now)

    def run(self, for_: Duration | None = None) -> None:
        """Run the world until nothing is left to do, or for a limited time.

        A handler that spends time when the time is over is finished first, because nothing can be stopped half-way; the time is later then.

        Args:
            for_: how long; None for as long as there is something to do.

        Raises:
            EndlessRun: there were more invocations than one run may take.
            HandlerBlocked: a handler really blocked for longer than its time-out.
            AssertionError: and whatever else a callback of `at` raises.
        """
        self._invocations.start_again()
        until = inf if for_ is None else self._seconds() + seconds_of(for_)
        with RealTime() as self._scheduler.real_time:
            beside_running_loop(lambda: self._scheduler.run(until))
        if self._fault_plan.impossible_fault is not None:
            raise self._fault_plan.impossible_fault

    def at(self, delay: Duration, callback: Callable[[], object]) -> None:
        """Call a function later, to change or check something: end an outage, look at a queue.

        Args:
            delay: how long from now.
            callback: function to call then; `run` raises what it raises.
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
        """Make something fail from now on: every time, only once, or for a while.

        Args:
            what: a call that functions make, such as "send_message_batch" or "send_messages"; or "invoke", "attempt", "settle" and
                whatever else the world's host does.
            with_: the fault.
            queue: only at this queue.
            nth: only the n-th time, from 1.
            after: not before this has passed.
            during: for no longer than this.

        Returns:
            The rule; its `hits` count how often the fault happened.

        Raises:
            ValueError: no such call or step, or `nth` is less than 1.
            TypeError: the fault cannot happen there.
        """
        if what not in self._fault_points:
            raise ValueError(f"fail({what!r}); write one of {', '.join(sorted(self._fault_points))}")
        if not isinstance(with_, self._fault_plan.possible_faults("before", what)):
            raise TypeError(str(ImpossibleFault("before", what, with_, self._fault_plan.possible_faults)))
        if nth is not None and nth < 1:
            raise ValueError(f"fail(nth) is {nth}; write 1 for the first time")
        since = self._seconds() + seconds_of(after)
        until = inf if during is None else since + seconds_of(during)
        rule = Rule(what, with_, queue=queue, nth=nth, since=since, until=until)
        self._fault_plan.rules.append(rule)
        return rule

    def ask_at_each_point(self, hook: Hook) -> None:
        """Call a hook at each point to choose a fault; faults of `fail` take precedence.

        Args:
            hook: gets the point, and returns a fault that can happen there, or None.
        """
        self._fault_plan.hook = hook

    def spend(self, time: Duration) -> None:
        """Let time pass inside a handler, while other invocations go on.

        It ends early when the handler's time is up, as an endpoint's deadline ends it, or when the function's is, with the process.

        Raises:
            RuntimeError: no handler is running.
        """
        self._invocation("spend").spend(seconds_of(time))

    def hang(self, time: Duration) -> None:
        """Let time pass inside a handler where nothing can stop it, as C code, a lock or a process without a time-out does.

        Once it has passed, the handler is stopped if its time is up. The function's time-out ends it with the process, but not on
        Managed Instances.

        Raises:
            RuntimeError: no handler is running.
        """
        self._invocation("hang").hang(seconds_of(time))

    def kill(self) -> None:
        """End the process at once inside a handler, as `os._exit`, a crash or lack of memory does.

        Raises:
            RuntimeError: no handler is running.
        """
        self._invocation("kill").die("died")

    def timeline(self, message_id: str | None = None) -> Timeline:
        """Return what happened to one message and its copies, or to all messages.

        Args:
            message_id: the message's id, or the broker's for any of its copies.
        """
        return Timeline(with_reasons(self._journal.events(self._identity, message_id), self._headers))

    def _invocation(self, verb: str) -> Invocation:
        invocation = current_invocation.get()
        if invocation is None:
            raise RuntimeError(f"world.{verb} is for handlers; outside, let time pass with world.run(for_=...)")
        return invocation

    def _identity(self, broker_id: str) -> str:
        """Return the message's id, given the broker's id of one of its copies."""
        raise NotImplementedError

    def _headers(self, broker_id: str) -> Mapping[str, str]:
        """Return the headers of a copy, given the broker's id."""
        raise NotImplementedError

    def _seconds(self) -> float:
        return self._scheduler.now


def seconds_of(duration: Duration) -> float:
    """Convert a duration to seconds; a number is seconds already.

    Raises:
        TypeError: neither a timedelta nor a number.
        ValueError: a negative one; a world does not go back.
    """
    if not isinstance(duration, timedelta | int | float):
        raise TypeError(f"{duration!r} is no duration; write a timedelta, or a number of seconds")
    seconds = duration.total_seconds() if isinstance(duration, timedelta) else float(duration)
    if seconds < 0:
        raise ValueError(f"a duration of {seconds:g} s; write 0 or more")
    return seconds
