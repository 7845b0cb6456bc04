"""The template deployed with all its features: the stack stands, reads the queue that was there, and the probe answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infra.cloud import Cloud, deploy, running_cloud
from infra.commands import RUNTIME
from infra.features import FEATURES, asking_for

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sam build")]


@dataclass(frozen=True)
class Stack:
    """The deployed stack.

    Args:
        cloud: where it stands.
        queue_url: the queue that was there before.
        outputs: the stack's outputs.
    """

    cloud: Cloud
    queue_url: str
    outputs: dict[str, str]

    def invoked(self, function: str) -> Any:
        """What a function answers, by its logical id."""
        formation = self.cloud.client("cloudformation")
        found = formation.describe_stack_resource(StackName="full", LogicalResourceId=function)
        name = found["StackResourceDetail"]["PhysicalResourceId"]
        return json.loads(self.cloud.client("lambda").invoke(FunctionName=name)["Payload"].read())


@pytest.fixture(scope="module")
def stack(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_cloud(tmp_path_factory.mktemp("cloud") / "log") as cloud:
        sqs = cloud.client("sqs")
        orders, errors = (sqs.create_queue(QueueName=name)["QueueUrl"] for name in ("mine", "mine-error"))
        yours = {"OrdersQueueArn": arn_of(sqs, orders), "ErrorQueueArn": arn_of(sqs, errors)}
        wanted = {name: str(value) for name, value in {**asking_for(*FEATURES), **yours}.items()}
        yield Stack(cloud, orders, deploy(cloud, built, {**wanted, "PythonRuntime": RUNTIME}, name="full"))


def arn_of(sqs: Any, url: str) -> str:
    """A queue's ARN."""
    said = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    return str(said["Attributes"]["QueueArn"])


def test_the_outputs_name_the_queues_that_were_there(stack: Stack) -> None:
    assert (stack.outputs["OrdersQueueName"], stack.outputs["ErrorQueueName"]) == ("mine", "mine-error")


def test_what_the_output_says_can_be_set_on_the_queue(stack: Stack) -> None:
    sqs, wanted = stack.cloud.client("sqs"), json.loads(stack.outputs["SetOnYourQueue"])

    sqs.set_queue_attributes(QueueUrl=stack.queue_url, Attributes=wanted)

    said = sqs.get_queue_attributes(QueueUrl=stack.queue_url, AttributeNames=["All"])["Attributes"]
    policy = json.loads(said["RedrivePolicy"])
    assert said["VisibilityTimeout"] == "240"
    assert (policy["deadLetterTargetArn"].rpartition(":")[2], int(policy["maxReceiveCount"])) == (
        "mine-error",
        50,
    )


def test_the_probe_finds_the_trigger_running(stack: Stack) -> None:
    assert stack.invoked("ProbeFunction") == {"trigger": "running", "probed": False}


def test_the_dispatcher_finds_nothing_due(stack: Stack) -> None:
    nothing = {"dispatched": 0, "kept": 0, "postponed": 0, "behind": 0.0, "finished": True}

    assert stack.invoked("TimeoutsFunction") == nothing
