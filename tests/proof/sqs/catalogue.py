"""List the scenarios explored on SQS: one for each path of a message, and for each neighbour that can hurt it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from proof.ladders import ERRORS, in_process, ladder
from proof.policies import Granting, own_policy
from proof.sqs.scenarios import Scenario
from recoverable import Delayed, Failed, Immediate, Recoverability
from recoverable.extensions import Heartbeat
from recoverable_local.testing import Fault, Refused, Throttled, Unreachable
from recoverable_local.testing.engine.fault_plan import FaultPoint


def error_queue_is_away(point: FaultPoint, now: float) -> Fault | None:
    """Refuse all sends to the error queue for the first ten minutes."""
    is_down = point.when == "before" and point.what == "send_message_batch" and point.queue == ERRORS
    return Throttled() if is_down and now < timedelta(minutes=10).total_seconds() else None


def sqs_is_away(point: FaultPoint, now: float) -> Fault | None:
    """Refuse all batch calls to SQS for the first three minutes."""
    is_down = point.when == "before" and point.what.endswith("_batch")
    return Throttled() if is_down and now < timedelta(minutes=3).total_seconds() else None


def deletes_are_denied(point: FaultPoint, now: float) -> Fault | None:
    """Deny the function's role DeleteMessage for the first ten minutes; by that role the event source mapping deletes, too."""
    faults: dict[str, Fault] = {"delete_message_batch": Refused("AccessDenied"), "settle": Unreachable()}
    is_denied = point.when == "before" and now < timedelta(minutes=10).total_seconds()
    return faults.get(point.what) if is_denied else None


TEN_ATTRIBUTES: Mapping[str, Any] = {"attributes": {f"a{n}": f"value {n}" for n in range(9)} | {"b": b"\0"}}
MEBIBYTE = 1_048_576
ROOM_FOR_SOME_FAULTS, ROOM_FOR_NONE = 780, 150
"""Bytes left beside a body: enough for a copy without its stack trace, or for no copy at all."""

KILLED_FIVE_TIMES = "kills*5 ok"
"""More unreported deliveries than the allowance: they climb the ladder."""

HALF_AN_HOUR = Recoverability(Immediate(0), Delayed(1, timedelta(minutes=35)), Failed(ERRORS))

QUIET = Delayed(2, timedelta(minutes=5))
"""Delays after which SQS has forgotten the connections of an instance."""

HEARTBEAT: Mapping[str, Any] = {"extensions": (Heartbeat(timedelta(seconds=9)),)}
"""Less than a third of the function's time-out, so that there are beats while handlers run."""

