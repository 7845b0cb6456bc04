"""List the scenarios of FIFO queues whose delays are longer than a visibility timeout, and of batches of several groups."""

from __future__ import annotations

from datetime import timedelta

from proof.policies import Granting
from proof.sqs.scenarios import Scenario
from recoverable import Delayed, Failed, Immediate, Recoverability
from recoverable.extensions import Heartbeat


def hours(immediate: int, delayed: int) -> Recoverability:
    """Return a ladder whose n-th delay is n hours."""
    return Recoverability(Immediate(immediate), Delayed(delayed, timedelta(hours=1)), Failed("errors.fifo"))


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="FIFO with long delays", bodies=("fails", "ok"), queue="jobs.fifo", recoverability=hours(1, 2),
        mapping={"batch_size": 1},
    ),
    Scenario(
        name="FIFO policy that grants retries", bodies=("fails", "ok"), queue="jobs.fifo",
        recoverability=hours(1, 2).__replace__(policy=Granting(3)), mapping={"batch_size": 1},
    ),
    Scenario(
        name="FIFO with one attempt a round", bodies=("fails*2 ok",), queue="jobs.fifo", recoverability=hours(0, 4),
        mapping={"batch_size": 1},
    ),
    Scenario(
        name="FIFO killer with long delays", bodies=("kills", "ok"), queue="jobs.fifo", recoverability=hours(1, 2),
        mapping={"batch_size": 1},
    ),
    Scenario(
        name="FIFO killer whose runs outlast the retention", bodies=("kills",), queue="jobs.fifo", recoverability=hours(35, 0),
        mapping={"batch_size": 1}, visibility=1_200, retention=timedelta(hours=10), counted=False,
    ),
    Scenario(
        name="FIFO killer under a heartbeat", bodies=("collapses", "works"), queue="jobs.fifo", recoverability=hours(1, 2),
        mapping={"batch_size": 1}, endpoint={"extensions": (Heartbeat(timedelta(seconds=9)),)},
    ),
    Scenario(
        name="FIFO on managed instances", bodies=("hangs ok", "ok"), queue="jobs.fifo", recoverability=hours(1, 1),
        mapping={"batch_size": 1, "managed_instances": True},
    ),
)  # fmt: skip
