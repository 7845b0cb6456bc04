"""List larger scenarios, for searches of minutes: longer ladders, more messages, more killers."""

from __future__ import annotations

from datetime import timedelta

from proof.ladders import ladder
from proof.policies import own_policy
from proof.sqs.catalogue import HALF_AN_HOUR, KILLED_FIVE_TIMES, TEN_ATTRIBUTES
from proof.sqs.scenarios import Scenario

DEEP: tuple[Scenario, ...] = (
    Scenario(name="default ladder", bodies=("fails", "ok", "fails*7 ok"), recoverability=ladder(5, 3)),
    Scenario(
        name="ten messages",
        bodies=("fails", "ok", "fails ok", "ok", "fails*3 ok", "waits ok", "ok", "fails", "ok", "ok"),
        counted=False,
    ),
    Scenario(
        name="three killers",
        bodies=("kills", "ok", "kills", "ok", "kills"),
        recoverability=ladder(1, 2),
    ),
    Scenario(name="killer among failing", bodies=("fails", "kills", "fails ok", "ok"), recoverability=ladder(2, 1)),
    Scenario(
        name="small batches on several instances",
        bodies=("fails", KILLED_FIVE_TIMES, "ok", "fails*2 ok", "fails"),
        mapping={"batch_size": 2, "concurrency": 3},
    ),
    Scenario(
        name="longer FIFO group", bodies=("fails*2 ok", "fails", "ok", "ok"), queue="jobs.fifo",
        recoverability=ladder(2, 1, "errors.fifo"), mapping={"batch_size": 1},
    ),
    Scenario(
        name="FIFO killer", bodies=("ok", "kills", "ok"), queue="jobs.fifo",
        recoverability=ladder(1, 1, "errors.fifo"), mapping={"batch_size": 1},
    ),
    Scenario(
        name="header counter, longer ladder", bodies=("fails", "ok", "fails*4 ok"), recoverability=ladder(2, 2),
        endpoint={"counter": "header"},
    ),
    Scenario(
        name="header counter, no partial responses", bodies=("fails", "ok", "kills"), recoverability=ladder(1, 1),
        endpoint={"counter": "header", "partial_responses": False},
    ),
    Scenario(
        name="little time for many", bodies=("toils", "works", "toils ok", "works", "fails", "toils"),
        recoverability=ladder(2, 1),
    ),
    Scenario(
        name="hopping with ten attributes", bodies=("fails", "fails ok"), recoverability=HALF_AN_HOUR,
        message=TEN_ATTRIBUTES, named=False, endpoint={"longest_delay": timedelta(minutes=4)},
    ),
    Scenario(
        name="custom policy and killer", bodies=("fails", "unwanted", "kills", "ok"),
        recoverability=ladder(1, 2, policy=own_policy), counted=False,
    ),
    Scenario(
        name="coroutines, header counter", bodies=("fails", "ok", "fails ok", "ok"), coroutine=True,
        endpoint={"concurrency": 3, "counter": "header"}, mapping={"concurrency": 1},
    ),
)  # fmt: skip
