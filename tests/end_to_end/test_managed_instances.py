"""Lambda Managed Instances with AWS's own runtime client in its multi-concurrent mode: forked processes, none of which is killed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from deadlines import WHOLE_RUN
from local.lambda_host.running_lambda import RunningLambda
from local.lambda_host.templates import document, written
from recoverable_local.lambda_host import Ended, Entry, LocalAws, TimedOut

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("end_to_end")]

TIMEOUT, HIDDEN = 5, 9
"""Seconds of an invocation, and of the queue's visibility timeout."""


@contextmanager
def running(folder: Path) -> Iterator[RunningLambda]:
    """The function at work, in environments of three processes."""
    function: dict[str, Any] = {
        "CodeUri": str(Path(__file__).parent / "functions"), "Handler": "hanging.handler", "Timeout": TIMEOUT, "RecursiveLoop": "Allow",
        "CapacityProviderConfig": {"Arn": "arn:aws:lambda:us-east-1:1:capacity-provider:c", "PerExecutionEnvironmentMaxConcurrency": 3},
        "Environment": {"Variables": {"GATE": str(folder / "gate"), "RECOVERABLE_ERROR_QUEUE": {"Ref": "Errors"}}},
    }  # fmt: skip
    event = {"BatchSize": 3, "MaximumBatchingWindowInSeconds": 2}
    parts = document(function=function, event=event, queue={"VisibilityTimeout": HIDDEN})
    seen = list[Entry]()
    with LocalAws.from_template(written(folder, parts), observe=seen.append) as host:
        yield RunningLambda(host, seen)


def runs(world: RunningLambda) -> list[str]:
    """Return what the handlers were called with, in order."""
    return [line.line.split()[1] for line in world.host.function_log if line.line.startswith("RUN ")]


def processes(world: RunningLambda) -> set[str]:
    """Return the ids of the processes in which handlers ran."""
    return {line.line.split()[3] for line in world.host.function_log if line.line.startswith("RUN ")}


def errors_logged(world: RunningLambda) -> list[str]:
    """Return the messages of the lines of level ERROR; all lines but those that a handler prints are JSON."""
    lines = [json.loads(line.line) for line in world.host.function_log if line.line.startswith("{")]
    return [line["message"] for line in lines if line["level"] == "ERROR"]


def test_a_handler_stuck_in_c_is_not_run_twice_at_once_and_its_neighbours_are_settled(tmp_path: Path) -> None:
    with running(tmp_path) as world:
        for body in ("before", "hangs", "after"):
            world.host.queue("orders").send(body)
        (first,) = world.first(Ended, 1)
        long_after = (
            monotonic() + HIDDEN - TIMEOUT
        )  # when its own visibility timeout is over, which began before the invocation
        world.host.run_until(
            lambda: world.host.queue("orders").depth().total == 1 and monotonic() > long_after, deadline=WHOLE_RUN
        )
        stuck = Counter(runs(world))
        Path(tmp_path / "gate").touch()
        world.host.run_until(lambda: world.host.queue("orders").depth().total == 0, deadline=WHOLE_RUN)
        given_up = world.host.queue("errors").depth().total

    assert isinstance(first.outcome, TimedOut)
    assert stuck == {"before": 1, "hangs": 1, "after": 1}
    assert (Counter(runs(world))["hangs"], given_up) == (2, 0)
    assert len(processes(world)) >= 2
    (said,) = [text for text in errors_logged(world) if "cannot be stopped" in text]
    assert said.startswith("A handler for messages from")
