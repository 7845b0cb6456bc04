"""What the deploying page has its reader type is typed here: in a shell, with the real `sam`, against a cloud on loopback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deadlines import DEADLINE, eventually
from docs.pages import ROOT, blocks, commands
from infra.commands import RUNTIME, environment
from infra.deploying import waiting
from servers.ministack import Cloud, running_cloud

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("deploying page")]

CONSOLE = blocks("deploy/aws.md", "console")
(VALIDATE, DEPLOY, SEND, LOOK, SEND_BACK, ALARMS, RING, METRICS, LIMIT, PAUSE, TIMEOUTS, LARGE_TIMEOUTS) = range(12)
YOUR_QUEUE, SET_ON_YOUR_QUEUE, DELETE, DELETE_QUEUES = range(12, 16)
DEFAULTS = "\n" * 40
YES = "y\n" * 5


class Shell:
    """The reader's shell, in a copy of the repository; variables last from block to block.

    Args:
        folder: where the copy is made.
        cloud: what `sam` and `aws` reach.
    """

    def __init__(self, folder: Path, cloud: Cloud) -> None:
        self._folder, self._state = folder / "shop", folder / "variables"
        for name in ("adapters", "functions", "infra/operate"):
            shutil.copytree(ROOT / name, self._folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "template.yaml", self._folder)
        self._state.touch()
        keys = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "NO_PROXY": "127.0.0.1,localhost"}
        path = f"{an_aws(folder)}{os.pathsep}{environment()['PATH']}"
        url = f"http://127.0.0.1:{cloud.port}"
        self._variables = {**environment(), **keys, "AWS_ENDPOINT_URL": url, "PATH": path}

    def types(self, block: int, *, answers: str = "", instead: tuple[str, str] = ("", "")) -> str:
        """Type a block of the page; what it wrote.

        Args:
            block: its number.
            answers: what to answer to prompts.
            instead: what to write for what, where the page tells its reader to.
        """
        script = "\n".join(commands(CONSOLE[block])).replace(*instead)
        lasting = (
            f"set -euo pipefail; . {self._state}\n{script}\ndeclare -p | grep -E '^declare -- [A-Z]' > {self._state}"
        )
        done = subprocess.run(
            ["bash", "-c", lasting],
            input=answers,
            cwd=self._folder,
            env=self._variables,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def an_aws(folder: Path) -> Path:
    """A folder with an `aws` command."""
    command = folder / "bin" / "aws"
    command.parent.mkdir()
    script = Path(__file__).with_name("aws_command.py")
    command.write_text(f'#!/bin/sh\nexec {sys.executable} {script} "$@"\n')
    command.chmod(0o755)
    return command.parent


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    with running_cloud(tmp_path_factory.mktemp("cloud") / "log") as cloud:
        yield cloud


@pytest.fixture(scope="module")
def shell(cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A shell whose reader has built the layer and knows how large it is."""
    shell = Shell(tmp_path_factory.mktemp("reader"), cloud)
    shell.types(
        VALIDATE, instead=("sam validate --lint\nsam build", f"sam build --parameter-overrides PythonRuntime={RUNTIME}")
    )
    return shell


def held(cloud: Cloud, queue: str) -> int:
    """The messages in a queue of this name."""
    sqs = cloud.client("sqs")
    return waiting(sqs, sqs.get_queue_url(QueueName=queue)["QueueUrl"])


def start_polling(cloud: Cloud) -> None:
    """Set the mapping's concurrency as a number: this cloud keeps the template's text, and its poller stumbles over it."""
    functions = cloud.client("lambda")
    (mapping,) = functions.list_event_source_mappings()["EventSourceMappings"]
    functions.update_event_source_mapping(UUID=mapping["UUID"], ScalingConfig={"MaximumConcurrency": 2})


def test_the_template_is_valid(shell: Shell) -> None:
    validate = commands(CONSOLE[VALIDATE])

    assert validate == ["sam validate --lint", "sam build"]
    assert "is a valid SAM Template" in shell.types(VALIDATE, instead=("sam build", ""))


def test_from_a_guided_deployment_to_nothing(shell: Shell, cloud: Cloud) -> None:
    """One story, for each block needs what the ones before it made."""
    said = shell.types(DEPLOY, answers=f"shop{DEFAULTS}")
    assert "Successfully created/updated stack - shop" in said
    start_polling(cloud)

    shell.types(SEND)
    eventually(lambda: held(cloud, "shop-orders-error") >= 1, "the declined order in the error queue")
    eventually(lambda: held(cloud, "shop-orders") == 0, "the orders queue to be empty")
    seen = shell.types(LOOK)
    assert "Moving message" in seen  # the log
    assert all(word in seen for word in ("shop.CardDeclined", "NServiceBus.ExceptionInfo.ExceptionType"))
    assert '"Body": "{\\"order\\": \\"1001\\"}"' in seen  # what the placed order sent

    shell.types(ALARMS)
    shell.types(RING)
    (rung,) = cloud.client("cloudwatch").describe_alarms(StateValue="ALARM")["MetricAlarms"]
    assert [action.rsplit(":", 1)[1] for action in rung["AlarmActions"]] == ["shop-alarms"]

    shell.types(PAUSE)
    assert "probe.handler" in handlers(cloud)

    made, brought = commands(CONSOLE[LARGE_TIMEOUTS])
    assert brought.startswith(made)
    shell.types(LARGE_TIMEOUTS, instead=(brought, ""))
    assert "timeouts.handler" in handlers(cloud)

    shell.types(DELETE, answers=YES)
    assert {url.rsplit("/", 1)[1] for url in queues(cloud)} == {
        "shop-orders",
        "shop-orders-error",
        "shop-orders-placed",
    }
    shell.types(DELETE_QUEUES)
    assert queues(cloud) == []


def handlers(cloud: Cloud) -> set[str]:
    """The handlers of all functions."""
    return {function["Handler"] for function in cloud.client("lambda").list_functions()["Functions"]}


def queues(cloud: Cloud) -> list[str]:
    """The URLs of all queues."""
    return list(cloud.client("sqs").list_queues().get("QueueUrls", []))


def test_a_queue_that_was_there_before_is_read_and_set_to_what_the_function_reckons_with(
    shell: Shell, cloud: Cloud
) -> None:
    sqs: Any = cloud.client("sqs")
    url = sqs.create_queue(QueueName="my-queue")["QueueUrl"]

    shell.types(YOUR_QUEUE, answers=f"mine{DEFAULTS}")
    shell.types(SET_ON_YOUR_QUEUE)

    (mapping,) = cloud.client("lambda").list_event_source_mappings()["EventSourceMappings"]
    said = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    policy = json.loads(said["RedrivePolicy"])
    assert mapping["EventSourceArn"] == said["QueueArn"]
    assert (said["VisibilityTimeout"], int(policy["maxReceiveCount"])) == ("240", 50)
    assert policy["deadLetterTargetArn"].rsplit(":", 1)[1] == "mine-orders-error"
    assert sorted(queue.rsplit("/", 1)[1] for queue in queues(cloud)) == [
        "mine-orders-error", "mine-orders-placed", "my-queue",
    ]  # fmt: skip
