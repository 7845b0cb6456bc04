"""AWS as those who pause a trigger see it: the mapping, the mark and the circuit, and what may go wrong with each call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeAlias

from builders import NOW
from recoverable import StoreUnavailable
from recoverable._rate_limit.state import CLOSED, Circuit, Open
from recoverable.headers import write_date

MICROSECOND = timedelta(microseconds=1)
NO_ANSWER = StoreUnavailable("ReadTimeoutError")

Answer: TypeAlias = Any


class Call(NamedTuple):
    """A call to AWS, or a look at the clock."""

    verb: str
    argument: str = ""


@dataclass(frozen=True)
class World:
    """What AWS has.

    Args:
        circuit: the circuit.
        mark: the mark that we paused the trigger.
        states: the mapping's state, and after it the one before, which a stale list may show.
        late: updates of the mapping that had no answer, and will be made at some time.
        now: the time; each mark is a microsecond later than the one before.
        stood_still: True when somebody has stood still for long.
    """

    circuit: Circuit = CLOSED
    mark: str | None = None
    states: tuple[str, ...] = ("Enabled",)
    late: tuple[str, ...] = ()
    now: datetime = NOW
    stood_still: bool = False

    def become(self, state: str) -> World:
        """Return the world with another state of the mapping."""
        return self if state == self.states[0] else replace(self, states=(state, self.states[0]))


class Faults(NamedTuple):
    """What may go wrong.

    Args:
        stale_lists: a list may show the state before.
        late_updates: an update may have no answer, and be made later.
        deaths: whoever acts may end before any call.
        stands_still: once, fourteen minutes may pass before a call, while the probe repairs each minute.
    """

    stale_lists: bool = False
    late_updates: bool = False
    deaths: bool = False
    stands_still: bool = False


NO_FAULTS = Faults()


def answers(call: Call, world: World, faults: Faults = NO_FAULTS) -> Iterator[tuple[Answer, World]]:
    """Yield each answer that a call may get, and the world after it; none while it cannot be made."""
    match call.verb:
        case "open":
            yield None, replace(world, circuit=Open(world.now, world.now))
        case "close" if isinstance(world.circuit, Open):
            yield None, replace(world, circuit=CLOSED)
        case "set mark":
            yield None, replace(world, mark=write_date(world.now), now=world.now + MICROSECOND)
        case "remove mark":
            yield None, replace(world, mark=None) if world.mark == call.argument else world
        case "list":
            yield from ((state, world) for state in world.states[: 1 + faults.stale_lists])
        case "update":
            yield None, world.become(call.argument)
            if faults.late_updates:
                yield NO_ANSWER, replace(world, late=(*world.late, call.argument))
        case _:
            yield from ((found, world) for found in looked_up(call.verb, world))


def looked_up(verb: str, world: World) -> Iterator[Answer]:
    """Yield the answer of a call that changes nothing; none to a success that has no open circuit to close yet."""
    found: dict[str, Answer] = {"clock": world.now, "read circuit": world.circuit, "read mark": world.mark}
    if verb in found:
        yield found[verb]


def landings(world: World) -> Iterator[World]:
    """Yield the world after each of the updates that are made late."""
    for number, state in enumerate(world.late):
        yield replace(world.become(state), late=(*world.late[:number], *world.late[number + 1 :]))