MANAGED: Mapping[str, Any] = {"managed_instances": True}

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(name="one message", bodies=("fails",)),
    Scenario(name="one message that recovers", bodies=("fails*2 ok",)),
    Scenario(name="one good message", bodies=("ok",)),
    Scenario(name="one chance", bodies=("ok", "fails"), recoverability=ladder(0, 0)),
    Scenario(name="batch", bodies=("fails", "ok", "fails ok"), recoverability=ladder(0, 1)),
    Scenario(name="plain records", bodies=("fails", "ok", "fails ok"), named=False),
    Scenario(name="any order", bodies=("fails", "ok", "fails ok", "ok"), seed=7, mapping={"batch_size": 2}),
    Scenario(name="killer alone", bodies=("kills",)),
    Scenario(name="killer first", bodies=("kills", "ok", "fails")),
    Scenario(name="killer in the middle", bodies=("ok", "kills", "ok"), recoverability=ladder(0, 1)),
    Scenario(name="killer last", bodies=("fails", "ok", "kills"), recoverability=ladder(0, 1)),
    Scenario(name="two killers", bodies=("kills", "ok", "kills"), recoverability=ladder(0, 1)),
    Scenario(name="unreported deliveries", bodies=(KILLED_FIVE_TIMES, "ok")),
    Scenario(name="several instances", bodies=("fails", "ok", "fails ok"), mapping={"batch_size": 1}),
    Scenario(name="quiet hours", bodies=("fails", "fails sends", "ok"), recoverability=ladder(0, 2).__replace__(delayed=QUIET)),
    Scenario(
        name="FIFO group", bodies=("fails", "ok"), queue="jobs.fifo", recoverability=ladder(1, 1, "errors.fifo"),
        mapping={"batch_size": 1},
    ),
    Scenario(
        name="FIFO batch", bodies=("ok", "fails", "ok"), queue="jobs.fifo", recoverability=ladder(1, 0, "errors.fifo"),
    ),
    Scenario(name="FIFO error queue", bodies=("fails", "fails"), recoverability=ladder(1, 0, "errors.fifo")),
    Scenario(name="ten attributes", bodies=("fails", "fails ok"), message=TEN_ATTRIBUTES, named=False),
    Scenario(
        name="size limit", bodies=(f"fails:{'x' * (MEBIBYTE - ROOM_FOR_SOME_FAULTS)}",), recoverability=ladder(0, 1),
        named=False,
    ),
    Scenario(
        name="too large to copy", bodies=(f"fails:{'x' * (MEBIBYTE - ROOM_FOR_NONE)}",), recoverability=ladder(0, 0),
        named=False, copied=False,
    ),
    Scenario(
        name="custom policy", bodies=("fails", "unwanted", "fails*2 ok"), recoverability=ladder(policy=own_policy),
        counted=False,
    ),
    Scenario(
        name="policy that grants retries", bodies=("fails", "kills", "fails*3 ok"), recoverability=ladder(0, 1, policy=Granting(3)),
    ),
    Scenario(
        name="policy that grants retries in process", bodies=("fails", "fails*3 ok"),
        recoverability=in_process(1, 1).__replace__(policy=Granting(3)),
    ),
    Scenario(name="told to wait", bodies=("waits", "waits ok"), counted=False),
    Scenario(name="hopping", bodies=("fails", "fails ok"), recoverability=HALF_AN_HOUR),
    Scenario(name="header counter", bodies=("fails", "ok"), endpoint={"counter": "header"}),
    Scenario(
        name="header counter and killer", bodies=("ok", "kills", "fails"), recoverability=ladder(0, 1),
        endpoint={"counter": "header"},
    ),
    Scenario(
        name="little time", bodies=("toils", "toils", "toils ok", "fails"), recoverability=ladder(1, 0),
    ),
    Scenario(
        name="little time and header counter", bodies=("works", "toils", "toils ok"),
        endpoint={"counter": "header"}, recoverability=ladder(1, 0),
    ),
    Scenario(name="in process", bodies=("fails", "ok", "fails*2 ok"), recoverability=in_process(2, 1)),
    Scenario(name="in process and killer", bodies=("fails", "fails kills", "ok"), recoverability=in_process(1, 1)),
    Scenario(name="in process with little time", bodies=("toils", "fails ok"), recoverability=in_process(2, 0)),
    Scenario(name="outage of the error queue", bodies=("fails", "ok"), recoverability=ladder(1, 0), outage=error_queue_is_away),
    Scenario(name="outage of SQS", bodies=("fails", "fails*3 ok"), outage=sqs_is_away),
    Scenario(name="deletes denied", bodies=("fails", "ok", "fails ok"), recoverability=ladder(0, 1), outage=deletes_are_denied),
    Scenario(name="deletes denied, immediate retries", bodies=("fails", "fails*3 ok"), outage=deletes_are_denied),
    Scenario(
        name="deletes denied, little time", bodies=("toils", "toils ok", "fails"), recoverability=ladder(1, 0), outage=deletes_are_denied,
    ),
    Scenario(
        name="coroutines", bodies=("fails", "ok", "fails ok"), coroutine=True, endpoint={"concurrency": 2},
        mapping={"concurrency": 1},
    ),
    Scenario(
        name="heartbeat", bodies=("works", "fails", "toils ok"), recoverability=ladder(0, 1), endpoint=HEARTBEAT,
    ),
    Scenario(
        name="heartbeat and killer", bodies=("works", "collapses", "fails"), recoverability=ladder(0, 1), endpoint=HEARTBEAT,
    ),
    Scenario(
        name="managed instances", bodies=("works", "fails", "ok"), recoverability=ladder(0, 1), mapping=MANAGED,
    ),
    Scenario(
        name="managed instances, one hangs", bodies=("ok", "hangs ok", "fails"), recoverability=ladder(1, 0), mapping=MANAGED,
    ),
    Scenario(
        name="managed instances under a heartbeat", bodies=("ok", "hangs*2 ok", "works"), recoverability=ladder(1, 1), mapping=MANAGED,
        endpoint=HEARTBEAT,
    ),
    Scenario(
        name="managed instances and killer", bodies=("kills", "hangs ok", "ok"), recoverability=ladder(0, 1), mapping=MANAGED,
    ),
    Scenario(
        name="no partial responses", bodies=("fails", "ok", "fails ok"), endpoint={"partial_responses": False},
        recoverability=ladder(0, 1),
    ),
)  # fmt: skip

OVERLAPPING: tuple[Scenario, ...] = (
    Scenario(name="batching window", bodies=("toils",), visibility=30, mapping={"window": 20}, overlaps=True),
    Scenario(name="raised time-out", bodies=("toils", "toils"), visibility=20, overlaps=True),
    Scenario(
        name="window beyond the visibility timeout", bodies=("toils",), visibility=30, mapping={"window": 40}, overlaps=True,
        faults=False,  # its last receive is the one that keeps the reason, so one fault takes it away
    ),
)  # fmt: skip
"""Deliveries that outlive their visibility timeout; those of the last begin only after it."""
