"""List the scenarios in which handlers on Service Bus send."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from proof.ladders import in_process, ladder, quiet_between_rounds
from proof.policies import own_policy
from proof.service_bus.catalogue import BATCH, ORDERED, SESSIONS
from proof.service_bus.scenarios import QUEUE, Scenario
from recoverable_local.testing import Fault, Throttled
from recoverable_local.testing.engine.fault_plan import FaultPoint

HALF_A_MINUTE = 30


def destination_is_busy(point: FaultPoint, now: float) -> Fault | None:
    """Refuse all sends of what handlers send for the first half minute."""
    is_down = point.when == "before" and point.what == "send_messages" and point.queue == "out"
    return Throttled() if is_down and now < HALF_A_MINUTE else None


IMPATIENT: dict[str, Any] = {"resend_for": timedelta(seconds=2)}

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(name="bus: sending", bodies=("sends", "sends+fails sends"), sends_to=("out", "topic")),
    Scenario(name="bus: sending and failing", bodies=("sends+fails",), recoverability=ladder(1, 0)),
    Scenario(name="bus: sending between quiet times", bodies=("sends+fails sends", "sends+fails"), recoverability=quiet_between_rounds()),
    Scenario(name="bus: sending and killed", bodies=("sends", "sends+kills sends"), recoverability=ladder(1, 0)),
    Scenario(name="bus: sending in process", bodies=("sends+fails sends", "fails sends"), recoverability=in_process(1, 1)),
    Scenario(name="bus: sending and discarded", bodies=("sends+unwanted", "sends+fails"), recoverability=ladder(policy=own_policy), counted=False),
    Scenario(name="bus: sending in a batch", bodies=("sends", "sends+fails sends"), endpoint=BATCH, recoverability=ladder(0, 1)),
    Scenario(name="bus: sending in sessions", bodies=("sends", "sends+fails sends"), endpoint=SESSIONS, recoverability=ladder(1, 0)),
    Scenario(name="bus: sending in an ordered session", bodies=("sends+fails sends", "sends"), endpoint=ORDERED, fifo=True),
    Scenario(name="bus: sending by coroutines", bodies=("sends", "sends+fails sends"), coroutine=True, recoverability=ladder(0, 1)),
    Scenario(
        name="bus: sending where duplicates are detected", bodies=("sends", "sends+fails sends"), detects=(QUEUE, "out"),
        recoverability=ladder(0, 1),
    ),
    Scenario(
        name="bus: sending to nowhere", bodies=("misdirects sends", "sends", "misdirects"), recoverability=ladder(1, 0), create_missing=False,
    ),
    Scenario(name="bus: sending to who is busy", bodies=("sends", "ok"), endpoint=IMPATIENT, recoverability=ladder(0, 0), outage=destination_is_busy),
    Scenario(
        name="bus: sending in a batch to who is busy", bodies=("sends", "ok", "fails ok"), endpoint={**BATCH, **IMPATIENT},
        recoverability=ladder(0, 1), outage=destination_is_busy,
    ),
)  # fmt: skip
