"""List the scenarios in which handlers on SQS send."""

from __future__ import annotations

from typing import Any

from proof.ladders import in_process, ladder
from proof.policies import own_policy
from proof.sqs.scenarios import Scenario
from recoverable_local.testing import Fault, Throttled
from recoverable_local.testing.engine.fault_plan import FaultPoint

HALF_A_MINUTE = 30


def destination_is_busy(point: FaultPoint, now: float) -> Fault | None:
    """Refuse all sends of what handlers send for the first half minute."""
    is_down = point.when == "before" and point.what == "send_message_batch" and point.queue.startswith("out")
    return Throttled() if is_down and now < HALF_A_MINUTE else None


TWO_FIFO = ("out.fifo", "out.fifo")
FROM_FIFO: dict[str, Any] = {"queue": "jobs.fifo", "sends_to": TWO_FIFO, "mapping": {"batch_size": 1}}

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(name="sending", bodies=("sends", "sends+fails sends"), sends_to=("out", "topic")),
    Scenario(name="sending and failing", bodies=("sends+fails",), recoverability=ladder(1, 0)),
    Scenario(name="sending and killed", bodies=("sends", "sends+kills sends", "sends"), recoverability=ladder(1, 0)),
    Scenario(name="sending with little time", bodies=("sends+works", "sends+toils sends", "sends+works"), recoverability=ladder(1, 0)),
    Scenario(name="sending in process", bodies=("sends+fails sends", "fails sends"), recoverability=in_process(1, 1)),
    Scenario(name="sending and discarded", bodies=("sends+unwanted", "sends+fails"), recoverability=ladder(policy=own_policy), counted=False),
    Scenario(name="sending, header counter", bodies=("sends", "sends+fails sends"), endpoint={"counter": "header"}),
    Scenario(
        name="sending by coroutines", bodies=("sends", "sends+fails sends", "sends"), coroutine=True, endpoint={"concurrency": 2},
        mapping={"concurrency": 1}, recoverability=ladder(0, 1),
    ),
    Scenario(
        name="sending without partial responses", bodies=("sends", "sends+fails sends"), endpoint={"partial_responses": False},
        recoverability=ladder(0, 1),
    ),
    Scenario(name="sending to a FIFO queue", bodies=("sends", "sends+fails sends"), sends_to=TWO_FIFO, recoverability=ladder(0, 1)),
    Scenario(name="sending to FIFO in parts", bodies=("sends",), sends_to=(*TWO_FIFO, *TWO_FIFO), recoverability=ladder(0, 0)),
    Scenario(name="sending from FIFO to FIFO", bodies=("sends+fails sends", "sends"), recoverability=ladder(1, 1, "errors.fifo"), **FROM_FIFO),
    Scenario(
        name="sending to nowhere", bodies=("misdirects sends", "sends", "misdirects"), recoverability=ladder(1, 0), create_missing=False,
    ),
    Scenario(name="sending to who is busy", bodies=("sends", "ok"), recoverability=ladder(0, 0), outage=destination_is_busy),
    Scenario(
        name="sending from FIFO to who is busy", bodies=("sends", "sends+fails sends"), outage=destination_is_busy,
        recoverability=ladder(1, 1, "errors.fifo"), **FROM_FIFO,
    ),
)  # fmt: skip
