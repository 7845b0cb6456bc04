"""Test functions on Lambda Managed Instances: several processes share an environment, and none is killed at a time-out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from local.lambda_host.conftest import Start
from local.lambda_host.running_lambda import RunningLambda
from recoverable_local.lambda_host import Ended, InitFailed, Invoked, Returned, Started, TimedOut

pytestmark = pytest.mark.slow

ONE_AT_A_TIME = {"BatchSize": 1}


def managed(processes: int, **properties: Any) -> dict[str, Any]:
    """Return the properties of a function on managed instances."""
    config = {
        "Arn": {"Fn::GetAtt": ["Capacity", "CapacityProviderArn"]},
        "PerExecutionEnvironmentMaxConcurrency": processes,
    }
    return {"CapacityProviderConfig": config, **properties}


def told(running: RunningLambda, file: Path) -> dict[str, Any]:
    """Send a message that has the function say what it was given; return that."""
    running.send("tell", file=str(file))
    running.ended(1)
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def test_the_processes_of_an_environment_work_at_the_same_time(start: Start, tmp_path: Path) -> None:
    running, gate = start(event=ONE_AT_A_TIME, function=managed(2)), tmp_path / "gate"
    for _ in range(3):
        running.send("wait", gate=str(gate))
    running.until(lambda: len(running.all(Invoked)) == 3)
    pids = [entry.pid for entry in running.all(Invoked)]

    gate.touch()
    running.ended(3)
    assert sorted(pids.count(pid) for pid in set(pids)) == [1, 2]  # two in one environment, one in another
    assert running.most_at_a_time() == 3


def test_a_handler_goes_on_after_its_time_out_and_another_process_takes_the_next_message(
    start: Start, tmp_path: Path
) -> None:
    running, gate = start(event=ONE_AT_A_TIME, function=managed(2, Timeout=1)), tmp_path / "gate"
    running.send("wait", gate=str(gate))
    (late,) = running.first(Ended, 1)
    running.send("succeed")
    _, good = running.first(Ended, 2)

    assert isinstance(late.outcome, TimedOut)
    assert (good.outcome, good.pid) == (Returned('{"batchItemFailures": []}'), late.pid)
    gate.touch()


def test_the_function_learns_that_it_runs_there_and_logs_json(start: Start, tmp_path: Path) -> None:
    environment = told(start(function=managed(2)), tmp_path / "told")["environment"]

    assert {name: environment[name] for name in ("AWS_LAMBDA_MAX_CONCURRENCY", "AWS_LAMBDA_LOG_FORMAT")} == {
        "AWS_LAMBDA_MAX_CONCURRENCY": "2",
        "AWS_LAMBDA_LOG_FORMAT": "JSON",
    }


def test_a_module_that_cannot_be_loaded_fails_its_batches(start: Start) -> None:
    running = start(function=managed(2, Handler="broken.handler"))
    running.send("succeed")
    (ended,) = running.first(Ended, 1)

    assert isinstance(ended.outcome, InitFailed)
    assert running.all(Started) == []
