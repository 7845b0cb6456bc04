"""The template deployed with all its features: the stack stands, reads the queue that was there, and the probe answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from deadlines import eventually
from infra.commands import RUNTIME
from infra.deploying import deploy
from infra.features import FEATURES, YOUR_BUCKET, asking_for
from recoverable._rate_limit.state import Open
from recoverable.circuits import DynamoDbCircuit
from recoverable.timeouts import DynamoDbStore, Timeouts
from servers.ministack import REGION, Cloud, running_cloud
from waiting.rows import scan

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

    def named(self, resource: str) -> str:
        """Return what a resource is called, by its logical id."""
        formation = self.cloud.client("cloudformation")
        found = formation.describe_stack_resource(StackName="full", LogicalResourceId=resource)
        return str(found["StackResourceDetail"]["PhysicalResourceId"])

    def invoked(self, function: str) -> Any:
        """Return the answer of a function, by its logical id; when it fails, the schedule's next invocation goes on."""
        client, name = self.cloud.client("lambda"), self.named(function)

        def answer() -> Any:
            said = client.invoke(FunctionName=name)
            body = json.loads(said["Payload"].read())
            return None if "FunctionError" in said else body

        return eventually(answer, f"{function} to end well")

    def trigger(self) -> str:
        """Return the state of the event source mapping."""
        mapping = self.cloud.client("lambda").get_event_source_mapping(UUID=self.named("OrdersFunctionOrders"))
        return str(mapping["State"])

    def limit_the_rate(self) -> None:
        """Do with the circuit what a function does that has seen nothing but failures."""
        client, now = self.cloud.client("dynamodb"), datetime.now(UTC)
        table, timeout = self.named("CircuitTable"), timedelta(seconds=5)
        circuit = DynamoDbCircuit(table, "orders", client=client, timeout=timeout)
        assert circuit.compare_and_set(circuit.read(), Open(now, now))

    def store(self) -> DynamoDbStore:
        """Return the stack's store of timeouts."""
        dynamodb, s3 = self.cloud.client("dynamodb"), self.cloud.client("s3")
        table, bucket = self.outputs["TimeoutsTableName"], self.outputs["TimeoutsBucketName"]
        return DynamoDbStore(table, bucket=bucket, client=dynamodb, s3=s3)


@pytest.fixture(scope="module")
def stack(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_cloud(tmp_path_factory.mktemp("cloud") / "log") as cloud:
        sqs = cloud.client("sqs")
        orders, errors = (sqs.create_queue(QueueName=name)["QueueUrl"] for name in ("mine", "mine-error"))
        place = {"LocationConstraint": REGION}
        cloud.client("s3").create_bucket(Bucket=name_in(YOUR_BUCKET), CreateBucketConfiguration=place)
        yours = {"OrdersQueueArn": arn_of(sqs, orders), "ErrorQueueArn": arn_of(sqs, errors)}
        wanted = {name: str(value) for name, value in {**asking_for(*FEATURES), **yours}.items()}
        yield Stack(cloud, orders, deploy(cloud, built, {**wanted, "PythonRuntime": RUNTIME}, name="full"))


def name_in(arn: str) -> str:
    """Return the name that an ARN ends with."""
    return arn.rpartition(":")[2]


def arn_of(sqs: Any, url: str) -> str:
    """Return a queue's ARN."""
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
    assert (name_in(policy["deadLetterTargetArn"]), int(policy["maxReceiveCount"])) == ("full-orders-dead", 50)


def test_the_probe_finds_the_trigger_running(stack: Stack) -> None:
    assert stack.invoked("ProbeFunction") == report("running")


def report(trigger: str) -> dict[str, object]:
    """Return the answer of a probe that attempted nothing, and left the trigger as it was."""
    return {"trigger": trigger, "probed": 0, "handled": 0, "enabled": False}


def test_a_rate_that_is_limited_pauses_the_trigger_until_an_order_succeeds(stack: Stack) -> None:
    stack.limit_the_rate()

    assert (stack.invoked("ProbeFunction"), stack.trigger()) == (report("paused"), "Disabled")

    # the endpoint gives its table a fifth of a second, so on a machine that others use it may take another probe
    eventually(lambda: probed_with_an_order(stack), "the probe to let the trigger run again")
    assert stack.trigger() == "Enabled"


def probed_with_an_order(stack: Stack) -> bool:
    """Probe with an order on the queue; True if the trigger runs again."""
    order = json.dumps({"id": "1001", "card": "good"})
    stack.cloud.client("sqs").send_message(QueueUrl=stack.queue_url, MessageBody=order)
    return bool(stack.invoked("ProbeFunction")["enabled"])


def test_the_dispatcher_finds_nothing_due(stack: Stack) -> None:
    nothing = {"dispatched": 0, "kept": 0, "postponed": 0, "behind": 0.0, "finished": True}

    assert stack.invoked("TimeoutsFunction") == nothing


def test_the_dispatcher_sends_what_waited_in_the_bucket(stack: Stack) -> None:
    store, now, dispatched = stack.store(), datetime.now(UTC), 0
    order = json.dumps({"id": "1002", "card": "good", "gift": "x" * 500_000})
    Timeouts(store, clock=lambda: now - timedelta(hours=1)).hold(
        {"MessageBody": order}, to=arn_of(stack.cloud.client("sqs"), stack.queue_url), at=now
    )

    def nothing_waits() -> bool:
        nonlocal dispatched
        dispatched += stack.invoked("TimeoutsFunction")["dispatched"]
        return not scan(store)

    eventually(nothing_waits, "the dispatcher to send it, though SQS may be too slow for one invocation")
    assert dispatched >= 1
