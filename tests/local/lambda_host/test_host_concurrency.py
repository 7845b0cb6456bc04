"""Test how many invocations run at a time, and what happens to a batch without a free instance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from local.lambda_host.conftest import Start
from recoverable_local.lambda_host import Invoked, Started, Throttled

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("event", "settings"),
    [({"ScalingConfig": {"MaximumConcurrency": 2}}, {}), ({}, {"concurrency": 2})],
    ids=["of the template", "of the host"],
)
def test_no_more_invocations_run_at_a_time_than_the_maximum_concurrency(
    start: Start, tmp_path: Path, event: dict[str, Any], settings: dict[str, Any]
) -> None:
    running = start(event={"BatchSize": 1, **event}, settings=settings)
    gate = tmp_path / "gate"
    for _ in range(5):
        running.send("wait", gate=str(gate))
    running.until(lambda: len(running.all(Invoked)) >= 2)

    assert running.host.queue("orders").depth().visible == 3
    gate.touch()
    running.ended(5)
    assert running.most_at_a_time() == 2


def test_a_batch_without_a_free_instance_waits_for_one(start: Start, tmp_path: Path) -> None:
    running = start(event={"BatchSize": 1}, function={"ReservedConcurrentExecutions": 1})
    gate = tmp_path / "gate"
    first, second = running.send("wait", gate=str(gate)), running.send("wait", gate=str(gate))
    running.until(lambda: running.all(Throttled))
    gate.touch()

    running.ended(2)

    assert [entry.message_ids for entry in running.all(Throttled)] in ([(first,)], [(second,)])
    assert running.delivered() == [("wait", 1), ("wait", 1)]
    assert len(running.all(Started)) == 1
