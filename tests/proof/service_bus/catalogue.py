"""List the scenarios explored on Service Bus: one for each path of a message, and for each neighbour that can hurt it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from proof.ladders import ERRORS, in_process, ladder, quiet_between_rounds
from proof.policies import Granting, own_policy, to_a_refused_queue
from proof.service_bus.scenarios import LOCK, QUEUE, Scenario
from recoverable_local.testing import Fault, Refused, Throttled
from recoverable_local.testing.engine.fault_plan import FaultPoint

BATCH: Mapping[str, Any] = {"batch": True, "lock": timedelta(seconds=LOCK)}
SESSIONS: Mapping[str, Any] = {"sessions": True}
ORDERED: Mapping[str, Any] = {"sessions": "ordered"}
PROPERTIES: Mapping[str, Any] = {
    "attributes": {"text": "ä", "whole": 7, "broken": 0.5, "sure": False, "id": UUID(int=1)},
    "correlation_id": "c1", "subject": "s1", "to": "t1", "reply_to": "r1", "content_type": "x/y",
}  # fmt: skip
KIB = 1024
AT_THE_LIMIT: Mapping[str, Any] = {"attributes": {"a": "x" * 27_000, "b": "x" * 27_000}}
"""Properties that leave a copy no room for all that can be told of a failure that says much."""

ROOM_FOR_SOME_FAULTS = 740
"""Bytes left beside a body: enough for a copy without its stack trace."""


def error_queue_is_away(point: FaultPoint, now: float) -> Fault | None:
    """Refuse all sends to the error queue for the first minute."""
    is_down = point.when == "before" and point.what == "send_messages" and point.queue == ERRORS
    return Throttled() if is_down and now < timedelta(minutes=1).total_seconds() else None


def error_queue_denies(point: FaultPoint, now: float) -> Fault | None:
    """Refuse all sends to the error queue for the first minute, because the function has no role on it."""
    is_down = point.when == "before" and point.what == "send_messages" and point.queue == ERRORS
    is_denied = is_down and now < timedelta(minutes=1).total_seconds()
    return Refused("amqp:unauthorized-access", "no role") if is_denied else None


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(name="bus: one message", bodies=("fails",)),
    Scenario(name="bus: one message that recovers", bodies=("fails*2 ok",)),
    Scenario(name="bus: one good message", bodies=("ok",)),
    Scenario(name="bus: one chance", bodies=("ok", "fails"), recoverability=ladder(0, 0)),
    Scenario(name="bus: quiet between rounds", bodies=("fails", "fails ok"), recoverability=quiet_between_rounds()),
    Scenario(name="bus: several messages", bodies=("fails", "ok", "fails ok"), recoverability=ladder(0, 1)),
    Scenario(name="bus: several instances", bodies=("fails", "ok", "fails ok"), recoverability=ladder(0, 1), host={"instances": 2, "concurrency": 1}),
    Scenario(name="bus: killer alone", bodies=("kills",)),
    Scenario(name="bus: killer among others", bodies=("ok", "kills", "fails"), recoverability=ladder(0, 1)),
    Scenario(name="bus: unreported deliveries", bodies=("kills*5 ok", "ok")),
    Scenario(
        name="bus: neighbours in flight", bodies=("works ok", "kills", "toils ok"), recoverability=ladder(1, 0), apart=False,
    ),
    Scenario(name="bus: sessions", bodies=("fails", "ok", "fails ok", "ok"), endpoint=SESSIONS, recoverability=ladder(1, 0)),
    Scenario(name="bus: session and killer", bodies=("ok", "kills", "ok", "ok"), endpoint=SESSIONS, recoverability=ladder(0, 1)),
    Scenario(name="bus: duplicates detected", bodies=("fails", "fails ok"), detects=(QUEUE, ERRORS)),
    Scenario(name="bus: duplicates detected in the error queue", bodies=("fails", "fails"), detects=(ERRORS,), recoverability=ladder(1, 0)),
    Scenario(name="bus: batch", bodies=("fails", "ok", "fails ok"), endpoint=BATCH, recoverability=ladder(0, 1)),
    Scenario(name="bus: batch that retries at once", bodies=("fails", "ok"), endpoint=BATCH, recoverability=ladder(1, 0)),
    Scenario(name="bus: batch in sessions", bodies=("fails", "ok", "ok"), endpoint={**BATCH, **SESSIONS}, recoverability=ladder(0, 1)),
    Scenario(name="bus: batch detecting duplicates", bodies=("fails", "ok"), endpoint=BATCH, detects=(QUEUE, ERRORS), recoverability=ladder(0, 1)),
    Scenario(
        name="bus: policy that grants retries", bodies=("fails", "fails*3 ok"), recoverability=ladder(0, 1, policy=Granting(3)),
    ),
    Scenario(name="bus: custom policy", bodies=("fails", "unwanted", "fails*2 ok"), recoverability=ladder(policy=own_policy), counted=False),
    Scenario(name="bus: told to wait", bodies=("waits", "waits ok"), counted=False),
    Scenario(name="bus: properties of all kinds", bodies=("fails",), message=PROPERTIES, recoverability=ladder(0, 1)),
    Scenario(name="bus: properties at the limit", bodies=("shouts",), message=AT_THE_LIMIT, recoverability=ladder(0, 1)),
    Scenario(
        name="bus: body at the limit", bodies=(f"fails:{'x' * (256 * KIB - ROOM_FOR_SOME_FAULTS)}",), recoverability=ladder(0, 0),
    ),
    Scenario(  # with no fault at all, for what waits too long for its lock expires, and that is no loss of ours
        name="bus: short time to live", bodies=("fails",), message={"time_to_live": timedelta(seconds=20)}, faults=False,
    ),
    Scenario(name="bus: trigger with text", bodies=("fails",), text=True, recoverability=ladder(1, 0)),
    Scenario(name="bus: trigger with text that overwrites", bodies=('{"MessageId": "mine"}', "ok"), text=True, copied=False),
    Scenario(name="bus: in process", bodies=("fails", "fails*2 ok"), recoverability=in_process(2, 1)),
    Scenario(name="bus: in process and killer", bodies=("fails kills", "fails"), recoverability=in_process(1, 1)),
    Scenario(name="bus: batch in process", bodies=("fails", "ok"), endpoint=BATCH, recoverability=in_process(1, 1)),
    Scenario(name="bus: outage of the error queue", bodies=("fails", "ok"), recoverability=ladder(1, 0), outage=error_queue_is_away),
    Scenario(name="bus: error queue that denies", bodies=("fails", "ok"), recoverability=ladder(1, 0), outage=error_queue_denies),
    Scenario(
        name="bus: batch with a refused copy", bodies=("fails", "unwanted", "ok"), endpoint=BATCH, counted=False,
        recoverability=ladder(0, 1, policy=to_a_refused_queue), create_missing=False,
    ),
    Scenario(
        name="bus: batch while the error queue denies", bodies=("fails", "ok", "fails ok"), endpoint=BATCH,
        recoverability=ladder(0, 1), outage=error_queue_denies,
    ),
    Scenario(name="bus: ordered session", bodies=("fails", "ok"), endpoint=ORDERED, fifo=True),
    Scenario(name="bus: ordered session that recovers", bodies=("fails*3 ok", "ok"), endpoint=ORDERED, fifo=True),
    Scenario(name="bus: ordered session and killer", bodies=("ok", "kills", "ok"), endpoint=ORDERED, fifo=True),
    Scenario(name="bus: coroutines", bodies=("fails", "ok", "fails ok"), coroutine=True, recoverability=ladder(0, 1)),
)  # fmt: skip

OVERLAPPING: tuple[Scenario, ...] = (
    Scenario(
        name="bus: batch longer than its locks", bodies=("toils",) * 3, endpoint=BATCH, recoverability=ladder(0, 1),
        host={"batch_size": 3}, overlaps=True,
    ),
)  # fmt: skip
"""Batches that outlive the locks of their messages, which the host does not renew."""
