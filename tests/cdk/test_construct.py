"""What the CDK construct synthesizes is right and runs: as it is kept here, or with SYNTHESIZED=folder as `make cdk` has just made it."""

from __future__ import annotations

import json
import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from local.lambda_host.running_lambda import RunningLambda
from recoverable_local.lambda_host import Entry, LocalAws
from recoverable_operate._cli import main

HERE = Path(__file__).parent
KEPT = HERE / "synthesized"
SYNTHESIZED = Path(os.environ.get("SYNTHESIZED", KEPT))
STACKS = ("Everything", "Fifo", "Standard", "Shop")
"""The stacks of synthesize.py, and that of the page docs/deploy/aws.md."""


def template(name: str, folder: Path = SYNTHESIZED) -> Path:
    return folder / f"{name}.template.json"


@pytest.mark.parametrize("name", STACKS)
def test_each_rule_is_checked_and_nothing_is_found(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (main(["check", str(template(name))]), capsys.readouterr().out.splitlines()[-2]) == (
        0,
        "Nothing found in what was checked.",  # the code is an asset that is not kept with the template
    )


@pytest.mark.skipif(SYNTHESIZED == KEPT, reason="nothing was synthesized; `make cdk` does")
@pytest.mark.parametrize("name", STACKS)
def test_what_is_kept_is_what_is_synthesized(name: str) -> None:
    assert json.loads(template(name).read_text()) == json.loads(template(name, KEPT).read_text())


def properties(name: str, kind: str) -> list[dict[str, object]]:
    resources = json.loads(template(name).read_text())["Resources"].values()
    return [each["Properties"] for each in resources if each["Type"] == kind]


def test_a_queue_has_its_numbers_from_the_retries_and_the_time_out() -> None:
    [queue] = [each for each in properties("Everything", "AWS::SQS::Queue") if "RedrivePolicy" in each]

    redrive = queue["RedrivePolicy"]
    assert isinstance(redrive, dict)
    assert (queue["VisibilityTimeout"], redrive["maxReceiveCount"]) == (6 * 10 + 5, 60 + 6)


def test_the_function_has_the_variables_that_the_endpoint_reads() -> None:
    [function] = properties("Everything", "AWS::Lambda::Function")

    environment = function["Environment"]
    assert isinstance(environment, dict)
    variables = environment["Variables"]
    assert (variables["RECOVERABLE_IMMEDIATE_RETRIES"], variables["RECOVERABLE_DELAYED_RETRIES"]) == ("60", "2")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "group"), [("Standard", None)] if SYNTHESIZED == KEPT else [("Standard", None), ("Fifo", "a")]
)
def test_a_stack_runs_on_the_local_host_as_it_is_synthesized(tmp_path: Path, name: str, group: str | None) -> None:
    """No retries, so that the order that fails need not be waited for."""
    found = json.loads(template(name).read_text())
    [asset] = [each["Metadata"]["aws:asset:path"] for each in found["Resources"].values() if "aws:asset:path" in each.get("Metadata", {})]  # fmt: skip
    shutil.copytree(HERE / "shop", tmp_path / asset)
    path = Path(shutil.copy(template(name), tmp_path))
    none = {"RECOVERABLE_IMMEDIATE_RETRIES": "0", "RECOVERABLE_DELAYED_RETRIES": "0"}
    entries: list[Entry] = []

    with LocalAws.from_template(path, environment=none, observe=entries.append) as host:
        running = RunningLambda(host, entries)
        orders, errors = sorted(host.queues, key=lambda queue: "error" in queue.name.lower())
        for card in ("good", "declined"):
            orders.send({"card": card}, group_id=group, deduplication_id=card if group else None)
        running.host.run_until(
            lambda: orders.depth().total == 0 and errors.depth().total == 1, deadline=timedelta(seconds=60)
        )

        assert [message.json() for message in errors.messages()] == [{"card": "declined"}]
