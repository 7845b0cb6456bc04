"""How many invocations run at a time, and what becomes of a batch for which there is no instance."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from local.lambda_host.conftest import Start
from recoverable_local.lambda_host import Ended, Expired, Invoked, Started, Throttled

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("event", "settings"),
    [({"ScalingConfig": {"MaximumConcurrency": 2}}, {}), ({}, {"concurrency": 2})],
    ids=["of the template", "of the host"],
)
def test_no_more_invocations_run_at_a_time_than_the_maximum_concurrency(
    start: Start, tmp_path: Path, event: dict[str, Any], settings: dict[str, Any]
) -> None:
    world = start(event={"BatchSize": 1, **event}, settings=settings)
    gate = tmp_path / "gate"
    for _ in range(5):
        world.send("wait", gate=str(gate))
    world.until(lambda: len(world.all(Invoked)) >= 2)

    assert world.host.queue("orders").depth().visible == 3
    gate.touch()
    world.ended(5)
    assert world.most_at_a_time() == 2


def test_a_batch_without_a_free_instance_waits_for_one(start: Start, tmp_path: Path) -> None:
    world = start(event={"BatchSize": 1}, function={"ReservedConcurrentExecutions": 1})
    gate = tmp_path / "gate"
    first, second = world.send("wait", gate=str(gate)), world.send("wait", gate=str(gate))
    world.until(lambda: world.all(Throttled))
    gate.touch()

    world.ended(2)

    assert [entry.message_ids for entry in world.all(Throttled)] in ([(first,)], [(second,)])
    assert world.delivered() == [("wait", 1), ("wait", 1)]
    assert len(world.all(Started)) == 1


def test_a_throttled_batch_costs_a_receive_for_each_visibility_timeout(start: Start, tmp_path: Path) -> None:
    world = start(
        event={"BatchSize": 1},
        function={"ReservedConcurrentExecutions": 1},
        settings={"visibility_timeout": timedelta(seconds=1), "concurrency": 2},
    )
    gate = tmp_path / "gate"
    world.send("wait", gate=str(gate))
    world.until(lambda: world.all(Invoked))
    late = world.send("succeed")
    world.until(lambda: any(late in entry.message_ids for entry in world.all(Expired)))
    gate.touch()

    world.until(lambda: any(late in entry.completed for entry in world.all(Ended)))

    receives = [count for deed, count in world.delivered() if deed == "succeed"]
    assert receives[0] >= 2
