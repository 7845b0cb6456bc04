"""Test functions that run inside the host's own process, for a debugger."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from local.lambda_host.conftest import Start
from local.lambda_host.test_host_event import told_by
from recoverable_local.lambda_host import Died, InitFailed, Raised
from recoverable_local.lambda_host.journal import Ended

pytestmark = pytest.mark.slow

HERE = {"in_process": True}


def test_the_handler_runs_in_this_process_with_its_own_environment(start: Start, tmp_path: Path) -> None:
    environment = dict(os.environ)
    running = start(settings=HERE)

    told = told_by(running, tmp_path)

    assert running.all(Ended)[0].pid == os.getpid()
    assert told["environment"]["AWS_LAMBDA_FUNCTION_NAME"] == "Shop"
    assert dict(os.environ) == environment


def test_its_answer_decides_on_the_messages(start: Start) -> None:
    running = start(settings=HERE)
    order = running.send("fail")

    first, second = running.ended(2)

    assert (first.failed, second.completed) == ((order,), (order,))


@pytest.mark.parametrize(("deed", "outcome"), [("raise", Raised("ValueError", "no such card")), ("exit", Died(3))])
def test_an_exception_and_an_exit_end_the_invocation_and_not_the_host(
    start: Start, deed: str, outcome: Raised | Died
) -> None:
    running = start(settings=HERE)
    running.send(deed)

    first, second = running.ended(2)

    assert (first.outcome, second.failed) == (outcome, ())


def test_a_module_that_cannot_be_loaded_is_reported(start: Start) -> None:
    running = start(settings=HERE, function={"Handler": "broken.handler"})
    running.send("succeed")

    (entry,) = running.ended(1)

    assert entry.outcome == InitFailed("RuntimeError", "no settings")


def test_the_import_path_is_as_before_afterwards(start: Start) -> None:
    path = list(sys.path)
    running = start(settings=HERE)
    running.send("succeed")
    running.ended(1)

    assert sys.path == path
