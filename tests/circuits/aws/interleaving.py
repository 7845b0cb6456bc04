"""Explore all interleavings of those who pause, resume and repair a trigger: the real code, one call to AWS after the other."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from circuits.aws.virtual_aws import NO_FAULTS, Answer, Call, Faults, World, answers, landings
from recoverable import StoreUnavailable
from recoverable._rate_limit.state import Open, Snapshot
from recoverable.circuits import PauseTrigger
from recoverable.circuits._pause import Mapping

QUEUE_ARN = "arn:aws:sqs:eu-west-1:123456789012:orders"
MINUTE = timedelta(minutes=1)

LONG = 14
"""Minutes that an invocation may stand still between two of its calls; after fifteen Lambda ends it."""

Log: TypeAlias = tuple[Answer, ...]
Logs: TypeAlias = tuple[Log | None, ...]
Actor: TypeAlias = Callable[[PauseTrigger], object]


class Suspended(Exception):
    """Raised at the first call that has no answer yet."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self.call = call


class Replay:
    """The calls of one of those who act: answered from a log as far as it goes.

    Args:
        log: the answers.
    """

    queue_arn = QUEUE_ARN

    def __init__(self, log: Log) -> None:
        self._answers = iter(log)

    def ask(self, verb: str, argument: str = "") -> Answer:
        """Return the next answer.

        Raises:
            Suspended: there is none yet.
            StoreUnavailable: it is that AWS did not answer.
        """
        for answer in self._answers:
            if isinstance(answer, StoreUnavailable):
                raise answer
            return answer
        raise Suspended(Call(verb, argument))

    def clock(self) -> datetime:
        now: datetime = self.ask("clock")
        return now

    def read(self) -> Snapshot:
        return Snapshot(self.ask("read circuit"))

    def read_mark(self) -> str | None:
        mark: str | None = self.ask("read mark")
        return mark

    def set_mark(self, _now: datetime) -> None:
        self.ask("set mark")

    def remove_mark(self, mark: str) -> None:
        self.ask("remove mark", mark)

    def read_mapping(self) -> Mapping:
        return Mapping("mapping", self.ask("list"))

    def enable(self, _mapping: Mapping) -> None:
        self.ask("update", "Enabled")

    def disable(self, _mapping: Mapping) -> None:
        self.ask("update", "Disabled")


def trigger_of(log: Log) -> PauseTrigger:
    """Return the real thing, whose calls are answered from a log."""
    calls: Any = Replay(log)
    return PauseTrigger(calls, queue_arn=QUEUE_ARN, function="orders", store=calls, clock=calls.clock)


def start(pause: PauseTrigger) -> None:
    """Do what an instance does whose failure opens the circuit."""
    calls: Any = pause.circuit
    calls.ask("open")
    pause.start()


def stop(pause: PauseTrigger) -> None:
    """Do what an instance does whose success closes the circuit."""
    calls: Any = pause.circuit
    calls.ask("close")
    pause.stop()


def repair(pause: PauseTrigger) -> None:
    """Do what the probe does each minute; what it cannot do now it does the next time."""
    try:
        pause.repair()
    except StoreUnavailable:
        return


@cache
def next_call(actor: Actor, log: Log) -> Call | None:
    """Return the next call of one of those who act; None at its end."""
    try:
        actor(trigger_of(log))
    except Suspended as suspended:
        return suspended.call
    return None


def with_time(actor: Actor, log: Log, world: World) -> Log:
    """Return the log with the time, if that is what is asked for next: a look at the clock is no call."""
    while (call := next_call(actor, log)) and call.verb == "clock":
        log = (*log, world.now)
    return log


def repaired(world: World, minutes: int) -> World:
    """Return the world after so many minutes, in each of which the probe has repaired what it found."""
    for _ in range(minutes):
        world = replace(world, now=world.now + MINUTE)
        log: Log = ()
        while call := next_call(repair, log):
            answer, world = next(answers(call, world))
            log = (*log, answer)
    return world


class Found(NamedTuple):
    """What a search found.

    Args:
        interleavings: how many there are.
        bad: in how many the trigger is not as the circuit wants it, half an hour after all is over.
    """

    interleavings: int
    bad: int


def explore(world: World, *actors: Actor, faults: Faults = NO_FAULTS) -> Found:
    """Return what all interleavings of these come to."""

    @cache
    def found(world: World, logs: Logs) -> Found:
        ends = [found(*way) for way in moves(world, actors, logs, faults)]
        if not ends:
            return Found(1, int(is_bad(repaired(world, 2 * LONG))))
        return Found(sum(end.interleavings for end in ends), sum(end.bad for end in ends))

    return found(world, tuple(with_time(actor, (), world) for actor in actors))


def moves(world: World, actors: tuple[Actor, ...], logs: Logs, faults: Faults) -> Iterator[tuple[World, Logs]]:
    """Yield all that can happen next. The log of one who ended too early is None."""
    acting = [n for n, log in enumerate(logs) if log is not None and next_call(actors[n], log)]
    for n in acting:
        for after, log in continued(actors[n], logs[n] or (), world, faults):
            yield after, (*logs[:n], log, *logs[n + 1 :])
    yield from ((after, logs) for after in landings(world))
    if acting and faults.stands_still and not world.stood_still:
        yield replace(repaired(world, LONG), stood_still=True), logs


def continued(actor: Actor, log: Log, world: World, faults: Faults) -> Iterator[tuple[World, Log | None]]:
    """Yield the world and the log after each answer that one of those who act may get, and after its end."""
    call = next_call(actor, log)
    for answer, after in answers(call, world, faults) if call else ():
        yield after, with_time(actor, (*log, answer), after)
    if faults.deaths:
        yield world, None


def is_bad(world: World) -> bool:
    """True if the trigger is off while the circuit is closed, or on while it is open."""
    return (world.states[0] == "Disabled") != isinstance(world.circuit, Open)


def main() -> None:
    """Explore what is too much for a test: those who start, stop and repair, with all that may go wrong at once."""
    logging.disable(logging.CRITICAL)
    sys.stdout.write(f"{explore(World(), start, stop, repair, faults=Faults(*[True] * len(Faults._fields)))}\n")


if __name__ == "__main__":
    main()
