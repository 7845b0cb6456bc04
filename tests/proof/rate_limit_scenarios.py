"""Define scenarios with a rate limit, alone and with a circuit that all instances of a replay share."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from proof.ladders import ladder
from proof.replaying import Scenario, Schedule
from proof.service_bus.scenarios import LOCK
from proof.service_bus.scenarios import Scenario as OnServiceBus
from proof.sqs.scenarios import Scenario as OnSqs
from recoverable import RateLimit
from recoverable._rate_limit.store import MemoryCircuit
from recoverable_local.testing.engine.invocation import current_invocation

if TYPE_CHECKING:
    from recoverable._rate_limit.state import Circuit, Snapshot
    from recoverable_local.testing.engine.scheduler import Scheduler


class CircuitOfTheReplay:
    """A circuit store that all instances of a world share; each replay gets a new circuit, because scenarios outlive replays."""

    def __init__(self) -> None:
        self._circuits: WeakKeyDictionary[Scheduler, MemoryCircuit] = WeakKeyDictionary()

    def read(self) -> Snapshot:
        """Read the circuit of this replay."""
        return self._here().read()

    def compare_and_set(self, seen: Snapshot, circuit: Circuit, switch: str = "") -> Snapshot | None:
        """Change the circuit of this replay."""
        return self._here().compare_and_set(seen, circuit, switch)

    def _here(self) -> MemoryCircuit:
        invocation = current_invocation.get()
        assert invocation is not None, "endpoints ask inside invocations"
        return self._circuits.setdefault(invocation._scheduler, MemoryCircuit())


WAIT, MAX_HOLD = timedelta(seconds=10), timedelta(seconds=40)
ALONE = ladder(1, 1, rate_limit=RateLimit(2, WAIT, MAX_HOLD))
SHARED = ladder(1, 1, rate_limit=RateLimit(2, WAIT, MAX_HOLD, store=CircuitOfTheReplay()))
IN_ORDER = ladder(1, 1, "errors.fifo", rate_limit=RateLimit(2, WAIT, MAX_HOLD))

RECOVER = ("fails*3 ok", "fails*2 ok", "ok")
NEVER = ("fails", "fails", "ok")

SCENARIOS: tuple[Scenario, ...] = (
    OnSqs(name="rate limited", bodies=RECOVER, recoverability=ALONE),
    OnSqs(name="rate limited together", bodies=RECOVER, recoverability=SHARED, mapping={"batch_size": 1}),
    OnSqs(name="rate limited for longer than messages are held", bodies=NEVER, recoverability=SHARED),
    OnSqs(name="rate limited, header counter", bodies=RECOVER, recoverability=SHARED, endpoint={"counter": "header"}),
    OnSqs(name="rate limited, and a killer", bodies=("kills", "fails*3 ok", "ok"), recoverability=SHARED),
    OnSqs(
        name="rate limited FIFO group", bodies=("fails", "fails ok"), recoverability=IN_ORDER, queue="jobs.fifo",
        mapping={"batch_size": 1},
    ),
    OnServiceBus(name="rate limited on Service Bus", bodies=RECOVER, recoverability=SHARED),
    OnServiceBus(name="rate limited on Service Bus for longer than messages are held", bodies=NEVER, recoverability=SHARED),
    OnServiceBus(name="rate limited batches", bodies=RECOVER, recoverability=SHARED, endpoint={"batch": True, "lock": timedelta(seconds=LOCK)}),
    OnServiceBus(name="rate limited sessions", bodies=RECOVER, recoverability=SHARED, endpoint={"sessions": True}),
)  # fmt: skip


def excused(scenario: Scenario, schedule: Schedule) -> bool:
    """True if the schedule asks for more than the broker can keep.

    A copy on Service Bus is scheduled for a time of day, so one that a clock an hour early schedules comes at once, again and again.
    """
    limited = scenario.recoverability.rate_limit is not None
    return limited and isinstance(scenario, OnServiceBus) and "clock early" in schedule.values()
