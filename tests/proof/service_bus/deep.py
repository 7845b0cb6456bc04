"""List larger scenarios on Service Bus, for searches of minutes: longer ladders, more messages, killers and instances."""

from __future__ import annotations

from proof.ladders import ladder
from proof.policies import own_policy
from proof.service_bus.catalogue import BATCH, PROPERTIES, SESSIONS
from proof.service_bus.scenarios import QUEUE, Scenario

DEEP: tuple[Scenario, ...] = (
    Scenario(name="bus: default ladder", bodies=("fails", "ok", "fails*7 ok"), recoverability=ladder(5, 3)),
    Scenario(
        name="bus: ten messages", counted=False, host={"instances": 2, "concurrency": 3},
        bodies=("fails", "ok", "fails ok", "ok", "fails*3 ok", "waits ok", "ok", "fails", "ok", "ok"),
    ),
    Scenario(name="bus: two killers", bodies=("kills", "ok", "kills", "fails ok"), recoverability=ladder(1, 1)),
    Scenario(
        name="bus: more neighbours in flight", bodies=("works ok", "kills", "toils ok", "works ok", "works ok"),
        recoverability=ladder(1, 1), host={"instances": 2}, apart=False,
    ),
    Scenario(
        name="bus: more sessions", bodies=("fails*2 ok", "ok", "fails", "ok", "ok", "fails ok"), endpoint=SESSIONS,
        recoverability=ladder(2, 1), host={"instances": 2, "concurrency": 1},
    ),
    Scenario(
        name="bus: larger batch", bodies=("fails", "ok", "fails*4 ok", "ok"), endpoint=BATCH, recoverability=ladder(2, 1),
        host={"batch_size": 2, "instances": 2},
    ),
    Scenario(
        name="bus: batch with a killer", bodies=("ok", "kills", "fails ok"), endpoint=BATCH, recoverability=ladder(1, 1),
        apart=False,
    ),
    Scenario(
        name="bus: batch, sessions and duplicates", bodies=("fails", "ok", "fails ok", "ok"),
        endpoint={**BATCH, **SESSIONS}, detects=(QUEUE, "errors"), recoverability=ladder(1, 1),
    ),
    Scenario(
        name="bus: custom policy and killer", bodies=("fails", "unwanted", "kills", "ok"), counted=False,
        recoverability=ladder(1, 2, policy=own_policy), message=PROPERTIES,
    ),
    Scenario(
        name="bus: coroutines in sessions", bodies=("fails", "ok", "fails ok"), coroutine=True, endpoint=SESSIONS,
        recoverability=ladder(1, 1),
    ),
)  # fmt: skip
